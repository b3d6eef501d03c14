/* From a command line to its plan. */
#include "launcher/decide.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/command.h"
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/place.h"
#include "launcher/plan.h"

int decide(struct plan *plan, const struct options *options)
{
	struct machine machine;
	struct command command;

	machine_read(&machine, environ);
	int status = command_find(&command, &machine, options->command);
	if (!status) {
		/* Nobody else pays for them. */
		if (options->place == PLACE_MOVE || machine.persona_refused)
			place_facts_read(&machine.place, command.exec);
		plan_make(plan, options, &machine, &command);
	}
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
