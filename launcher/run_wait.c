/* Waiting for the helper that is about to complete a RUN.
 *
 * Its hidden sibling .NAME.PID-N is locked while the helper works; PID is the program's. Only
 * a program that has ended is waited for: one that still runs may do so for days. */
#include "launcher/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "launcher/base.h"

enum {
	STEP = 5,     /* ms */
	MOST = 30000, /* a helper that takes longer has a reason that waiting does not help */
};

static bool has_ended(pid_t pid)
{
	char path[32], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	ssize_t size = read(fd, text, sizeof(text) - 1);
	if (size <= 0)
		return true;
	text[size] = '\0';
	const char *state = strrchr(text, ')');
	return state && (strncmp(state, ") Z", 3) == 0 || strncmp(state, ") X", 3) == 0);
}

static void wait_for_lock(int parent, const char *name)
{
	cleanup_fd int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int waited = 0; fd >= 0 && waited < MOST; waited += STEP) {
		if (flock(fd, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			return;
		poll(NULL, 0, STEP);
	}
}

static void wait_in(DIR *stream, const char *prefix)
{
	struct dirent *entry;
	size_t length = strlen(prefix);

	while ((entry = readdir(stream)) != NULL) {
		char *end;
		if (strncmp(entry->d_name, prefix, length) != 0)
			continue;
		long pid = strtol(entry->d_name + length, &end, 10);
		if (end != entry->d_name + length && *end == '-' && has_ended((pid_t)pid))
			wait_for_lock(dirfd(stream), entry->d_name);
	}
}

void run_wait(const char *path)
{
	cleanup_free char *copy = xstrdup(path);

	for (size_t end = strlen(copy); end > 1 && copy[end - 1] == '/'; end--)
		copy[end - 1] = '\0';
	char *slash = strrchr(copy, '/');
	const char *name = slash ? slash + 1 : copy;
	cleanup_free char *prefix = xasprintf(RUN_TEMPORARY, name);
	if (slash)
		*slash = '\0';
	DIR *stream = opendir(!slash ? "." : *copy ? copy : "/");
	if (!stream)
		return;
	wait_in(stream, prefix);
	closedir(stream);
}
