/* A kept run's plan once more. run.json holds all that decided where things lie, so
 * nothing is decided anew: this is how gdb gets exactly the run that was profiled. */
#include "launcher/again.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/options.h"
#include "launcher/plan.h"
#include "launcher/run.h"

static bool same_arguments(const struct strv *argv, char *const *words, int count)
{
	if (argv->count != (size_t)count)
		return false;
	for (int i = 1; i < count; i++)
		if (strcmp(argv->items[i], words[i]))
			return false;
	return true;
}

static int choose_arguments(
	struct plan *plan, const struct run_info *info, const struct options *options)
{
	if (!options->command_count) {
		strv_copy(&plan->argv, info->argv.items);
		return 0;
	}
	if (strcmp(options->command[0], info->exec)) {
		warn("run '%s' executed '%s', not '%s'", options->again, info->exec,
			options->command[0]);
		return STATUS_TROUBLE;
	}
	/* gdb knows the program by its path: the run's own argv[0] is kept. */
	if (same_arguments(&info->argv, options->command, options->command_count))
		strv_copy(&plan->argv, info->argv.items);
	else
		strv_copy(&plan->argv, options->command);
	return 0;
}

static void copy_stack_limit(struct plan *plan, const struct run_info *info)
{
	struct rlimit own;

	for (size_t i = 0; i < info->limit_count; i++) {
		if (strcmp(info->limits[i].name, "stack"))
			continue;
		getrlimit(RLIMIT_STACK, &own);
		own.rlim_cur = info->limits[i].soft;
		plan->limits[plan->limit_count++] =
			(struct plan_limit){RLIMIT_STACK, "stack", own};
	}
}

static void copy_place(struct plan *plan, const struct run_info *info)
{
	plan->persona = info->personality;
	plan->place = PLACE_OFF;
	if (info->place && !strcmp(info->place, "move"))
		plan->place = PLACE_MOVE;
	else if (info->personality & ADDR_NO_RANDOMIZE)
		plan->place = PLACE_PERSONALITY;
	if (plan->place == PLACE_OFF)
		plan_warn(plan,
			"run '%s' had no stable addresses, so this one has none either",
			info->exec);
}

/* What was answered for the kernel, and where it ran. */
static void copy_supervision(struct plan *plan, const struct run_info *info)
{
	static const char *const names[] = {"randomness", "clock", "cpu"};

	plan->seeded = info->seeded;
	plan->seed = info->seed;
	plan->clock_ms = info->clock_ms;
	if (plan->cpu < 0 && info->on_one_cpu)
		plan->cpu = (int)info->one_cpu;
	for (size_t i = 0; i < info->pin_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			if (!strcmp(info->pins[i].name, names[j]))
				plan_pin(plan, names[j], "option --again", "%s",
					info->pins[i].value);
}

int again_plan(struct plan *plan, const struct options *options)
{
	char message[RUN_MESSAGE];
	struct run run;
	int status = 0;

	*plan = (struct plan){.keep_in = -1,
		.cpu = options->cpu,
		.env = ENV_KEEP,
		.hold = options->hold};
	if (run_open(&run, options->again, message)) {
		warn("%s", message);
		return STATUS_TROUBLE;
	}
	const struct run_info *info = &run.info;
	if (!info->exec || !info->argv.count) {
		warn("run '%s' does not say what it executed", options->again);
		status = STATUS_TROUBLE;
	} else if (info->cwd && chdir(info->cwd)) {
		warn("cannot enter the run's directory '%s': %s", info->cwd,
			strerror(errno));
		status = STATUS_TROUBLE;
	} else {
		status = choose_arguments(plan, info, options);
		plan->file = xstrdup(info->exec);
		plan->exec = xstrdup(info->exec);
		plan->cwd = info->cwd ? xstrdup(info->cwd) : NULL;
		strv_copy(&plan->envp, info->env.items);
		copy_stack_limit(plan, info);
		copy_place(plan, info);
		copy_supervision(plan, info);
		plan_pin(plan, "everything", "option --again", "as in the run '%s'",
			options->again);
	}
	run_close(&run);
	return status;
}
