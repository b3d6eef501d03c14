/* Running an engine's program and watching it. */
#include "launcher/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/options.h"

enum {
	POLL = 300, /* ms between two looks */
	LOG_LIMIT = 1 << 20,
	NOT_THERE = 127,
};

_Noreturn static void become(
	const struct engine *engine, char *const *argv, const char *log, int output)
{
	cleanup_free char *path = xasprintf("%s/%s", engine->staging, log);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int messages = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	/* A group of its own: what the terminal sends is for us to tell it. */
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, engine->job->mask, NULL);
	dup2(null, STDIN_FILENO);
	dup2(output >= 0 ? output : null, STDOUT_FILENO);
	dup2(messages, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(NOT_THERE);
}

pid_t engine_start(
	const struct engine *engine, char *const *argv, const char *log, int *output)
{
	int ends[2] = {-1, -1};

	if (output && pipe2(ends, O_CLOEXEC) < 0) {
		warn("cannot run '%s': %s", argv[0], strerror(errno));
		return -1;
	}
	pid_t pid = fork();
	if (pid == 0)
		become(engine, argv, log, ends[1]);
	if (pid < 0)
		warn("cannot run '%s': %s", argv[0], strerror(errno));
	if (output) {
		close(ends[1]);
		if (pid < 0)
			close(ends[0]);
		*output = ends[0];
	}
	return pid;
}

static void show_progress(struct engine *engine, unsigned (*count)(struct engine *))
{
	if (count && isatty(STDERR_FILENO))
		fprintf(stderr, "\rrun %u of %u", count(engine), engine->job->runs);
}

static bool was_signalled(const struct engine *engine)
{
	struct pollfd waiting = {.fd = engine->job->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	return poll(&waiting, 1, POLL) > 0 &&
	       read(engine->job->signals, &info, sizeof(info)) == sizeof(info);
}

int engine_wait(struct engine *engine, pid_t pid, unsigned (*count)(struct engine *),
	void (*cancel)(struct engine *, pid_t pid))
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		show_progress(engine, count);
		if (!was_signalled(engine))
			continue;
		if (!engine->interrupted && cancel)
			cancel(engine, pid);
		else
			kill(-pid, SIGKILL);
		engine->interrupted = true;
	}
	if (count && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return status;
}

static bool is_blank(const char *line)
{
	return strspn(line, " \t\r") == strlen(line);
}

char *engine_last_line(const struct engine *engine, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", engine->staging, name);

	return run_last_line(AT_FDCWD, path, LOG_LIMIT, is_blank);
}

int engine_write(
	const struct engine *engine, const char *name, const char *text, bool run)
{
	cleanup_free char *path = xasprintf("%s/%s", engine->staging, name);
	cleanup_fd int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, run ? 0700 : 0600);
	size_t size = strlen(text);

	if (fd >= 0 && write(fd, text, size) == (ssize_t)size)
		return 0;
	warn("cannot write '%s': %s", path, strerror(errno));
	return -1;
}
