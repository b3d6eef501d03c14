/* Scattering the runs of a series and gathering them. */
#include "launcher/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/options.h"
#include "launcher/sibling.h"
#include "launcher/strv.h"

enum {
	JOBS_MOST = 10000,
	MESSAGES_MOST = 16 << 20, /* of one run's standard error */
	SHOWN = 8,		  /* runs named one by one */
};

static const char staging_name[] = "engine";

/* ---- options ---- */

static unsigned long parse_jobs(const char *value)
{
	char *end;

	errno = 0;
	unsigned long number = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || errno || *end || number < 1 ||
		number > JOBS_MOST)
		die(STATUS_TROUBLE,
			"bad value '%s' for option '--jobs': expected a number from 1 to "
			"%d",
			value, JOBS_MOST);
	return number;
}

void engine_option(struct engine_options *options, const char *name, const char *value)
{
	if (strcmp(name, "engine") == 0) {
		if (strcmp(value, "parallel") != 0 && strcmp(value, "slurm") != 0)
			die(STATUS_TROUBLE,
				"bad value '%s' for option '--engine': expected parallel "
				"or slurm",
				value);
		options->name = value;
	} else if (strcmp(name, "hosts") == 0) {
		options->hosts = value;
	} else if (strcmp(name, "sshloginfile") == 0) {
		options->hosts_file = value;
	} else if (strcmp(name, "remote") == 0) {
		options->program = value;
	} else if (strcmp(name, "jobs") == 0) {
		options->jobs = parse_jobs(value);
	} else {
		options->differing = gather_differing(value);
	}
}

void engine_check(const struct engine_options *options)
{
	bool hosts = options->hosts || options->hosts_file;

	if (!options->name && (hosts || options->program || options->jobs))
		die(STATUS_TROUBLE, "options for other machines need --engine=parallel "
				    "or --engine=slurm");
	if (hosts && strcmp(options->name, "slurm") == 0)
		die(STATUS_TROUBLE, "Slurm chooses its nodes itself: --hosts and "
				    "--sshloginfile are for --engine=parallel");
	if (options->hosts && options->hosts[strspn(options->hosts, ", ")] == '\0')
		die(STATUS_TROUBLE, "no host in '--hosts=%s'", options->hosts);
}

/* ---- collecting ---- */

static int run_tar(
	const struct engine *engine, const char *archive, const char *directory)
{
	char *argv[] = {(char *)"tar", (char *)"-xf", (char *)archive, (char *)"-C",
		(char *)directory, NULL};
	int status = 0;
	pid_t pid = engine_start(engine, argv, "tar.log", NULL);

	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* Unpacks run N's archive and adds its RUN. 0, or -1 after one message. */
static int take_run(struct engine *engine, struct gather *gather, unsigned run)
{
	cleanup_free char *archive = xasprintf("%s/%u", engine->out, run);
	cleanup_free char *directory = xasprintf("%s/%u.dir", engine->out, run);
	cleanup_free char *path = xasprintf("%s/run", directory);
	char message[RUN_MESSAGE];

	if (mkdir(directory, 0700) < 0 || run_tar(engine, archive, directory) < 0) {
		warn("cannot unpack run %u of '%s'", run, engine->makers[run]);
		return -1;
	}
	unlink(archive);
	if (gather_add(gather, path, engine->makers[run], message) < 0) {
		warn("run %u of '%s' is no run: %s", run, engine->makers[run], message);
		return -1;
	}
	return 0;
}

static void take_runs(struct engine *engine, struct gather *gather)
{
	for (unsigned run = 1; run <= engine->job->runs; run++) {
		if (engine->makers[run] && take_run(engine, gather, run) == 0)
			continue;
		free(engine->makers[run]);
		engine->makers[run] = NULL;
		engine->missing++;
	}
}

/* What the programs wrote to standard output, in the order of the runs. */
static void show_output(const struct engine *engine, unsigned run)
{
	cleanup_free char *path = xasprintf("%s/%u.dir/out", engine->out, run);
	cleanup_fd int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char piece[64 << 10];
	ssize_t size;

	while (file >= 0 && (size = read(file, piece, sizeof(piece))) > 0)
		if (write(STDOUT_FILENO, piece, (size_t)size) < 0)
			return;
}

/* And to standard error; of what the launchers say there each thing is said once, and what
 * each of them kept not at all. */
static void show_messages(const struct engine *engine, unsigned run, struct strv *said)
{
	cleanup_free char *path = xasprintf("%s/%u.dir/err", engine->out, run);
	size_t size;
	cleanup_free char *text = run_read_file(AT_FDCWD, path, MESSAGES_MOST, &size);
	char *rest = text, *line;

	while (rest && *rest && (line = strsep(&rest, "\n"))) {
		if (strncmp(line, "stablerun: ", 11) == 0) {
			if (strncmp(line, "stablerun: kept in ", 19) == 0 ||
				strv_has(said, line))
				continue;
			strv_add(said, xstrdup(line));
		}
		fprintf(stderr, "%s%s", line, rest ? "\n" : "");
	}
}

static void show_outputs(const struct engine *engine)
{
	struct strv said;

	strv_init(&said);
	for (unsigned run = 1; run <= engine->job->runs; run++) {
		if (!engine->makers[run])
			continue;
		show_output(engine, run);
		show_messages(engine, run, &said);
	}
	strv_release(&said);
}

/* ---- telling ---- */

static void tell_missing(const struct engine *engine)
{
	char *list = xstrdup("");
	unsigned named = 0;

	for (unsigned run = 1; run <= engine->job->runs && named < SHOWN; run++) {
		if (engine->makers[run])
			continue;
		char *longer = xasprintf("%s%s%u", list, named++ ? ", " : "", run);
		free(list);
		list = longer;
	}
	warn("%u of %u runs were not made: %s%s", engine->missing, engine->job->runs,
		list, engine->missing > named ? ", …" : "");
	free(list);
}

/* How many runs each host made, hosts in the order of their first. */
static void tell_makers(const struct engine *engine)
{
	struct strv hosts;
	char *list = xstrdup("");

	strv_init(&hosts);
	for (unsigned run = 1; run <= engine->job->runs; run++) {
		const char *host = engine->makers[run];
		if (!host || strv_has(&hosts, host))
			continue;
		strv_add(&hosts, xstrdup(host));
		unsigned made = 0;
		for (unsigned i = run; i <= engine->job->runs; i++)
			made += engine->makers[i] && !strcmp(engine->makers[i], host);
		char *longer =
			xasprintf("%s%s%u by '%s'", list, *list ? ", " : "", made, host);
		free(list);
		list = longer;
	}
	warn("%u of %u runs were made: %s", engine->job->runs - engine->missing,
		engine->job->runs, list);
	free(list);
	strv_release(&hosts);
}

static void report(
	const struct gather *gather, const struct run_info *info, const char *path)
{
	warn("kept in '%s': %lu samples (%s at %lu Hz, all runs), %lu lost", path,
		(unsigned long)gather->samples, info->event ? info->event : "samples",
		info->frequency, (unsigned long)gather->lost);
}

/* ---- the whole ---- */

static int wait_status_of(const struct gather *gather)
{
	for (size_t i = 0; i < gather->count; i++) {
		const struct run_info *info = &gather->items[i].run.info;
		if (info->end == RUN_END_KILLED)
			return info->signal;
		if (info->end == RUN_END_EXITED && info->status)
			return info->status << 8;
	}
	return 0;
}

/* The gathered runs become the RUN, or nothing is left of them but what a message says. 0,
 * or -1 after it. The writer is released. */
static int make_run(struct engine *engine, struct gather *gather)
{
	struct run_info info = {0};
	char message[RUN_MESSAGE];

	if (gather_settle(gather, engine->options->differing) < 0) {
		run_abandon(&engine->writer);
		return -1;
	}
	if (gather_place(gather, &engine->writer, true, &info, message) < 0) {
		warn("%s", message);
		run_abandon(&engine->writer);
		return -1;
	}
	run_remove_tree(engine->writer.directory, staging_name);
	cleanup_free char *path = xstrdup(engine->writer.path);
	int result = run_finish(&engine->writer, &info, message);
	if (result < 0)
		warn("%s", message);
	else
		report(gather, &info, path);
	run_release(&engine->writer);
	run_info_release(&info);
	return result;
}

static int collect(struct engine *engine)
{
	struct gather gather = {0};
	int status = STATUS_TROUBLE << 8;

	take_runs(engine, &gather);
	show_outputs(engine);
	if (gather.count) {
		tell_makers(engine);
		status = wait_status_of(&gather);
	}
	if (engine->missing)
		tell_missing(engine);
	if (!gather.count)
		run_abandon(&engine->writer);
	else if (make_run(engine, &gather) < 0)
		status = STATUS_TROUBLE << 8;
	gather_release(&gather);
	return status;
}

static int make_staging(struct engine *engine)
{
	engine->staging = xasprintf("%s/%s", engine->writer.temporary_path, staging_name);
	engine->out = xasprintf("%s/out", engine->staging);
	if (mkdir(engine->staging, 0700) == 0 && mkdir(engine->out, 0700) == 0)
		return 0;
	warn("cannot create '%s': %s", engine->out, strerror(errno));
	return -1;
}

static void release(struct engine *engine)
{
	for (unsigned run = 0; run <= engine->job->runs; run++)
		free(engine->makers[run]);
	free(engine->makers);
	free(engine->staging);
	free(engine->out);
}

int engine_record(const struct engine_options *options, const struct engine_job *job)
{
	struct engine_options settled = *options;
	cleanup_free char *own = sibling_own_path();
	struct engine engine = {.options = &settled,
		.job = job,
		.makers = xcalloc((size_t)job->runs + 1, sizeof(char *))};
	char message[RUN_MESSAGE];
	int status = STATUS_TROUBLE << 8;

	if (!settled.program)
		settled.program = own;
	if (run_begin(&engine.writer, job->output, job->file, job->force, message) < 0) {
		warn("%s", message);
		release(&engine);
		return status;
	}
	int made = make_staging(&engine);
	if (made == 0)
		made = strcmp(settled.name, "slurm") == 0 ? engine_slurm(&engine)
							  : engine_parallel(&engine);
	if (made == 0)
		status = collect(&engine);
	else
		run_abandon(&engine.writer);
	release(&engine);
	return status;
}
