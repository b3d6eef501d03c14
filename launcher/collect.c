/* Gathering what the runtimes of a run wrote about their code, so that nothing of it
 * stays in /tmp or in the working directory.
 *
 *   /tmp/perf-PID.map                              -> perf-PID.map
 *   /tmp/jit-PID.dump, ./jit-PID.dump              -> jit-PID.dump
 *   ./jit-PID.elf                                  -> code.elf, code-PID.elf for other
 * pids
 *   ./jit-PID.patches                              -> patches.log, patches-PID.log
 *   ./isolate-0x…-PID-v8.log (node's --perf-prof)  -> v8-PID.log */
#include "launcher/run.h"

#include "launcher/base.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHUNK = 1 << 30,
};

/* Where such files lie; -1 for what is not there. */
enum place { PLACE_WORKING, PLACE_TMP, PLACES };

struct places {
	const char *paths[PLACES];
	int descriptors[PLACES];
};

struct source {
	enum place place;
	const char *pattern;	/* %d is the pid, '*' stands for anything */
	const char *kept;	/* name in the RUN for the main process; %d is its pid */
	const char *kept_other; /* for the other processes of the run */
};

static const struct source sources[] = {
	{PLACE_TMP, "perf-%d.map", "perf-%d.map", "perf-%d.map"},
	{PLACE_WORKING, "jit-%d.dump", "jit-%d.dump", "jit-%d.dump"},
	{PLACE_TMP, "jit-%d.dump", "jit-%d.dump", "jit-%d.dump"},
	{PLACE_WORKING, "jit-%d.elf", "code.elf", "code-%d.elf"},
	{PLACE_TMP, "jit-%d.elf", "code.elf", "code-%d.elf"},
	{PLACE_WORKING, "jit-%d.patches", "patches.log", "patches-%d.log"},
	{PLACE_TMP, "jit-%d.patches", "patches.log", "patches-%d.log"},
};

/* node's --perf-prof makes it beside the jitdump. */
static const struct source beside_dump = {
	PLACE_WORKING, "isolate-0x*-%d-v8.log", "v8-%d.log", "v8-%d.log"};

static int copy_bytes(int from, int to)
{
	ssize_t put;

	while ((put = sendfile(to, from, NULL, CHUNK)) > 0)
		;
	return put < 0 ? -1 : 0;
}

/* Across file systems. What was copied in part stays, because a part is better than none.
 */
static int copy_file(int directory, const char *name, int run, const char *kept)
{
	cleanup_fd int from = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_fd int to =
		from < 0 ? -1
			 : openat(run, kept, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				   0666);

	if (from < 0 || to < 0 || copy_bytes(from, to) < 0)
		return -1;
	return unlinkat(directory, name, 0);
}

/* Anybody may put a file of that name into /tmp: only a plain file of our own user that
 * is no older than the run is this run's. */
static bool is_ours(int directory, const char *name, const struct run_info *info)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       (uint64_t)status.st_mtim.tv_sec + 1 >= info->start.realtime / 1000000000u;
}

static void move_file(int run, struct run_info *info, int directory, const char *where,
	const char *name, const char *kept)
{
	if (!is_ours(directory, name, info))
		return;
	if (renameat2(directory, name, run, kept, RENAME_NOREPLACE) == 0)
		return;
	/* The first of two files of one name is the better one: see the order above. */
	if (errno != EEXIST && copy_file(directory, name, run, kept) == 0)
		return;
	strv_add(
		&info->lost_code, xasprintf("'%s/%s' could not be moved into the run: %s",
					  where, name, strerror(errno)));
}

/* Expands the %d of our own tables. */
static char *with_pid(const char *format, pid_t pid)
{
	const char *hole = strstr(format, "%d");

	if (!hole)
		return xstrdup(format);
	return xasprintf("%.*s%d%s", (int)(hole - format), format, (int)pid, hole + 2);
}

static void collect_matching(int run, struct run_info *info, int directory,
	const char *where, const char *pattern, const char *kept)
{
	DIR *stream = run_entries(directory);
	struct dirent *entry;

	if (!stream)
		return;
	while ((entry = readdir(stream)) != NULL) {
		if (fnmatch(pattern, entry->d_name, 0) == 0)
			move_file(run, info, directory, where, entry->d_name,
				strchr(kept, '*') ? entry->d_name : kept);
	}
	closedir(stream);
}

static void collect_source(int run, struct run_info *info, const struct source *source,
	const struct places *places)
{
	int directory = places->descriptors[source->place];
	const char *where = places->paths[source->place];

	if (directory < 0)
		return;
	for (size_t i = 0; i < info->pid_count; i++) {
		pid_t pid = info->pids[i];
		cleanup_free char *pattern = with_pid(source->pattern, pid);
		cleanup_free char *kept = with_pid(
			pid == info->pid ? source->kept : source->kept_other, pid);
		if (strchr(pattern, '*'))
			collect_matching(run, info, directory, where, pattern, kept);
		else
			move_file(run, info, directory, where, pattern, kept);
	}
}

/* A rule's files keep their names. */
static void collect_pattern(int directory, struct run_info *info,
	const struct places *places, const char *pattern)
{
	const char *hole = strstr(pattern, "%p");

	if (!hole)
		return;
	cleanup_free char *format =
		xasprintf("%.*s%%d%s", (int)(hole - pattern), pattern, hole + 2);
	struct source source = {PLACE_WORKING, format, format, format};
	collect_source(directory, info, &source, places);
	source.place = PLACE_TMP;
	collect_source(directory, info, &source, places);
}

static bool has_dump(int run, const struct run_info *info)
{
	for (size_t i = 0; i < info->pid_count; i++) {
		cleanup_free char *name = with_pid("jit-%d.dump", info->pids[i]);
		if (faccessat(run, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	}
	return false;
}

void run_collect(int directory, struct run_info *info, const char *working,
	const struct strv *patterns)
{
	struct places places = {
		.paths = {[PLACE_WORKING] = working, [PLACE_TMP] = "/tmp"}};

	for (int i = 0; i < PLACES; i++)
		places.descriptors[i] =
			places.paths[i] ? open(places.paths[i],
						  O_RDONLY | O_DIRECTORY | O_CLOEXEC)
					: -1;
	for (size_t i = 0; patterns && i < patterns->count; i++)
		collect_pattern(directory, info, &places, patterns->items[i]);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		collect_source(directory, info, &sources[i], &places);
	/* Looking through a whole directory is for those who made something. */
	if (has_dump(directory, info))
		collect_source(directory, info, &beside_dump, &places);
	for (int i = 0; i < PLACES; i++)
		base_close_descriptor(&places.descriptors[i]);
}
