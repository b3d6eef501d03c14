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
#include "launcher/env_line.h"
#include "launcher/environment.h"
#include "launcher/lookup.h"
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/shebang.h"

/* What the shells search where PATH is not set (confstr's _CS_PATH). */
static const char default_path[] = "/bin:/usr/bin";

static int find_file(struct command *command, const char *search_path, const char *word)
{
	int error;

	if (!*word) {
		warn("cannot execute '': the command's name is empty");
		return STATUS_NOT_FOUND;
	}
	/* Directories along PATH are passed over, but these two are meant as what they are. */
	if (strchr(word, '/') || !strcmp(word, ".") || !strcmp(word, "..")) {
		command->file = xstrdup(word);
		error = lookup_check(word);
	} else {
		cleanup_free char *refused = NULL;

		command->file = lookup_search(search_path, word, &error, &refused);
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
	warn("cannot execute '%s': %s", command->file,
		lookup_describe(command->file, error));
	return STATUS_CANNOT_EXECUTE;
}

/* Reads a file's first bytes. Returns how many. A file that may not be read may still be
 * executed; where reading fails otherwise, the kernel resolves a `#!` line, whose arguments
 * then are not what the stack was padded for: said. */
static size_t read_head(const char *path, char *head)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;
	int error = fd < 0 && errno != EACCES ? errno : 0;

	while (fd >= 0 && used < SHEBANG_SIZE) {
		ssize_t got = pread(fd, head + used, SHEBANG_SIZE - used, (off_t)used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			error = errno;
		if (got <= 0)
			break;
		used += (size_t)got;
	}
	if (error)
		warn("warning: cannot read '%s': %s: if it is a script, its stack can move",
			path, strerror(error));
	return used;
}

static int interpreter_missing(const char *script, const struct shebang *line, int error)
{
	const char *name = line->interpreter;
	size_t length = strlen(name);

	if (length && name[length - 1] == '\r')
		warn("cannot execute '%s': its '#!' line ends in a carriage return (DOS line ends)",
			script);
	else if (error == ENOENT)
		warn("cannot execute '%s': its interpreter '%s' does not exist", script,
			name);
	else
		warn("cannot execute '%s': its interpreter '%s' cannot be executed: %s",
			script, name, lookup_describe(name, error));
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

/* Skips env where all it would do is to execute what it finds along PATH: argv becomes
 * what it would pass. Returns the program's path (owned), NULL with *status 0 where env
 * has to run, NULL with an exit status after a message. */
static char *skip_env(struct strv *argv, const struct shebang *line, const char *script,
	const char *path, int *status)
{
	cleanup_free char *refused = NULL;
	struct strv words;
	int error;

	*status = 0;
	if (!line->has_argument)
		return NULL;
	strv_init(&words);
	if (!env_line_parse(&words, line->interpreter, line->argument)) {
		strv_release(&words);
		return NULL;
	}
	char *found = strchr(words.items[0], '/')
			      ? xstrdup(words.items[0])
			      : lookup_search(path, words.items[0], &error, &refused);
	if (!found || (error = lookup_check(found))) {
		warn("cannot execute '%s': its interpreter '%s', that '%s' looks for, %s",
			script, words.items[0], line->interpreter,
			found	  ? lookup_describe(found, error)
			: refused ? lookup_describe(refused, EACCES)
				  : "is nowhere along PATH");
		base_free_pointer(&found);
		strv_release(&words);
		*status = STATUS_CANNOT_EXECUTE;
		return NULL;
	}
	/* env's own name and its argument make room for its words. */
	strv_remove(argv, 0);
	strv_remove(argv, 0);
	for (size_t i = words.count; i-- > 0;)
		strv_insert(argv, 0, xstrdup(words.items[i]));
	strv_release(&words);
	return found;
}

static int resolve_line(struct command *command, char **path, const char *search_path,
	const struct shebang *line)
{
	int error = lookup_check(line->interpreter), status;

	if (error)
		return interpreter_missing(*path, line, error);
	splice_argv(&command->argv, line, *path);
	char *found = skip_env(&command->argv, line, *path, search_path, &status);
	if (status)
		return status;
	free(*path);
	*path = found ? found : xstrdup(line->interpreter);
	return 0;
}

static int resolve_scripts(struct command *command, const char *search_path)
{
	cleanup_free char *path = xstrdup(command->file);

	for (;;) {
		char head[SHEBANG_SIZE];
		struct shebang line;
		int script = shebang_parse(&line, head, read_head(path, head));

		if (script < 0) {
			warn("cannot execute '%s': its '#!' line names no interpreter",
				path);
			return STATUS_CANNOT_EXECUTE;
		}
		if (!script)
			break;
		if (++command->scripts > SHEBANG_DEPTH) {
			warn("cannot execute '%s': more than %d scripts interpret one another",
				command->file, SHEBANG_DEPTH);
			return STATUS_CANNOT_EXECUTE;
		}
		int status = resolve_line(command, &path, search_path, &line);
		if (status)
			return status;
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
	const char *path = environment_get(machine->envp, "PATH");

	path = environment_strip_path(path ? path : default_path);
	*command = (struct command){0};
	int status = find_file(command, path, words[0]);
	if (status)
		return status;
	strv_init(&command->argv);
	strv_copy(&command->argv, words);
	status = resolve_scripts(command, path);
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
