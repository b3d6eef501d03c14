/* Watching a program from outside through /proc and a pidfd. */
#include "launcher/watch.h"

#include "launcher/base.h"
#include "launcher/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	/* Each look takes the map lock for reading, some 10 to 100 µs: after a start-up
	 * that is looked at closely, five a second. */
	FIRST_PAUSE = 2,
	LAST_PAUSE = 200,
	MAPS_LIMIT = 256 << 20,
	REAP_WAIT = 20, /* ms that a zombie is waited for */
};

/* linux/pidfd.h, from 6.15 on; older kernels answer ENOTTY. */
struct pidfd_exit {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define PIDFD_EXIT_WANTED (UINT64_C(1) << 3)
#define PIDFD_EXIT_GET	  _IOWR(0xFF, 11, struct pidfd_exit)

int watch_init(struct watch *watch, pid_t pid, int directory, struct run_info *info)
{
	char path[32];

	*watch = (struct watch){.pid = pid,
		.stat = -1,
		.directory = directory,
		.info = info,
		.pause = FIRST_PAUSE};
	watch->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (watch->pidfd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	watch->stat = open(path, O_RDONLY | O_CLOEXEC);
	run_pid_add(info, pid);
	info->pid = pid;
	return 0;
}

void watch_release(struct watch *watch)
{
	if (watch->pidfd >= 0)
		close(watch->pidfd);
	if (watch->stat >= 0)
		close(watch->stat);
	free(watch->maps);
	free(watch->start_maps);
	*watch = (struct watch){.pidfd = -1, .stat = -1};
}

static void look_at_maps(struct watch *watch)
{
	char path[32];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)watch->pid);
	char *maps = run_read_file(AT_FDCWD, path, MAPS_LIMIT, &size);
	/* A process that is ending has no memory left to show: keep the look before. */
	if (!maps || size == 0) {
		free(maps);
		return;
	}
	free(watch->maps);
	watch->maps = maps;
	watch->maps_size = size;
	watch->maps_time = run_clock_now().monotonic;
}

/* Adds the children of info->pids from `index` on; the list grows while it is walked. */
static void look_at_children(struct watch *watch)
{
	for (size_t i = 0; i < watch->info->pid_count; i++) {
		char path[48];
		size_t size;
		int pid = (int)watch->info->pids[i];
		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
		cleanup_free char *text =
			run_read_file(AT_FDCWD, path, MAPS_LIMIT, &size);
		for (char *at = text, *end; at && *at; at = end) {
			long child = strtol(at, &end, 10);
			if (end == at)
				break;
			run_pid_add(watch->info, (pid_t)child);
			end += *end == ' ';
		}
	}
}

void watch_look(struct watch *watch)
{
	look_at_maps(watch);
	look_at_children(watch);
}

void watch_executed(struct watch *watch)
{
	watch->began = run_clock_now().monotonic;
	look_at_maps(watch);
	if (run_note_process(watch->info, watch->pid) < 0 && errno != ESRCH)
		strv_add(&watch->info->notes,
			xasprintf("auxv and personality could not be read: %s",
				strerror(errno)));
	watch->start_maps = steal_pointer(&watch->maps);
	watch->start_size = watch->maps_size;
	watch->start_time = watch->maps_time;
}

bool watch_wait(struct watch *watch, int wake)
{
	for (;;) {
		struct pollfd polled[] = {
			{.fd = watch->pidfd, .events = POLLIN},
			{.fd = wake, .events = POLLIN},
		};
		int ready = poll(polled, 2, (int)watch->pause);
		if (ready < 0 && errno != EINTR)
			return true;
		if (ready > 0 && polled[0].revents)
			return true;
		if (ready > 0 && polled[1].revents)
			return false;
		if (ready != 0)
			continue;
		watch_look(watch);
		watch->pause =
			watch->pause * 2 > LAST_PAUSE ? LAST_PAUSE : watch->pause * 2;
	}
}

/* A supervisor that held the program has a better one. */
static bool has_file(const struct watch *watch, const char *name)
{
	return faccessat(watch->directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool write_file(
	const struct watch *watch, const char *name, const char *text, size_t size)
{
	if (run_write_file(watch->directory, name, text, size) == 0)
		return true;
	strv_add(&watch->info->notes,
		xasprintf("%s could not be written: %s", name, strerror(errno)));
	return false;
}

static void replace(char **text, char *by)
{
	free(*text);
	*text = by;
}

void watch_ended(struct watch *watch)
{
	uint64_t now = run_clock_now().monotonic;
	const char *last = watch->maps ? watch->maps : watch->start_maps;
	size_t size = watch->maps ? watch->maps_size : watch->start_size;
	uint64_t time = watch->maps ? watch->maps_time : watch->start_time;

	if (watch->start_maps && !has_file(watch, "maps.start") &&
		write_file(watch, "maps.start", watch->start_maps, watch->start_size))
		replace(&watch->info->maps_start,
			xasprintf("read %" PRIu64
				  " µs after the exec, the program running on",
				(watch->start_time - watch->began) / 1000));
	if (last && !has_file(watch, "maps.exit") &&
		write_file(watch, "maps.exit", last, size))
		replace(&watch->info->maps_exit,
			xasprintf("the last look at the running program, %" PRIu64
				  " µs before its end was seen; it was not stopped",
				(now - time) / 1000));
}

/* proc(5): the command name stands in parentheses and may hold anything, so fields are
 * counted from the last one; field 3 is the state and 52, the last, the exit code. */
static bool zombie_status(const struct watch *watch, int *status)
{
	char text[2048];
	ssize_t size = pread(watch->stat, text, sizeof(text) - 1, 0);

	if (size <= 0)
		return false;
	text[size] = '\0';
	char *state = strrchr(text, ')');
	if (!state || (strncmp(state, ") Z", 3) != 0 && strncmp(state, ") X", 3) != 0))
		return false;
	const char *last = strrchr(state, ' ');
	*status = atoi(last + 1);
	return true;
}

static bool reaped_status(const struct watch *watch, int *status)
{
	struct pidfd_exit exited = {.mask = PIDFD_EXIT_WANTED};

	if (ioctl(watch->pidfd, PIDFD_EXIT_GET, &exited) < 0 ||
		!(exited.mask & PIDFD_EXIT_WANTED))
		return false;
	*status = exited.exit_code;
	return true;
}

void watch_note_end(struct watch *watch)
{
	int status;

	for (int i = 0; i < REAP_WAIT; i++) {
		if (zombie_status(watch, &status) || reaped_status(watch, &status)) {
			run_note_end(watch->info, status);
			return;
		}
		if (pread(watch->stat, &(char){0}, 1, 0) < 0 && errno == ESRCH && i > 1)
			break;
		poll(NULL, 0, 1);
	}
	free(watch->info->end_unknown);
	watch->info->end_unknown = xstrdup(
		"its parent had taken the exit status before it could be read, and this "
		"kernel does not tell it later (6.15 and newer do)");
}
