/* Runs several commands in turn, again and again, and prints what each cost:
 *
 *	measure [-n RUNS] [-w WARM-UPS] ::: COMMAND ARG... [::: COMMAND ARG...]...
 *
 * One line a command, tab-separated:
 *
 *	CPU IQR WALL IQR RATIO LOW HIGH WALLRATIO LOW HIGH RSS
 *
 * the medians of user plus system time and of elapsed time in seconds, each with its
 * interquartile range; the median of this command's CPU time over the first command's in
 * the same round, with its quartiles; the same of elapsed time; and the largest resident
 * set in KiB. The commands take turns so that a change of the machine's speed meets all of
 * them alike, and every other round runs backwards so that none always follows the same. */
#include "launcher/base.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char program_name[] = "measure";
extern char **environ;

enum {
	STATUS_TROUBLE = 2,
	STATUS_COMMAND_FAILED = 1,
};

struct subject {
	char **argv; /* borrowed from main's */
	double *cpu; /* seconds, one a round */
	double *wall;
	long rss; /* KiB, the largest of all rounds */
};

struct quartiles {
	double low, median, high;
};

static double seconds(struct timespec t)
{
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of_timeval(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return seconds(t);
}

/* Starts the command with its stdout and stdin on /dev/null; stderr stays ours. */
static pid_t subject_start(const struct subject *subject)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(
		&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(
		&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	int error = posix_spawnp(
		&pid, subject->argv[0], &actions, NULL, subject->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		die(STATUS_TROUBLE, "cannot run '%s': %s", subject->argv[0],
			strerror(error));
	return pid;
}

static void subject_run(struct subject *subject, int round)
{
	struct rusage usage;
	int status;
	double begin = now();
	pid_t pid = subject_start(subject);

	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno != EINTR)
			die(STATUS_TROUBLE, "cannot wait for '%s': %s", subject->argv[0],
				strerror(errno));
	}
	double wall = now() - begin;
	if (WIFSIGNALED(status))
		die(STATUS_COMMAND_FAILED, "'%s' was killed by signal %d",
			subject->argv[0], WTERMSIG(status));
	if (WEXITSTATUS(status))
		die(STATUS_COMMAND_FAILED, "'%s' exited with status %d", subject->argv[0],
			WEXITSTATUS(status));
	if (round < 0)
		return;
	subject->wall[round] = wall;
	subject->cpu[round] =
		seconds_of_timeval(usage.ru_utime) + seconds_of_timeval(usage.ru_stime);
	if (usage.ru_maxrss > subject->rss)
		subject->rss = usage.ru_maxrss;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value at `share` of sorted values, between neighbours where it falls there. */
static double quantile(const double *sorted, int count, double share)
{
	double place = share * (count - 1);
	int below = (int)place;
	int above = below + 1 < count ? below + 1 : below;

	return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}

static struct quartiles quartiles_of(const double *values, int count)
{
	cleanup_free double *sorted = xreallocarray(NULL, (size_t)count, sizeof(*sorted));

	memcpy(sorted, values, (size_t)count * sizeof(*sorted));
	qsort(sorted, (size_t)count, sizeof(*sorted), compare_doubles);
	return (struct quartiles){
		quantile(sorted, count, 0.25),
		quantile(sorted, count, 0.5),
		quantile(sorted, count, 0.75),
	};
}

/* How each of `values` compares with the first command's in the same round. */
static struct quartiles ratios_of(const double *values, const double *first, int count)
{
	cleanup_free double *ratios = xreallocarray(NULL, (size_t)count, sizeof(*ratios));

	for (int i = 0; i < count; i++)
		ratios[i] = first[i] > 0 ? values[i] / first[i] : 0;
	return quartiles_of(ratios, count);
}

static void subject_print(
	const struct subject *subject, const struct subject *first, int runs)
{
	struct quartiles cpu = quartiles_of(subject->cpu, runs);
	struct quartiles wall = quartiles_of(subject->wall, runs);
	struct quartiles cpus = ratios_of(subject->cpu, first->cpu, runs);
	struct quartiles walls = ratios_of(subject->wall, first->wall, runs);

	printf("%.6f\t%.6f\t%.6f\t%.6f\t", cpu.median, cpu.high - cpu.low, wall.median,
		wall.high - wall.low);
	printf("%.4f\t%.4f\t%.4f\t", cpus.median, cpus.low, cpus.high);
	printf("%.4f\t%.4f\t%.4f\t%ld\n", walls.median, walls.low, walls.high,
		subject->rss);
}

/* Cuts argv at each ":::"; returns owned subjects, whose argv point into `argv`. */
static struct subject *subjects_parse(char **argv, int runs, int *count)
{
	struct subject *subjects = NULL;

	*count = 0;
	while (*argv) {
		if (strcmp(*argv, ":::") != 0)
			die(STATUS_TROUBLE, "expected ':::' before '%s'", *argv);
		*argv++ = NULL;
		if (!*argv || strcmp(*argv, ":::") == 0)
			die(STATUS_TROUBLE, "no command after ':::'");
		subjects = xreallocarray(subjects, (size_t)*count + 1, sizeof(*subjects));
		subjects[(*count)++] = (struct subject){
			.argv = argv,
			.cpu = xcalloc((size_t)runs, sizeof(double)),
			.wall = xcalloc((size_t)runs, sizeof(double)),
		};
		while (*argv && strcmp(*argv, ":::") != 0)
			argv++;
	}
	if (*count == 0)
		die(STATUS_TROUBLE,
			"usage: measure [-n RUNS] [-w WARM-UPS] ::: COMMAND [::: COMMAND]...");
	return subjects;
}

static int parse_count(const char *text, int least)
{
	char *end;

	errno = 0;
	long value = strtol(text, &end, 10);
	if (errno || *end || end == text || value < least || value > 1000000)
		die(STATUS_TROUBLE, "'%s' is no count of at least %d", text, least);
	return (int)value;
}

int main(int argc, char **argv)
{
	int runs = 5, warmups = 1, count, option;

	while ((option = getopt(argc, argv, "+n:w:")) != -1) {
		if (option == 'n')
			runs = parse_count(optarg, 1);
		else if (option == 'w')
			warmups = parse_count(optarg, 0);
		else
			return STATUS_TROUBLE;
	}
	struct subject *subjects = subjects_parse(argv + optind, runs, &count);
	for (int round = -warmups; round < runs; round++) {
		for (int i = 0; i < count; i++)
			subject_run(&subjects[round & 1 ? count - 1 - i : i], round);
	}
	for (int i = 0; i < count; i++)
		subject_print(&subjects[i], &subjects[0], runs);
	for (int i = 0; i < count; i++) {
		free(subjects[i].cpu);
		free(subjects[i].wall);
	}
	free(subjects);
	return 0;
}
