/* `stablerun perf [-n N] [-F HZ] [-o RUN] -- COMMAND`: samples N runs into one RUN.
 *
 * The first run's files are the RUN's; each further run is a RUN of its own in RUN/2,
 * RUN/3, …, which is what annotate merges. */
#include "launcher/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/decide.h"
#include "launcher/engine.h"
#include "launcher/options.h"
#include "launcher/plan.h"
#include "launcher/run.h"
#include "launcher/sampled.h"
#include "launcher/sampling.h"

enum {
	/* A prime near 5,000: dense, and not in step with a program's own rhythm. */
	FREQUENCY = 4999,
	/* Above it each sample's 40 µs slow the program down several times. */
	FREQUENCY_WARN = 10000,
	FREQUENCY_MOST = 1000000,
	RUNS_MOST = 100000,
	OPTION_CALL_GRAPH = 256,
	OPTION_HELP,
	OPTION_ENGINE, /* engine.c's */
	/* Options of a plain run, handed on. */
	OPTION_PASSED = 512,
};

static const struct option long_options[] = {
	{"runs", required_argument, NULL, 'n'},
	{"frequency", required_argument, NULL, 'F'},
	{"event", required_argument, NULL, 'e'},
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"call-graph", required_argument, NULL, OPTION_CALL_GRAPH},
	{"engine", required_argument, NULL, OPTION_ENGINE},
	{"hosts", required_argument, NULL, OPTION_ENGINE},
	{"sshloginfile", required_argument, NULL, OPTION_ENGINE},
	{"jobs", required_argument, NULL, OPTION_ENGINE},
	{"remote", required_argument, NULL, OPTION_ENGINE},
	{"differing", required_argument, NULL, OPTION_ENGINE},
	{"help", no_argument, NULL, OPTION_HELP},
	OPTIONS_HANDED_ON(OPTION_PASSED),
	{"plan", optional_argument, NULL, OPTION_PASSED},
	{0},
};

static const char usage[] =
	"Usage: stablerun perf [OPTION...] [--] COMMAND [ARG...]\n"
	"Sample COMMAND at stable addresses and keep all that annotate needs.\n"
	"\n"
	"  -n, --runs=N          sample N runs into one RUN (default 1)\n"
	"  -F, --frequency=HZ    samples a second (default 4999)\n"
	"  -e, --event=EVENT     what to sample, in perf's words (default: cycles, or\n"
	"                        cpu-clock where there are no hardware counters; in\n"
	"                        user space)\n"
	"      --call-graph=HOW  fp (default), dwarf, lbr or none, as perf record has "
	"it\n"
	"  -o, --output=RUN      keep the run in RUN (default: NAME.run; an earlier one\n"
	"                        becomes NAME.run.old)\n"
	"  -f, --force           replace an existing RUN of -o\n"
	"      --engine=WHICH    hand the runs to GNU parallel or to Slurm: parallel, "
	"slurm\n"
	"      --hosts=LIST      hosts for parallel to reach by ssh, [USER@]HOST[:PORT]\n"
	"      --sshloginfile=FILE  the same, one a line, as parallel has it\n"
	"      --jobs=N          runs at a time on each host (default 1), or in all of "
	"Slurm\n"
	"      --remote=FILE     stablerun's path there (default: its path here)\n"
	"      --differing=HOW   runs of hosts unlike most: drop (default), keep, "
	"refuse\n"
	"      --help            print this\n"
	"\n"
	"and --seed, --clock, --rule, --env, --cpu, --place, --plan as a plain run has\n"
	"them. The exit status is COMMAND's own.\n";

struct perf_options {
	unsigned runs;
	const char *output;
	bool force;
	const char *event;
	struct recorder_options recorder;
	struct strv passed; /* the command line of a plain run */
	struct engine_options engine;
};

static void parse_option(struct perf_options *options, int option, int index)
{
	switch (option) {
	case 'n': options->runs = (unsigned)options_count("-n", optarg, RUNS_MOST); break;
	case 'F':
		options->recorder.frequency = options_count("-F", optarg, FREQUENCY_MOST);
		break;
	case 'e': options->recorder.event = optarg; break;
	case 'o': options->output = optarg; break;
	case 'f': options->force = true; break;
	case OPTION_CALL_GRAPH:
		options->recorder.call_graph =
			strcmp(optarg, "none") == 0 ? NULL : optarg;
		break;
	case OPTION_HELP: options_print(usage);
	case OPTION_ENGINE:
		engine_option(&options->engine, long_options[index].name, optarg);
		break;
	case OPTION_PASSED:
		options_hand_on(&options->passed, &long_options[index], optarg);
		break;
	default: exit(STATUS_TROUBLE); /* getopt has said what is wrong */
	}
}

static void parse(struct perf_options *options, int argc, char **argv)
{
	int option, index = 0;

	*options = (struct perf_options){
		.runs = 1, .recorder = {.frequency = FREQUENCY, .call_graph = "fp"}};
	strv_add(&options->passed, xstrdup(program_name));
	argv[0] = (char *)program_name;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+n:F:e:o:f", long_options, &index)) !=
		-1)
		parse_option(options, option, index);
	if (optind == argc)
		die(STATUS_TROUBLE, "no command given; try 'stablerun perf --help'");
	engine_check(&options->engine);
	strv_add(&options->passed, xstrdup("--"));
	strv_copy(&options->passed, argv + optind);
}

/* The frequency that the kernel allows, and the event; or why there will be no samples.
 */
static char *decide_sampling(struct perf_options *options)
{
	struct recorder_options *recorder = &options->recorder;
	unsigned long most = sampling_most();
	char *cause = NULL;

	if (recorder->frequency > FREQUENCY_WARN)
		warn("warning: %lu samples a second slow the program down (stay at or "
		     "below "
		     "%d)",
			recorder->frequency, FREQUENCY_WARN);
	if (most && recorder->frequency > most) {
		warn("warning: sampling at %lu Hz, not %lu: "
		     "kernel.perf_event_max_sample_rate "
		     "allows no more",
			most, recorder->frequency);
		recorder->frequency = most;
	}
	const char *event = sampling_event(&cause);
	if (!recorder->event)
		recorder->event = event;
	return cause;
}

/* Only where somebody watches. */
static void show_progress(
	const struct perf_options *options, unsigned run, unsigned long samples)
{
	if (options->runs > 1 && isatty(STDERR_FILENO))
		fprintf(stderr, "\rrun %u of %u, %lu samples", run, options->runs,
			samples);
}

static void end_progress(const struct perf_options *options)
{
	if (options->runs > 1 && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

/* One after the other; what they share. */
struct series {
	const struct perf_options *options;
	const struct plan *plan;
	const char *no_samples;
	struct run_writer *writer;
	int signals;
	sigset_t mask;
	struct run_info first; /* the RUN's own run.json, written when all is known */
	unsigned done;
	unsigned long samples;
	unsigned long lost;
	bool started;
	bool interrupted;
	int wait_status; /* of the first run that failed, else 0 */
};

static int open_further(const struct run_writer *writer, unsigned run)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", run);
	if (mkdirat(writer->directory, name, 0700) < 0)
		return -1;
	return openat(writer->directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void take_result(
	struct series *series, const struct sampled *sampled, const struct run_info *info)
{
	series->started = sampled->started;
	series->interrupted = sampled->interrupted;
	series->samples += sampled->samples;
	series->lost += info->lost_samples;
	if (!series->wait_status)
		series->wait_status = sampled->wait_status;
}

static void note_sampling(struct run_info *info, const struct sampled *sampled)
{
	if (!sampled->recorder || info->no_samples)
		return;
	info->event = xstrdup(sampled->recorder->event);
	info->frequency = sampled->recorder->frequency;
}

/* Returns false where the series cannot go on. */
static bool run_one(struct series *series, unsigned run)
{
	struct run_info further = {0};
	struct run_info *info = run == 1 ? &series->first : &further;
	cleanup_fd int own = -1;
	struct sampled sampled = {
		.plan = series->plan,
		.recorder = series->no_samples ? NULL : &series->options->recorder,
		.no_samples = series->no_samples,
		.directory = series->writer->directory,
		.signals = series->signals,
		.mask = &series->mask,
		.again = run > 1,
	};

	if (run > 1) {
		own = open_further(series->writer, run);
		if (own < 0) {
			warn("cannot keep run %u: %s", run, strerror(errno));
			return false;
		}
		sampled.directory = own;
	}
	if (sampled_run(&sampled, info) < 0)
		return false;
	note_sampling(info, &sampled);
	take_result(series, &sampled, info);
	cleanup_free char *text = run > 1 ? run_info_format(info) : NULL;
	bool good = run == 1 || (text && run_write_file(sampled.directory, "run.json",
						 text, strlen(text)) == 0);
	if (!good)
		warn("cannot write run.json of run %u: %s", run, strerror(errno));
	series->done += good;
	run_info_release(&further);
	return good && sampled.started;
}

static void run_all(struct series *series)
{
	/* Runs without samples have nothing to merge. */
	unsigned runs = series->no_samples ? 1 : series->options->runs;

	for (unsigned run = 1; run <= runs && !series->interrupted; run++) {
		show_progress(series->options, run, series->samples);
		if (!run_one(series, run))
			break;
		/* perf failing once fails again. */
		if (run == 1 && series->first.no_samples)
			break;
	}
	end_progress(series->options);
}

static void report(const struct series *series, const char *path)
{
	if (series->first.no_samples)
		warn("kept in '%s', without samples", path);
	else
		warn("kept in '%s': %lu samples (%s at %lu Hz%s), %lu lost", path,
			series->samples, series->first.event, series->first.frequency,
			series->done > 1 ? ", all runs" : "", series->lost);
	if (series->done < series->options->runs && !series->first.no_samples)
		warn("%u of %u runs were made", series->done, series->options->runs);
}

static void finish(struct series *series)
{
	char message[RUN_MESSAGE];

	if (!series->started && series->done <= 1) {
		run_abandon(series->writer);
		return;
	}
	series->first.runs = series->done ? series->done : 1;
	cleanup_free char *path = xstrdup(series->writer->path);
	if (run_finish(series->writer, &series->first, message) < 0)
		warn("%s", message);
	else
		report(series, path);
	run_release(series->writer);
}

/* Ends as the program did: by its status, or by the signal that killed it. */
static int end_as(int wait_status)
{
	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	/* The program has left its core file; ours would replace it. */
	int number = WTERMSIG(wait_status);
	sigset_t set;
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	signal(number, SIG_DFL);
	raise(number);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + number;
}

/* What a user or a terminal stops a program with is for the program: we end after it. A
 * limit on file sizes and a closed pipe are errors to report, not deaths. Blocked, not
 * ignored, because the program inherits what is ignored. */
static int hold_signals(struct series *series)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, &series->mask);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	series->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return series->signals < 0 ? -1 : 0;
}

static int record(
	const struct perf_options *options, const struct plan *plan, const char *cause)
{
	struct run_writer writer;
	char message[RUN_MESSAGE];
	struct series series = {
		.options = options, .plan = plan, .no_samples = cause, .writer = &writer};

	if (hold_signals(&series) < 0) {
		warn("cannot receive signals: %s", strerror(errno));
		return STATUS_TROUBLE;
	}
	if (run_begin(&writer, options->output, plan->file, options->force, message) <
		0) {
		warn("%s", message);
		return STATUS_TROUBLE;
	}
	run_reserve(&writer);
	if (cause)
		warn("no samples are taken: %s", cause);
	run_all(&series);
	finish(&series);
	run_info_release(&series.first);
	return end_as(series.wait_status);
}

/* The same by an engine: the options are for stablerun on the hosts. */
static int record_elsewhere(const struct perf_options *options, const struct plan *plan)
{
	struct series series = {0};
	struct strv perf;

	if (hold_signals(&series) < 0) {
		warn("cannot receive signals: %s", strerror(errno));
		return STATUS_TROUBLE;
	}
	strv_init(&perf);
	strv_add(&perf, xasprintf("--frequency=%lu", options->recorder.frequency));
	strv_add(
		&perf, xasprintf("--call-graph=%s", options->recorder.call_graph
							    ? options->recorder.call_graph
							    : "none"));
	if (options->recorder.event)
		strv_add(&perf, xasprintf("--event=%s", options->recorder.event));
	int wait_status = engine_record(
		&options->engine, &(struct engine_job){.runs = options->runs,
					  .output = options->output,
					  .force = options->force,
					  .file = plan->file,
					  .perf_options = &perf,
					  .command = &options->passed,
					  .signals = series.signals,
					  .mask = &series.mask});
	strv_release(&perf);
	return end_as(wait_status);
}

int perf_main(int argc, char **argv)
{
	struct perf_options perf;
	struct options options;
	struct plan plan = {0};

	parse(&perf, argc, argv);
	options_parse(&options, (int)perf.passed.count, perf.passed.items);
	options.kept = true;
	int status = decide(&plan, &options);
	if (status)
		return status;
	if (options.plan != PLAN_RUN) {
		status = decide_print(&plan, &options);
	} else if (perf.engine.name) {
		status = record_elsewhere(&perf, &plan);
	} else {
		cleanup_free char *cause = decide_sampling(&perf);
		status = record(&perf, &plan, cause);
	}
	plan_release(&plan);
	strv_release(&perf.passed);
	return status;
}
