/* From a command line to its plan. */
#include "launcher/decide.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/command.h"
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/place.h"
#include "launcher/plan.h"
#include "launcher/rules.h"

static int first_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return -1;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET((unsigned)i, &cpus))
			return i;
	}
	return -1;
}

/* Leaves `rule` empty where there is none. Returns 0 or STATUS_TROUBLE. */
static int find_rule(
	struct rule *rule, const struct options *options, const struct command *command)
{
	struct rule_subject subject = {.file = command->file,
		.exec = command->exec,
		.script = command->scripts > 0};

	if (options->rule && strcmp(options->rule, "none") == 0)
		return 0;
	return rules_find(rule, &subject, options->rule) < 0 ? STATUS_TROUBLE : 0;
}

int decide(struct plan *plan, const struct options *options)
{
	struct machine machine;
	struct command command;
	struct rule rule = {0};

	machine_read(&machine, environ);
	int status = command_find(&command, &machine, options->command);
	/* A script's interpreter has its own name from the `#!` line. */
	if (!status && options->argv0 && !command.scripts) {
		strv_remove(&command.argv, 0);
		strv_insert(&command.argv, 0, xstrdup(options->argv0));
	}
	if (!status)
		status = find_rule(&rule, options, &command);
	if (!status) {
		if (rule.one_cpu)
			machine.first_cpu = first_cpu();
		/* Nobody else pays for them. */
		if (options->place == PLACE_MOVE || options->place == PLACE_LOAD ||
			machine.persona_refused)
			place_facts_read(&machine.place, command.exec);
		plan_make(plan, options, &machine, &command, rule.name ? &rule : NULL);
	}
	rule_release(&rule);
	command_release(&command);
	machine_release(&machine);
	return status;
}

int decide_print(const struct plan *plan, const struct options *options)
{
	int result = options->plan == PLAN_JSON ? plan_print_json(plan, stdout)
						: plan_print_text(plan, stdout);

	if (result || fflush(stdout))
		die(STATUS_TROUBLE, "cannot write to standard output: %s",
			strerror(errno));
	return 0;
}
