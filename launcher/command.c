/* The command: the file a word names, and the binary that execve really gets for it.
 *
 * `#!` lines are resolved here, so that the kernel gets the binary itself: then the
 * arguments, whose length moves the stack, are known before the launch; and a script
 * whose interpreter is missing can be named as such. */
#include "launcher/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/environment.h"
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/shebang.h"

/* What the shells search where PATH is not set (confstr's _CS_PATH). */
static const char default_path[] = "/bin:/usr/bin";

/* 0 where `path` is a file that may be executed, else the errno that execve would give.
 */
static int check_executable(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	if (!S_ISREG(status.st_mode) || access(path, X_OK))
		return EACCES;
	return 0;
}

static const char *describe(const char *path, int error)
{
	struct stat status;

	if (error == EISDIR)
		return "it is a directory";
	if (error != EACCES || stat(path, &status))
		return strerror(error);
	if (!S_ISREG(status.st_mode))
		return "it is not a regular file";
	if (!(status.st_mode & 0111))
		return "it is not executable (chmod +x)";
	return strerror(error);
}

static char *join(const char *directory, size_t length, const char *name)
{
	if (!length)
		return xasprintf("./%s", name);
	return xasprintf("%.*s%s%s", (int)length, directory,
		directory[length - 1] == '/' ? "" : "/", name);
}

/* Searches PATH. Returns owned; else NULL with *error, and in *refused (owned) the first
 * file of that name that may not be executed. */
static char *search(const char *path, const char *name, int *error, char **refused)
{
	*error = ENOENT;
	for (;;) {
		size_t length = strcspn(path, ":");
		cleanup_free char *file = join(path, length, name);
		int result = check_executable(file);

		if (!result)
			return steal_pointer(&file);
		if (result == EACCES && !*refused && !access(file, F_OK)) {
			*error = result;
			*refused = steal_pointer(&file);
		}
		if (!path[length])
			return NULL;
		path += length + 1;
	}
}

static int find_file(
	struct command *command, const struct machine *machine, const char *word)
{
	int error;

	if (!*word) {
		warn("cannot execute '': the command's name is empty");
		return STATUS_NOT_FOUND;
	}
	if (strchr(word, '/')) {
		command->file = xstrdup(word);
		error = check_executable(word);
	} else {
		const char *path = environment_get(machine->envp, "PATH");
		cleanup_free char *refused = NULL;

		path = environment_strip_path(path ? path : default_path);
		command->file = search(path, word, &error, &refused);
		if (command->file)
			return 0;
		if (!refused) {
			warn("cannot find '%s': no such command along PATH", word);
			return STATUS_NOT_FOUND;
		}
		command->file = steal_pointer(&refused);
	}
	if (!error)
		return 0;
	if (error == ENOENT) {
		warn("cannot find '%s': %s", command->file, strerror(error));
		return STATUS_NOT_FOUND;
	}
	warn("cannot execute '%s': %s", command->file, describe(command->file, error));
	return STATUS_CANNOT_EXECUTE;
}

/* Reads a file's first bytes. Returns how many, 0 where it cannot be read (it may still
 * be executable). */
static size_t read_head(const char *path, char *head)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;

	while (fd >= 0 && used < SHEBANG_SIZE) {
		ssize_t got = pread(fd, head + used, SHEBANG_SIZE - used, (off_t)used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	return used;
}

static int interpreter_missing(const char *script, const struct shebang *line, int error)
{
	const char *name = line->interpreter;
	size_t length = strlen(name);

	if (length && name[length - 1] == '\r')
		warn("cannot execute '%s': its '#!' line ends in a carriage return (DOS "
		     "line ends)",
			script);
	else if (error == ENOENT)
		warn("cannot execute '%s': its interpreter '%s' does not exist", script,
			name);
	else
		warn("cannot execute '%s': its interpreter '%s' cannot be executed: %s",
			script, name, describe(name, error));
	return STATUS_CANNOT_EXECUTE;
}

/* argv as fs/binfmt_script.c makes it: interpreter, its argument, the script, the rest.
 */
static void splice_argv(struct strv *argv, const struct shebang *line, const char *script)
{
	strv_remove(argv, 0);
	strv_insert(argv, 0, xstrdup(script));
	if (line->has_argument)
		strv_insert(argv, 0, xstrdup(line->argument));
	strv_insert(argv, 0, xstrdup(line->interpreter));
}

static int resolve_scripts(struct command *command)
{
	cleanup_free char *path = xstrdup(command->file);

	for (;;) {
		char head[SHEBANG_SIZE];
		struct shebang line;
		int script = shebang_parse(&line, head, read_head(path, head));

		if (script < 0) {
			warn("cannot execute '%s': its '#!' line names no interpreter%s",
				path, "");
			return STATUS_CANNOT_EXECUTE;
		}
		if (!script)
			break;
		if (++command->scripts > SHEBANG_DEPTH) {
			warn("cannot execute '%s': more than %d scripts interpret one "
			     "another",
				command->file, SHEBANG_DEPTH);
			return STATUS_CANNOT_EXECUTE;
		}
		int error = check_executable(line.interpreter);
		if (error)
			return interpreter_missing(path, &line, error);
		splice_argv(&command->argv, &line, path);
		free(path);
		path = xstrdup(line.interpreter);
	}
	command->exec = steal_pointer(&path);
	return 0;
}

/* The executed path stands on the stack and in the program's maps: absolute, it does not
 * depend on where the caller is. */
static void make_absolute(struct command *command, const char *cwd)
{
	const char *path = command->exec;

	if (path[0] == '/' || !cwd)
		return;
	while (path[0] == '.' && path[1] == '/')
		for (path += 2; *path == '/';)
			path++;
	char *absolute = xasprintf("%s/%s", strcmp(cwd, "/") ? cwd : "", path);
	free(command->exec);
	command->exec = absolute;
}

/* A program that gains privileges has its personality cleared by the kernel (fs/exec.c,
 * bprm_fill_uid; security/commoncap.c). */
static const char *find_privilege(const char *exec, const struct machine *machine)
{
	struct stat status;
	struct statvfs file_system;
	const char *kind = NULL;

	if (machine->no_new_privs || stat(exec, &status))
		return NULL;
	if (status.st_mode & S_ISUID)
		kind = "set-user-ID";
	else if ((status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		kind = "set-group-ID";
	else if (!machine->privileged &&
		 getxattr(exec, "security.capability", NULL, 0) > 0)
		kind = "file capabilities";
	if (kind && !statvfs(exec, &file_system) && file_system.f_flag & ST_NOSUID)
		return NULL;
	return kind;
}

int command_find(
	struct command *command, const struct machine *machine, char *const *words)
{
	*command = (struct command){0};
	int status = find_file(command, machine, words[0]);
	if (status)
		return status;
	strv_init(&command->argv);
	strv_copy(&command->argv, words);
	status = resolve_scripts(command);
	if (status)
		return status;
	make_absolute(command, machine->cwd);
	command->privilege = find_privilege(command->exec, machine);
	return 0;
}

void command_release(struct command *command)
{
	free(command->file);
	free(command->exec);
	strv_release(&command->argv);
	*command = (struct command){0};
}
