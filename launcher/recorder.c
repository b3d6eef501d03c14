/* `perf record` attached to a waiting program. */
#include "launcher/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/run.h"
#include "launcher/strv.h"

static const char log_name[] = "perf.log";

enum {
	START_WAIT =
		60000, /* ms; perf takes 20 to 50, a loaded machine many times that */
	LOG_LIMIT = 1 << 20,
	NO_PERF = 127,
};

static void add(struct strv *argv, const char *word)
{
	strv_add(argv, xstrdup(word));
}

static void add_value(struct strv *argv, const char *option, const char *value)
{
	add(argv, option);
	add(argv, value);
}

static void command_line(struct strv *argv, const struct recorder_options *options,
	pid_t pid, int control, int answer)
{
	strv_init(argv);
	add(argv, "perf");
	add(argv, "record");
	/* The clock that jitdump stamps with, too. */
	add_value(argv, "-k", "mono");
	add_value(argv, "-e", options->event);
	add(argv, "-F");
	strv_add(argv, xasprintf("%lu", options->frequency));
	if (options->call_graph)
		add_value(argv, "--call-graph", options->call_graph);
	/* No copies of binaries in ~/.debug; the build-ids of all that is mapped. */
	add(argv, "-N");
	add(argv, "--buildid-all");
	add_value(argv, "-o", "perf.data");
	/* Off until we say so. */
	add_value(argv, "-D", "-1");
	add(argv, "--control");
	strv_add(argv, xasprintf("fd:%d,%d", control, answer));
	add(argv, "-p");
	strv_add(argv, xasprintf("%d", (int)pid));
}

_Noreturn static void become_perf(const struct recorder_options *options, pid_t pid,
	int directory, int control, int answer)
{
	struct strv argv;
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);
	int log = openat(directory, log_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	/* A group of its own: what the terminal sends is for the program. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fcntl(control, F_SETFD, 0);
	fcntl(answer, F_SETFD, 0);
	dup2(null, STDIN_FILENO);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	if (fchdir(directory) < 0)
		_exit(NO_PERF);
	command_line(&argv, options, pid, control, answer);
	execvp(argv.items[0], argv.items);
	_exit(NO_PERF);
}

/* Of what perf writes: what it says of its own accord when all is well too. */
static bool says_nothing(const char *line)
{
	return strspn(line, " \t") == strlen(line) || strncmp(line, "Events ", 7) == 0 ||
	       strncmp(line, "[ perf record: Woken", 20) == 0;
}

static char *explain(int directory, int wait_status)
{
	if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == NO_PERF)
		return xstrdup("perf is not installed (Debian's package: linux-perf)");
	cleanup_free char *words =
		run_last_line(directory, log_name, LOG_LIMIT, says_nothing);
	if (WIFSIGNALED(wait_status))
		return xasprintf("perf was killed by signal %d (%s)%s%s",
			WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)),
			words ? ": " : "", words ? words : "");
	return xasprintf("perf failed with status %d%s%s", WEXITSTATUS(wait_status),
		words ? ": " : "", words ? words : "");
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void close_both(struct recorder *recorder)
{
	close(recorder->control);
	close(recorder->answer);
	recorder->control = recorder->answer = -1;
}

/* perf answers "ack\n" when the events are on; its end closes the descriptor. */
static bool switch_on(struct recorder *recorder)
{
	struct pollfd polled = {.fd = recorder->answer, .events = POLLIN};
	char answer[16];

	if (write(recorder->control, "enable\n", 7) < 0)
		return false;
	int ready;
	do
		ready = poll(&polled, 1, START_WAIT);
	while (ready < 0 && errno == EINTR);
	return ready > 0 && read(recorder->answer, answer, sizeof(answer)) > 0;
}

int recorder_start(struct recorder *recorder, const struct recorder_options *options,
	pid_t pid, int directory, char **cause)
{
	int control[2] = {-1, -1}, answer[2] = {-1, -1};

	*recorder = (struct recorder){.pid = -1, .directory = directory};
	if (pipe2(control, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0 ||
		(recorder->pid = fork()) < 0) {
		*cause = xasprintf("cannot start perf: %s", strerror(errno));
		for (int i = 0; i < 2; i++) {
			base_close_descriptor(&control[i]);
			base_close_descriptor(&answer[i]);
		}
		return -1;
	}
	if (recorder->pid == 0)
		become_perf(options, pid, directory, control[0], answer[1]);
	close(answer[1]);
	recorder->control = control[1];
	recorder->answer = answer[0];
	bool on = switch_on(recorder);
	/* Only now: perf ending before it read would make the write above a SIGPIPE. */
	close(control[0]);
	if (on)
		return 0;
	kill(recorder->pid, SIGTERM);
	*cause = explain(directory, wait_for(recorder->pid));
	recorder->pid = -1;
	close_both(recorder);
	return -1;
}

int recorder_stop(struct recorder *recorder, char **cause)
{
	/* perf ends by itself when all that it samples has ended; a daemon that goes on
	 * is no reason to wait. After an interrupt perf finishes its file and dies of the
	 * same signal. */
	kill(recorder->pid, SIGINT);
	int status = wait_for(recorder->pid);
	recorder->pid = -1;
	close_both(recorder);
	bool good = (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
		    (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	if (!good)
		*cause = explain(recorder->directory, status);
	else
		unlinkat(recorder->directory, log_name, 0);
	return good ? 0 : -1;
}
