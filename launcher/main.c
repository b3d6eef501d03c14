/* stablerun: runs a command at stable addresses. The subcommands' table, and a plain run.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "launcher/again.h"
#include "launcher/base.h"
#include "launcher/decide.h"
#include "launcher/diff.h"
#include "launcher/gather.h"
#include "launcher/gdb.h"
#include "launcher/launch.h"
#include "launcher/options.h"
#include "launcher/perf.h"
#include "launcher/plan.h"
#include "launcher/rules.h"
#include "launcher/show.h"
#include "launcher/sibling.h"
#include "launcher/stack.h"
#include "launcher/verify.h"

const char program_name[] = "stablerun";

/* A row for each subcommand; `run` gets the vector from the subcommand's name on, so that
 * getopt finds what it expects in argv[0], and returns the exit status. A row exists once
 * its file does; the prototype stands in that file's header, and the subcommand in
 * stablerun.1. */
static const struct subcommand {
	const char *name;
	int (*run)(int argc, char **argv);
} subcommands[] = {
	{"annotate", annotate_main},
	{"diff", diff_main},
	{"gather", gather_main},
	{"gdb", gdb_main},
	{"jit", jit_main},
	{"perf", perf_main},
	{"rules", rules_main},
	{"show", show_main},
	{"verify", verify_main},
};

static const struct subcommand *find_subcommand(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i].name, word))
			return &subcommands[i];
	return NULL;
}

static int execute_plan(struct plan *plan, const struct options *options)
{
	int status =
		options->plan == PLAN_RUN ? launch(plan) : decide_print(plan, options);

	plan_release(plan);
	return status;
}

static int run_again(const struct options *options)
{
	struct plan plan;
	int status = again_plan(&plan, options);

	if (!status)
		return execute_plan(&plan, options);
	plan_release(&plan);
	return status;
}

static int run_command(int argc, char **argv)
{
	struct options options;
	struct plan plan;

	options_parse(&options, argc, argv);
	if (options.again)
		return run_again(&options);
	int status = decide(&plan, &options);
	if (status)
		return status;
	return execute_plan(&plan, &options);
}

static int run(int argc, char **argv)
{
	const struct subcommand *subcommand = argc > 1 ? find_subcommand(argv[1]) : NULL;

	if (subcommand)
		return subcommand->run(argc - 1, argv + 1);
	return run_command(argc, argv);
}

int main(int argc, char **argv)
{
	/* With its caller's personality, limits and environment as input, it must never
	 * act with more rights than its caller. */
	if (getauxval(AT_SECURE))
		die(STATUS_TROUBLE,
			"refusing to run set-user-ID, set-group-ID or with file "
			"capabilities: it needs no privileges");
	return stack_run(run, argc, argv);
}
