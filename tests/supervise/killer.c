/* killer WHOM ROUNDS COMMAND [ARG...]: runs COMMAND under a supervisor again and again and
 * kills WHOM (supervisor, watchdog, program, none) with SIGKILL at a random moment of it.
 *
 * It adopts orphans (PR_SET_CHILD_SUBREAPER), so that the supervisor is its child once it
 * has detached, and nothing that is left running can escape it. A round fails when the
 * program's output or status is not that of an undisturbed run (a killed program's excepted),
 * when it takes too long, or when anything is left.
 *
 * KILL_WITHIN=MS in the environment: at a random one of the MS after its first output. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT = 1 << 20, PATIENCE_MS = 60000 };

struct round {
	int status;
	size_t size;
	char output[OUTPUT];
	double seconds;
	bool hit; /* the victim was there to be killed */
	int left; /* processes that had to be killed afterwards */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void sleep_seconds(double seconds)
{
	struct timespec time = {(time_t)seconds, (long)((seconds - (long)seconds) * 1e9)};

	nanosleep(&time, NULL);
}

/* Our children but `other`, and theirs: fills pids. */
static int children_of(pid_t parent, pid_t *pids, int most)
{
	char path[64], text[65536];
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	int file = open(path, O_RDONLY);
	ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	text[size > 0 ? size : 0] = '\0';
	for (char *at = text, *end; count < most; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at)
			break;
		pids[count++] = (pid_t)pid;
	}
	return count;
}

static bool is_stablerun(pid_t pid)
{
	char path[64], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	int file = open(path, O_RDONLY);
	if (file < 0)
		return false;
	ssize_t size = read(file, name, sizeof(name) - 1);
	close(file);
	return size > 0 && !strcmp(name, "stablerun\n");
}

/* Both helpers are our adopted children in sessions of their own; the supervisor is the
 * first, a watchdog that it started anew is its child. */
static pid_t find_victim(const char *whom, pid_t program)
{
	pid_t pids[64], below[64], helpers[2] = {0, 0};
	int found = 0;

	if (!strcmp(whom, "program"))
		return program;
	int count = children_of(getpid(), pids, 64);
	for (int i = 0; i < count && found < 2; i++)
		if (pids[i] != program && is_stablerun(pids[i]) &&
			getsid(pids[i]) != getsid(0))
			helpers[found++] = pids[i];
	if (!strcmp(whom, "supervisor"))
		return helpers[0];
	if (helpers[0] && children_of(helpers[0], below, 64) > 0)
		return below[0];
	return helpers[1];
}

/* Reads until everybody has closed the pipe, or the program has ended and nothing comes. */
static void collect(struct round *round, int pipe, pid_t program)
{
	double end = now() + PATIENCE_MS / 1e3;
	bool ended = false;

	while (now() < end) {
		struct pollfd polled = {.fd = pipe, .events = POLLIN};
		int ready = poll(&polled, 1, 20);
		if (ready > 0) {
			ssize_t size = read(
				pipe, round->output + round->size, OUTPUT - round->size);
			if (size > 0) {
				round->size += (size_t)size;
				continue;
			}
			if (ended)
				return;
			sleep_seconds(0.001);
		}
		if (!ended && waitpid(program, &round->status, WNOHANG) == program)
			ended = true;
		else if (ended && ready <= 0)
			return;
	}
	round->status = -1;
	kill(program, SIGKILL);
}

/* Waits for what is left; whoever does not end by himself is counted and killed. */
static void reap(struct round *round)
{
	double end = now() + PATIENCE_MS / 1e3;
	pid_t pids[64];

	while (now() < end) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0)
			return;
		if (pid == 0)
			sleep_seconds(0.001);
	}
	round->left = children_of(getpid(), pids, 64);
	for (int i = 0; i < round->left; i++) {
		fprintf(stderr, "left: %d\n", pids[i]);
		kill(pids[i], SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void wait_for_output(int pipe)
{
	struct pollfd polled = {.fd = pipe, .events = POLLIN};

	poll(&polled, 1, PATIENCE_MS);
}

static void play(struct round *round, const char *whom, double delay, char **argv)
{
	int ends[2];

	*round = (struct round){0};
	if (pipe2(ends, O_CLOEXEC))
		exit(1);
	double begin = now();
	pid_t program = fork();
	if (program == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(ends[1]);
	if (strcmp(whom, "none")) {
		if (getenv("KILL_WITHIN"))
			wait_for_output(ends[0]);
		sleep_seconds(delay);
		pid_t victim = find_victim(whom, program);
		round->hit = victim > 0 && !kill(victim, SIGKILL);
	}
	collect(round, ends[0], program);
	round->seconds = now() - begin;
	close(ends[0]);
	reap(round);
}

static bool is_good(const struct round *round, const struct round *calm, const char *whom)
{
	if (round->left || round->status == -1)
		return false;
	if (!strcmp(whom, "program") && WIFSIGNALED(round->status))
		return WTERMSIG(round->status) == SIGKILL;
	return round->status == calm->status && round->size == calm->size &&
	       !memcmp(round->output, calm->output, calm->size);
}

int main(int argc, char **argv)
{
	static struct round calm, round;
	int hits = 0, bad = 0;

	if (argc < 4 || prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 2;
	int rounds = atoi(argv[2]);
	srandom((unsigned)(now() * 1e6));
	play(&calm, "none", 0, argv + 3);
	play(&calm, "none", 0, argv + 3);
	if (calm.left || !WIFEXITED(calm.status)) {
		fprintf(stderr, "undisturbed: status %#x, %d left\n", calm.status,
			calm.left);
		return 1;
	}
	const char *within = getenv("KILL_WITHIN");
	double most = within ? atof(within) / 1e3 : calm.seconds;
	for (int i = 0; i < rounds; i++) {
		double delay = most * (double)random() / RAND_MAX;
		play(&round, argv[1], delay, argv + 3);
		hits += round.hit;
		if (is_good(&round, &calm, argv[1]))
			continue;
		bad++;
		fprintf(stderr,
			"round %d, after %.1f of %.1f ms: status %#x, %zu bytes, %d left\n",
			i, delay * 1e3, most * 1e3, round.status, round.size, round.left);
	}
	printf("%d rounds, %d hits, %d bad\n", rounds, hits, bad);
	return bad || !hits;
}
