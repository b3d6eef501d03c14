/* Deciding: options, machine and command become a plan. No system calls here. */
#include "launcher/plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

#include "launcher/base.h"
#include "launcher/command.h"
#include "launcher/environment.h"
#include "launcher/machine.h"
#include "launcher/place.h"
#include "launcher/place_load.h"
#include "launcher/plan_block.h"
#include "launcher/rules.h"
#include "launcher/supervise.h"

void plan_pin(
	struct plan *plan, const char *name, const char *source, const char *format, ...)
{
	struct pin pin = {.name = name, .source = xstrdup(source)};
	va_list list;

	va_start(list, format);
	if (vasprintf(&pin.value, format, list) < 0)
		die(STATUS_TROUBLE, "out of memory");
	va_end(list);
	plan->pins = xreallocarray(plan->pins, plan->pin_count + 1, sizeof(pin));
	plan->pins[plan->pin_count++] = pin;
}

void plan_warn(struct plan *plan, const char *format, ...)
{
	char *text;
	va_list list;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		die(STATUS_TROUBLE, "out of memory");
	va_end(list);
	strv_add(&plan->warnings, text);
}

void plan_refuse(struct plan *plan, const char *format, ...)
{
	va_list list;

	if (plan->refusal)
		return;
	va_start(list, format);
	if (vasprintf(&plan->refusal, format, list) < 0)
		die(STATUS_TROUBLE, "out of memory");
	va_end(list);
}

void plan_setenv(struct plan *plan, const char *name, const char *value)
{
	environment_set(&plan->envp, name, value);
}

const char *plan_getenv(const struct plan *plan, const char *name)
{
	return environment_get(plan->envp.items, name);
}

static void decide_command(
	struct plan *plan, const struct machine *machine, const struct command *command)
{
	plan->file = xstrdup(command->file);
	plan->exec = xstrdup(command->exec);
	plan->cwd = machine->cwd ? xstrdup(machine->cwd) : NULL;
	strv_copy(&plan->argv, command->argv.items);
	if (plan->exec[0] != '/')
		plan_warn(plan,
			"the working directory is gone: '%s' is executed by a relative path",
			plan->exec);
	plan_pin(plan, "program", command->scripts ? "its '#!' line" : "default", "%s",
		plan->exec);
}

/* What the kernel or a filter would not honour: 'cause' becomes the refusal of a run that
 * was asked for with this very option, else a warning. */
static void give_up(struct plan *plan, const struct options *options, const char *cause)
{
	plan->place = PLACE_OFF;
	if (options->place == PLACE_AUTO)
		plan_warn(plan, "addresses are not stable: %s", cause);
	else
		plan_refuse(plan, "cannot fix addresses: %s", cause);
}

/* It traces nobody, so that it may be traced. */
static const char *load_obstacle(const struct machine *machine)
{
	struct place_facts facts = machine->place;

	facts.tracer = 0;
	return place_facts_obstacle(&facts);
}

static void choose_place(struct plan *plan, const struct options *options,
	const struct machine *machine, const struct command *command)
{
	static const char refused[] = "personality(ADDR_NO_RANDOMIZE) is refused (a "
				      "container's seccomp filter)";
	const char *obstacle;
	cleanup_free char *cause = NULL;

	plan->place = options->place;
	if (plan->place == PLACE_OFF)
		return;
	if (command->privilege) {
		cause = xasprintf(
			"'%s' has privileges (%s) and the kernel randomises it: run a "
			"copy without them, or start stablerun under 'setpriv --no-new-privs'",
			plan->exec, command->privilege);
		give_up(plan, options, cause);
		return;
	}
	if (plan->place == PLACE_AUTO)
		plan->place = machine->persona_refused ? PLACE_MOVE : PLACE_PERSONALITY;
	if (plan->place == PLACE_PERSONALITY && machine->persona_refused) {
		cause = xasprintf("%s: allow it there, as 'docker run --security-opt "
				  "seccomp=PROFILE' does with a profile that permits "
				  "personality, or use --place=move",
			refused);
		give_up(plan, options, cause);
	} else if (plan->place == PLACE_LOAD && (obstacle = load_obstacle(machine))) {
		give_up(plan, options, obstacle);
	} else if (plan->place == PLACE_MOVE &&
		   (obstacle = place_facts_obstacle(&machine->place))) {
		cause = options->place == PLACE_MOVE
				? xstrdup(obstacle)
				: xasprintf("%s, and the program cannot be moved: %s",
					  refused, obstacle);
		give_up(plan, options, cause);
	}
}

static void decide_place(struct plan *plan, const struct options *options,
	const struct machine *machine, const struct command *command)
{
	const char *source = options->place_given ? "option --place" : "default";

	plan->persona = machine->persona;
	choose_place(plan, options, machine, command);
	switch (plan->place) {
	case PLACE_PERSONALITY:
		plan->persona |= ADDR_NO_RANDOMIZE;
		plan_pin(plan, "addresses", source, "not randomised (personality %#lx)",
			plan->persona);
		break;
	case PLACE_MOVE:
		plan->place_required = options->place == PLACE_MOVE;
		plan_pin(plan, "addresses",
			options->place == PLACE_MOVE ? source
						     : "machine: personality is refused",
			"moved to fixed places before the first instruction");
		break;
	case PLACE_LOAD:
		plan_pin(plan, "addresses", source,
			"loaded at fixed places without execve: %s", place_load_cost);
		break;
	default:
		plan_pin(plan, "addresses",
			options->place == PLACE_OFF ? source : "machine",
			machine->persona & ADDR_NO_RANDOMIZE
				? "not randomised (inherited personality %#lx)"
				: "RANDOM (personality %#lx)",
			plan->persona);
	}
}

/* What is answered for the kernel; a rule may have asked for it as well. */
static void decide_supervision(struct plan *plan, const struct options *options)
{
	cleanup_free char *rule = xasprintf("rule %s", plan->rule ? plan->rule : "?");

	if (plan->seeded)
		plan_pin(plan, "randomness", options->seeded ? "option --seed" : rule,
			"seed %llu: NOT RANDOM. Keys, tokens and passwords made in this run "
			"are NOT SECRET",
			(unsigned long long)plan->seed);
	if (plan->clock_ms)
		plan_pin(plan, "clock", options->clock_given ? "option --clock" : rule,
			"CLOCK_MONOTONIC stands still and threads take turns for the first "
			"%u ms that each program computes",
			plan->clock_ms);
}

/* The personality is inherited; places are not, so that each execve needs a helper. */
static void note_children(struct plan *plan)
{
	if (plan->place == PLACE_LOAD && (plan->hold || supervise_wanted(plan)))
		plan_refuse(plan,
			"cannot fix addresses: --place=load executes nothing that could be "
			"supervised or held: it goes without -o, --seed, --clock and --hold, "
			"and with --rule=none");
	if (plan->place != PLACE_MOVE && plan->place != PLACE_LOAD)
		return;
	if (supervise_wanted(plan))
		plan_pin(plan, "children", "supervision",
			"moved likewise when they execute a program");
	else if (!(plan->persona & ADDR_NO_RANDOMIZE))
		plan_pin(plan, "children", "machine",
			"RANDOM when they execute a program%s",
			plan->place == PLACE_MOVE
				? ", as the run is not supervised (--seed)"
				: "");
}

void plan_make(struct plan *plan, const struct options *options,
	const struct machine *machine, const struct command *command,
	const struct rule *rule)
{
	*plan = (struct plan){
		.env = options->env,
		.seeded = options->seeded,
		.seed = options->seed,
		.clock_ms = options->clock_ms,
		.run = options->run ? xstrdup(options->run) : NULL,
		.force = options->force,
		.hold = options->hold,
		.keep_in = -1,
		.cpu = options->cpu,
	};
	strv_init(&plan->argv);
	strv_init(&plan->envp);
	strv_init(&plan->dropped);
	strv_init(&plan->warnings);
	strv_init(&plan->collect);
	decide_command(plan, machine, command);
	decide_place(plan, options, machine, command);
	plan_variables(plan, options, machine);
	/* Before they are weighed. */
	if (rule)
		rules_apply(plan, rule, options->kept, machine->first_cpu);
	if (options->clock_given)
		plan->clock_ms = options->clock_ms;
	plan_block(plan, options, machine);
	decide_supervision(plan, options);
	note_children(plan);
	if (options->cpu >= 0) {
		plan_pin(plan, "cpu", "option --cpu", "%d", plan->cpu);
		plan_pin(plan, "scheduling", "option --cpu", PLAN_TURNS);
	}
}

void plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->pin_count; i++) {
		free(plan->pins[i].value);
		free(plan->pins[i].source);
	}
	free(plan->pins);
	free(plan->file);
	free(plan->exec);
	free(plan->cwd);
	free(plan->rule);
	free(plan->run);
	free(plan->refusal);
	strv_release(&plan->argv);
	strv_release(&plan->envp);
	strv_release(&plan->dropped);
	strv_release(&plan->warnings);
	strv_release(&plan->collect);
	*plan = (struct plan){0};
}
