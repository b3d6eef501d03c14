/* Starts a launch again and again and lets a signal meet it at random moments:
 *
 *     starter SIGNAL ROUNDS [blocked] COMMAND ARG...
 *
 * The command is to say "ready" and then to wait for SIGTERM, at which it ends with status
 * 3. Each round sends the signal once, within one and a half times the time that the
 * command takes to get ready. It is lost if the command is ready and has not got it; else
 * the command has died of it (it came before there was a handler) or has handled it. With
 * `blocked` the command is started with the signal blocked, and must handle it always.
 * With SIGSTOP the command must be found stopped and go on after SIGCONT.
 *
 * Prints how many rounds ended in which way. */
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void pause_for(long microseconds)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	/* Sleeping is not fine enough for the end of it. */
	if (microseconds > 300)
		usleep((unsigned)microseconds - 300);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 +
			 (now.tv_nsec - begin.tv_nsec) / 1000 <
		 microseconds);
}

static pid_t start(char **command, int *output, int blocked)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t mask;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		exit(2);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	sigemptyset(&mask);
	if (blocked)
		sigaddset(&mask, blocked);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (posix_spawnp(&pid, command[0], &actions, &attributes, command, environ))
		exit(2);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*output = ends[0];
	return pid;
}

/* Whether "ready" came before the end of output. */
static int is_ready(int output)
{
	char text[64];
	size_t size = 0;
	ssize_t count;

	while (size < sizeof(text) &&
		(count = read(output, text + size, sizeof(text) - size)) > 0) {
		size += (size_t)count;
		if (memmem(text, size, "ready", 5))
			return 1;
	}
	return 0;
}

static const char *run_signal(int signal, int blocked, long moment, char **command)
{
	int output, status, ready, again = 0;
	pid_t pid = start(command, &output, blocked ? signal : 0);

	pause_for(moment);
	kill(pid, signal);
	if (signal == SIGSTOP) {
		if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
			return "lost";
		kill(pid, SIGCONT);
	}
	ready = is_ready(output);
	if (signal == SIGSTOP) {
		kill(pid, SIGTERM);
		again = !ready;
	} else if (ready) {
		struct pollfd ended = {.fd = output, .events = POLLIN};
		/* Ending closes the pipe. Ten seconds are for the slowest machine. */
		again = poll(&ended, 1, 10000) == 0;
		if (again)
			kill(pid, signal);
	}
	close(output);
	waitpid(pid, &status, 0);
	if (again)
		return "lost";
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == (signal == SIGSTOP ? SIGTERM : signal)
			       ? "died"
			       : "killed";
	return WEXITSTATUS(status) == 3 ? "handled" : "failed";
}

/* Microseconds until it is ready, at most of a few. */
static long measure(char **command)
{
	long most = 0;

	for (int i = 0; i < 5; i++) {
		struct timespec begin, end;
		int output, status;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		pid_t pid = start(command, &output, 0);
		if (!is_ready(output))
			exit(2);
		clock_gettime(CLOCK_MONOTONIC, &end);
		kill(pid, SIGTERM);
		close(output);
		waitpid(pid, &status, 0);
		long took = (end.tv_sec - begin.tv_sec) * 1000000 +
			    (end.tv_nsec - begin.tv_nsec) / 1000;
		most = took > most ? took : most;
	}
	return most;
}

int main(int argc, char **argv)
{
	static const char *const ways[] = {"died", "handled", "lost", "killed", "failed"};
	int counts[5] = {0};

	if (argc < 4)
		return 2;
	int signal = atoi(argv[1]), rounds = atoi(argv[2]);
	int blocked = !strcmp(argv[3], "blocked");
	char **command = argv + 3 + blocked;
	long most = measure(command) * 3 / 2;
	for (int i = 0; i < rounds; i++) {
		/* Every stretch of the time is met alike. */
		long moment = most * i / rounds + random() % (most / rounds + 1);
		const char *way = run_signal(signal, blocked, moment, command);
		for (int j = 0; j < 5; j++)
			counts[j] += way == ways[j];
	}
	for (int j = 0; j < 5; j++)
		printf("%s %d\n", ways[j], counts[j]);
	return 0;
}
