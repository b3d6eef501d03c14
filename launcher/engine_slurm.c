/* The runs as one array job of Slurm. The RUN's directory is to be seen by the nodes, as home
 * directories of a cluster are. Tasks that leave no run are submitted once more. */
#include "launcher/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/strv.h"

enum { NODE = 256 };

/* A node writes beside the archive's place and renames, so that what is there is whole. */
static char *make_script(const struct engine *engine)
{
	cleanup_free char *script = engine_script(engine->job, engine->options->program);

	/* The directory may have any name but no quotes inside it. */
	if (strchr(engine->out, '\'')) {
		warn("cannot hand the runs to Slurm: '%s' has a quote in it",
			engine->writer.path);
		return NULL;
	}
	return xasprintf(
		"#!/bin/sh\n"
		"run='%s'/$SLURM_ARRAY_TASK_ID\n"
		"echo \"${SLURMD_NODENAME:-$(uname -n)}\" >\"$run.node\"\n"
		"(\n%s) >\"$run.part\" 2>\"$run.err\" && mv \"$run.part\" \"$run\"\n",
		engine->out, script);
}

static bool is_made(const struct engine *engine, unsigned run)
{
	cleanup_free char *path = xasprintf("%s/%u", engine->out, run);

	return access(path, F_OK) == 0;
}

static unsigned count_made(struct engine *engine)
{
	unsigned made = 0;

	for (unsigned run = 1; run <= engine->job->runs; run++)
		made += is_made(engine, run);
	return made;
}

/* The runs that are not there yet, as --array has them: 1-20,25,30-31. NULL: none. */
static char *list_missing(const struct engine *engine)
{
	char *text = NULL;
	size_t size = 0;
	FILE *list = open_memstream(&text, &size);
	const char *comma = "";

	if (!list)
		return NULL;
	for (unsigned run = 1; run <= engine->job->runs; run++) {
		unsigned last = run;
		if (is_made(engine, run))
			continue;
		while (last < engine->job->runs && !is_made(engine, last + 1))
			last++;
		if (last > run)
			fprintf(list, "%s%u-%u", comma, run, last);
		else
			fprintf(list, "%s%u", comma, run);
		comma = ",";
		run = last;
	}
	fclose(list);
	if (size)
		return text;
	free(text);
	return NULL;
}

/* sbatch --parsable: JOB[;CLUSTER]. */
static void take_job(const struct engine *engine, int output)
{
	char text[NODE];
	ssize_t length = read(output, text, sizeof(text) - 1);

	close(output);
	if (length <= 0)
		return;
	text[length] = '\0';
	text[strcspn(text, ";\n")] = '\0';
	cleanup_free char *old = xasprintf("%s/job-id", engine->staging);
	unlink(old);
	engine_write(engine, "job-id", text, false);
}

static void cancel(struct engine *engine, pid_t pid)
{
	char *job = engine_last_line(engine, "job-id");

	if (job) {
		char *argv[] = {(char *)"scancel", job, NULL};
		pid_t canceller = engine_start(engine, argv, "log", NULL);
		if (canceller > 0)
			waitpid(canceller, NULL, 0);
	}
	free(job);
	kill(pid, SIGTERM);
}

static int submit(struct engine *engine, const char *list)
{
	struct strv argv;
	int output = -1;

	strv_init(&argv);
	strv_add(&argv, xstrdup("sbatch"));
	strv_add(&argv, xstrdup("--parsable"));
	strv_add(&argv, xstrdup("--wait"));
	strv_add(&argv, xstrdup("--job-name=stablerun"));
	strv_add(&argv, engine->options->jobs ? xasprintf("--array=%s%%%lu", list,
							engine->options->jobs)
					      : xasprintf("--array=%s", list));
	strv_add(&argv, xasprintf("--output=%s/%%a.log", engine->out));
	strv_add(&argv, xasprintf("%s/job", engine->staging));
	pid_t pid = engine_start(engine, argv.items, "log", &output);
	strv_release(&argv);
	if (pid < 0)
		return -1;
	take_job(engine, output);
	int status = engine_wait(engine, pid, count_made, cancel);
	cleanup_free char *job = engine_last_line(engine, "job-id");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !job) {
		warn("cannot run 'sbatch': it is not installed (Debian's package: "
		     "slurm-client)");
		return -1;
	}
	if (!job) {
		cleanup_free char *words = engine_last_line(engine, "log");
		warn("Slurm took no job: %s", words ? words : "it gave no reason");
		return -1;
	}
	return 0;
}

static char *node_of(const struct engine *engine, unsigned run)
{
	cleanup_free char *name = xasprintf("out/%u.node", run);

	return engine_last_line(engine, name);
}

/* One line for each node, however many runs it lost. */
static void tell_failures(const struct engine *engine, const char *what)
{
	struct strv told;

	strv_init(&told);
	for (unsigned run = 1; run <= engine->job->runs; run++) {
		if (is_made(engine, run))
			continue;
		cleanup_free char *node = node_of(engine, run);
		const char *name = node ? node : "";
		if (strv_has(&told, name))
			continue;
		strv_add(&told, xstrdup(name));
		cleanup_free char *file = xasprintf("out/%u.err", run);
		cleanup_free char *log = xasprintf("out/%u.log", run);
		cleanup_free char *cause = engine_last_line(engine, file);
		cleanup_free char *other = engine_last_line(engine, log);
		if (node)
			warn("node '%s' failed%s: %s", node, what,
				cause	? cause
				: other ? other
					: "it left no run and no reason");
		else
			warn("run %u was not begun by any node%s", run, what);
	}
	strv_release(&told);
}

int engine_slurm(struct engine *engine)
{
	cleanup_free char *script = make_script(engine);

	if (!script || engine_write(engine, "job", script, true) < 0)
		return -1;
	cleanup_free char *all = list_missing(engine);
	if (submit(engine, all) < 0)
		return -1;
	cleanup_free char *missing = list_missing(engine);
	if (missing && !engine->interrupted) {
		tell_failures(engine, " and is tried once more");
		if (submit(engine, missing) < 0)
			return -1;
		tell_failures(engine, " again");
	}
	for (unsigned run = 1; run <= engine->job->runs; run++)
		if (is_made(engine, run))
			engine->makers[run] = node_of(engine, run);
	return 0;
}
