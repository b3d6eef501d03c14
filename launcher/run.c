/* Creating a RUN beside its future name, and giving it that name when it is complete. */
#include "launcher/run.h"

#include "launcher/base.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* Kept free for run.json, so that a disk filled by samples still has room for it.
	 */
	RESERVED = 256 << 10,
	TRIES = 100,
};

__attribute__((format(printf, 2, 3))) static int failed(
	char message[RUN_MESSAGE], const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(message, RUN_MESSAGE, format, list);
	va_end(list);
	return -1;
}

/* Only what is a RUN is ever removed or renamed: -o with the name of somebody's home
 * directory must not empty it. */
static bool is_run(int parent, const char *name)
{
	cleanup_free char *json = xasprintf("%s/run.json", name);
	struct stat status;

	return fstatat(parent, json, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool exists(int parent, const char *name)
{
	struct stat status;

	return fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- beginning ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void run_release(struct run_writer *writer)
{
	if (writer->stale)
		run_remove_tree(writer->parent, writer->temporary);
	if (writer->directory >= 0)
		close(writer->directory);
	if (writer->parent >= 0)
		close(writer->parent);
	run_use_reserve(writer);
	free(writer->name);
	free(writer->temporary);
	free(writer->path);
	free(writer->temporary_path);
	*writer = (struct run_writer){.directory = -1, .parent = -1, .room = -1};
}

/* Opens the directory that `path` stands in and notes its last component. */
static int find_parent(struct run_writer *writer, const char *path, char *message)
{
	cleanup_free char *trimmed = xstrdup(path);

	for (size_t end = strlen(trimmed); end > 1 && trimmed[end - 1] == '/'; end--)
		trimmed[end - 1] = '\0';
	const char *name = base_name(trimmed);
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return failed(message, "cannot keep a run as '%s': it is no name", path);
	writer->name = xstrdup(name);
	trimmed[name - trimmed] = '\0';
	cleanup_free char *parent = realpath(*trimmed ? trimmed : ".", NULL);
	if (parent)
		writer->parent = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (writer->parent < 0)
		return failed(message, "cannot keep the run in '%s': %s",
			*trimmed ? trimmed : ".", strerror(errno));
	writer->path =
		xasprintf("%s/%s", strcmp(parent, "/") == 0 ? "" : parent, writer->name);
	return 0;
}

static int check_name(const struct run_writer *writer, char *message)
{
	if (!exists(writer->parent, writer->name))
		return 0;
	if (!writer->automatic && !writer->replace)
		return failed(
			message, "'%s' exists already (-f replaces it)", writer->path);
	if (!is_run(writer->parent, writer->name))
		return failed(message, "'%s' exists and is no RUN: name another with -o",
			writer->path);
	return 0;
}

static int make_temporary(struct run_writer *writer, char *message)
{
	for (int i = 0; i < TRIES; i++) {
		free(writer->temporary);
		writer->temporary =
			xasprintf(RUN_TEMPORARY "%d-%d", writer->name, (int)getpid(), i);
		/* 0700: environments hold secrets, and code does too. */
		if (mkdirat(writer->parent, writer->temporary, 0700) == 0)
			break;
		if (errno != EEXIST || i == TRIES - 1) {
			free(steal_pointer(&writer->temporary));
			return failed(message, "cannot create '%s': %s", writer->path,
				strerror(errno));
		}
	}
	writer->directory = openat(writer->parent, writer->temporary,
		O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (writer->directory < 0)
		return failed(
			message, "cannot create '%s': %s", writer->path, strerror(errno));
	/* Says that somebody is at work here, see run_wait.c. */
	flock(writer->directory, LOCK_EX | LOCK_NB);
	writer->temporary_path =
		xasprintf("%.*s%s", (int)(base_name(writer->path) - writer->path),
			writer->path, writer->temporary);
	return 0;
}

void run_reserve(struct run_writer *writer)
{
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);

	/* Of no name: nobody sees it, and nothing has to be tidied up. Without it (a small
	 * RLIMIT_FSIZE, a file system that cannot) nothing is lost yet. */
	writer->room =
		openat(writer->directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (writer->room >= 0 && fallocate(writer->room, 0, 0, RESERVED) < 0)
		run_use_reserve(writer);
	signal(SIGXFSZ, before);
}

bool run_use_reserve(struct run_writer *writer)
{
	if (writer->room < 0)
		return false;
	close(writer->room);
	writer->room = -1;
	return true;
}

int run_begin(struct run_writer *writer, const char *path, const char *command,
	bool force, char message[RUN_MESSAGE])
{
	cleanup_free char *automatic = xasprintf("%s.run", base_name(command));

	*writer = (struct run_writer){.directory = -1,
		.parent = -1,
		.room = -1,
		.automatic = !path,
		.replace = force};
	if (find_parent(writer, path ? path : automatic, message) < 0 ||
		check_name(writer, message) < 0 || make_temporary(writer, message) < 0) {
		run_abandon(writer);
		return -1;
	}
	return 0;
}

/* ---- finishing ---- */

/* Takes the name by trading it for the temporary one, under which the earlier RUN then is.
 * An automatic one moves on to NAME.run.old, one given by -o with -f is left to
 * run_release(), as is an earlier NAME.run.old: removing files can take longer than all the
 * rest, and nobody has to wait for it. False where that cannot be done. */
static bool trade_names(struct run_writer *writer)
{
	cleanup_free char *old = xasprintf("%s.old", writer->name);
	int parent = writer->parent;

	if (!is_run(parent, writer->name) ||
		(writer->automatic && exists(parent, old) && !is_run(parent, old)) ||
		renameat2(parent, writer->temporary, parent, writer->name,
			RENAME_EXCHANGE) < 0)
		return false;
	writer->stale =
		!writer->automatic || (renameat2(parent, writer->temporary, parent, old,
					       RENAME_NOREPLACE) < 0 &&
					      renameat2(parent, writer->temporary, parent,
						      old, RENAME_EXCHANGE) == 0);
	return true;
}

/* The same in steps. */
static int make_way(const struct run_writer *writer)
{
	cleanup_free char *old = xasprintf("%s.old", writer->name);

	if (!is_run(writer->parent, writer->name)) {
		errno = EEXIST;
		return -1;
	}
	if (!writer->automatic)
		return run_remove_tree(writer->parent, writer->name);
	if (exists(writer->parent, old)) {
		if (!is_run(writer->parent, old)) {
			errno = EEXIST;
			return -1;
		}
		if (run_remove_tree(writer->parent, old) < 0)
			return -1;
	}
	return renameat(writer->parent, writer->name, writer->parent, old);
}

static int give_name(struct run_writer *writer)
{
	for (int i = 0; i < TRIES; i++) {
		if (renameat2(writer->parent, writer->temporary, writer->parent,
			    writer->name, RENAME_NOREPLACE) == 0)
			return 0;
		/* Some file systems know no flags. */
		if (errno == EINVAL && !exists(writer->parent, writer->name))
			return renameat(writer->parent, writer->temporary, writer->parent,
				writer->name);
		if (errno != EEXIST && errno != EINVAL)
			return -1;
		if (!writer->automatic && !writer->replace)
			break;
		if (trade_names(writer))
			return 0;
		if (make_way(writer) < 0)
			return -1;
	}
	errno = EEXIST;
	return -1;
}

/* Somebody took the name while the program ran: the run is kept under another. */
static int give_other_name(struct run_writer *writer, char *message)
{
	int cause = errno;

	for (int i = 2; i < TRIES; i++) {
		cleanup_free char *other = xasprintf("%s.%d", writer->name, i);
		if (renameat2(writer->parent, writer->temporary, writer->parent, other,
			    RENAME_NOREPLACE) == 0)
			return failed(message,
				"cannot name the run '%s': %s; it is kept as '%s.%d'",
				writer->path, strerror(cause), writer->path, i);
	}
	return failed(message, "cannot name the run '%s': %s; it is kept as '%s'",
		writer->path, strerror(cause), writer->temporary_path);
}

static int write_json(struct run_writer *writer, const char *text)
{
	int result;

	do
		result =
			run_write_file(writer->directory, "run.json", text, strlen(text));
	while (result < 0 && (errno == ENOSPC || errno == EDQUOT) &&
		run_use_reserve(writer));
	return result;
}

int run_finish(
	struct run_writer *writer, const struct run_info *info, char message[RUN_MESSAGE])
{
	cleanup_free char *text = run_info_format(info);
	int result = 0;

	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	if (!text)
		errno = ENOMEM;
	if (!text || write_json(writer, text) < 0)
		result = failed(message,
			"cannot write run.json: %s; what was collected is in '%s'",
			strerror(errno), writer->temporary_path);
	else if (give_name(writer) < 0)
		result = give_other_name(writer, message);
	signal(SIGXFSZ, before);
	return result;
}

void run_abandon(struct run_writer *writer)
{
	writer->stale = writer->temporary && writer->parent >= 0;
	run_release(writer);
}
