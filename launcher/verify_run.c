/* One run in one context, each as a user would start it. */
#include "launcher/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/place.h"
#include "launcher/quote.h"
#include "launcher/run.h"

enum {
	NOT_EXECUTED = 127,
	LOG_SHOWN = 1 << 16,
};

static void add(struct strv *argv, const char *word)
{
	strv_add(argv, xstrdup(word));
}

static void add_stablerun(
	struct strv *argv, const struct verify_launch *launch, const char *run)
{
	add(argv, launch->stablerun);
	add(argv, "-o");
	add(argv, run);
	for (size_t i = 0; i < launch->options->count; i++)
		add(argv, launch->options->items[i]);
	add(argv, "--");
}

static void add_command(struct strv *argv, const struct verify_launch *launch)
{
	add(argv, launch->file);
	strv_copy(argv, launch->arguments);
}

static void plain(struct strv *argv, const struct verify_launch *launch, const char *run)
{
	add_stablerun(argv, launch, run);
	add_command(argv, launch);
}

static void in_shell(
	struct strv *argv, const struct verify_launch *launch, const char *run)
{
	add(argv, "/bin/sh");
	add(argv, "-c");
	add(argv, "OLDPWD=/ \"$@\"\nexit $?");
	add(argv, "sh");
	plain(argv, launch, run);
}

static void in_perf(
	struct strv *argv, const struct verify_launch *launch, const char *run)
{
	static const char *const words[] = {"perf", "record", "-q", "-N", "-e",
		"cpu-clock:u", "-o", "/dev/null", "--"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		add(argv, words[i]);
	plain(argv, launch, run);
}

/* For gdb's exec-wrapper, which a shell reads. */
static char *quoted(const struct strv *words)
{
	char *line = NULL;
	size_t size = 0;
	FILE *text = open_memstream(&line, &size);

	for (size_t i = 0; text && i < words->count; i++) {
		fputs(i ? " " : "", text);
		quote_single(text, words->items[i]);
	}
	if (!text || (ferror(text) | fclose(text)))
		die(STATUS_TROUBLE, "out of memory");
	return line;
}

static bool moves(const struct verify_launch *launch)
{
	struct machine machine;

	machine_read(&machine, environ);
	bool result = place_will_move(
		launch->options->items, launch->options->count, machine.persona_refused);
	machine_release(&machine);
	return result;
}

/* A program that is moved is traced while that happens: gdb comes after it. */
static void in_gdb_held(
	struct strv *argv, const struct verify_launch *launch, const char *run)
{
	add(argv, "/bin/sh");
	add(argv, "-c");
	add(argv,
		"\"$@\" & pid=$!\n"
		"until grep -q '^State:.T' /proc/$pid/status 2>/dev/null; do\n"
		"	kill -0 $pid 2>/dev/null || break; sleep 0.02\n"
		"done\n"
		"gdb -q -nx -batch -iex 'set debuginfod enabled off' "
		"-iex 'set auto-load off' -p $pid "
		"-ex 'handle SIGSTOP nostop noprint nopass' "
		"-ex 'handle SIGSEGV SIGILL SIGBUS SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE pass "
		"nostop noprint' -ex continue\n"
		"[ $? -eq 127 ] && exit 127\n"
		"wait $pid");
	add(argv, "gdb");
	add_stablerun(argv, launch, run);
	strv_insert(argv, argv->count - 1, xstrdup("--hold"));
	add_command(argv, launch);
}

static void in_gdb(struct strv *argv, const struct verify_launch *launch, const char *run)
{
	if (moves(launch)) {
		in_gdb_held(argv, launch, run);
		return;
	}
	struct strv wrapper = {0};

	add_stablerun(&wrapper, launch, run);
	/* gdb calls the program by its path, whose length is another. */
	strv_insert(&wrapper, wrapper.count - 1, xasprintf("--name=%s", launch->file));
	cleanup_free char *line = quoted(&wrapper);
	static const char *const words[] = {"gdb", "-q", "-nx", "-batch", "-iex",
		"set debuginfod enabled off", "-iex", "set auto-load off", "-ex",
		"set startup-with-shell on", "-ex", "set disable-randomization off",
		"-ex",
		"handle SIGSEGV SIGILL SIGBUS SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE pass nostop noprint"};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		add(argv, words[i]);
	add(argv, "-ex");
	strv_add(argv, xasprintf("set exec-wrapper %s", line));
	add(argv, "-ex");
	add(argv, "run");
	add(argv, "--args");
	add_command(argv, launch);
	strv_release(&wrapper);
}

/* What differs from one shell and terminal to the next, and another amount of it each time. */
static void change_environment(unsigned number)
{
	char name[32];

	for (unsigned i = 0; i < number % 5 + 1; i++) {
		cleanup_free char *value =
			xasprintf("%0*u", (int)(number * 37 % 4000) + 1, i);
		snprintf(name, sizeof(name), "STABLERUN_VERIFY_%u", i);
		setenv(name, value, 1);
	}
	setenv("LINES", "53", 1);
	setenv("COLUMNS", "171", 1);
	setenv("SHLVL", "7", 1);
	setenv("PERF_EXEC_PATH", "/usr/lib/perf-core", 1);
}

_Noreturn static void become(
	const struct strv *argv, enum verify_context context, unsigned number, int output)
{
	int null = open("/dev/null", O_RDONLY);

	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (context == VERIFY_ENV)
		change_environment(number);
	execvp(argv->items[0], argv->items);
	_exit(NOT_EXECUTED);
}

/* Copies what there is to copy now. */
static void drain(int from, int log)
{
	char text[4096];
	ssize_t size;

	while ((size = read(from, text, sizeof(text))) > 0)
		if (write(log, text, (size_t)size) < 0)
			return;
}

/* A pipe and no file: what gdb has said before the program would be a position in that, from
 * which some runtimes make objects. Who outlives the program does not hold us up. */
static pid_t start(const struct strv *argv, enum verify_context context, unsigned number,
	const char *log, int *status)
{
	int ends[2];
	cleanup_fd int file = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (file < 0 || pipe2(ends, O_CLOEXEC))
		return -1;
	pid_t pid = fork();
	if (pid == 0)
		become(argv, context, number, ends[1]);
	close(ends[1]);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	struct pollfd polled = {.fd = ends[0], .events = POLLIN};
	for (pid_t ended = 0; pid > 0 && ended != pid;) {
		/* At the pipe's end it is not polled any more. */
		if (poll(&polled, 1, 20) > 0 && !(polled.revents & POLLIN))
			polled.fd = -1;
		drain(ends[0], file);
		ended = waitpid(pid, status, WNOHANG);
		if (ended < 0 && errno != EINTR)
			break;
	}
	drain(ends[0], file);
	close(ends[0]);
	return pid;
}

static char *last_line(const char *log)
{
	size_t size;
	cleanup_free char *text = run_read_file(AT_FDCWD, log, LOG_SHOWN, &size);

	if (!text)
		return xstrdup("it printed too much to show");
	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
	const char *line = strrchr(text, '\n');
	return xstrdup(line ? line + 1 : text);
}

int verify_launch(const struct verify_launch *launch, enum verify_context context,
	unsigned number, const char *run, const char *log, char **cause)
{
	static void (*const command[])(
		struct strv *, const struct verify_launch *, const char *) = {
		[VERIFY_PLAIN] = plain,
		[VERIFY_ENV] = in_shell,
		[VERIFY_PERF] = in_perf,
		[VERIFY_GDB] = in_gdb,
	};
	struct strv argv = {0};
	int status = 0;
	struct stat found;

	command[context](&argv, launch, run);
	pid_t pid = start(&argv, context, number, log, &status);
	run_wait(run);
	int result = pid > 0 && stat(run, &found) == 0 ? 0 : -1;
	if (result < 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_EXECUTED &&
		access(log, F_OK) == 0 && context != VERIFY_PLAIN)
		*cause = xasprintf("'%s' is not installed", argv.items[0]);
	else if (result < 0)
		*cause = last_line(log);
	strv_release(&argv);
	return result;
}
