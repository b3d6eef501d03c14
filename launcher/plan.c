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
#include "launcher/pad.h"

/* The soft stack limit decides where mmap begins only from 128 MiB on, and unlimited
 * turns the layout around (arch/x86/mm/mmap.c: mmap_base). Below that it still sizes the
 * stacks of glibc's threads. 8 MiB is the kernel's own default. */
static const rlim_t stack_limit = 8 << 20;
/* Arguments and environment may take a quarter of it, and never more than 6 MiB
 * (fs/exec.c: bprm_stack_limits): this much stack allows the most. */
static const rlim_t stack_limit_most = 24 << 20;

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
			"the working directory is gone: '%s' is executed by a relative "
			"path",
			plan->exec);
	plan_pin(plan, "program", command->scripts ? "its '#!' line" : "default", "%s",
		plan->exec);
}

static void decide_variables(
	struct plan *plan, const struct options *options, const struct machine *machine)
{
	switch (options->env) {
	case ENV_PINNED:
		environment_pin(&plan->envp, &plan->dropped, machine->envp, machine->cwd);
		break;
	case ENV_CLEAN:
		environment_clean(&plan->envp, machine->envp, machine->cwd);
		break;
	case ENV_KEEP: strv_copy(&plan->envp, machine->envp); break;
	}
}

/* What to do about a personality that the kernel or a filter would not honour. */
static void decide_unstable(struct plan *plan, const struct options *options,
	const struct machine *machine, const struct command *command)
{
	char *cause;

	if (command->privilege)
		cause = xasprintf(
			"'%s' has privileges (%s) and the kernel randomises it: "
			"run a copy without them, or start stablerun under "
			"'setpriv --no-new-privs'",
			plan->exec, command->privilege);
	else if (machine->persona_refused)
		cause = xstrdup(
			"personality(ADDR_NO_RANDOMIZE) is refused (a container's "
			"seccomp "
			"filter): allow it there, as 'docker run --security-opt "
			"seccomp=PROFILE' does with a profile that permits personality");
	else
		return;
	plan->place = PLACE_OFF;
	if (options->place == PLACE_PERSONALITY)
		plan_refuse(plan, "cannot fix addresses: %s", cause);
	else
		plan_warn(plan, "addresses are not stable: %s", cause);
	free(cause);
}

static void decide_place(struct plan *plan, const struct options *options,
	const struct machine *machine, const struct command *command)
{
	const char *source = options->place_given ? "option --place" : "default";

	plan->place = options->place;
	plan->persona = machine->persona;
	if (plan->place == PLACE_AUTO)
		plan->place = PLACE_PERSONALITY;
	if (plan->place == PLACE_PERSONALITY)
		decide_unstable(plan, options, machine, command);
	if (plan->place == PLACE_PERSONALITY) {
		plan->persona |= ADDR_NO_RANDOMIZE;
		plan_pin(plan, "addresses", source, "not randomised (personality %#lx)",
			plan->persona);
	} else if (plan->place == PLACE_OFF) {
		plan_pin(plan, "addresses",
			options->place == PLACE_OFF ? source : "machine",
			machine->persona & ADDR_NO_RANDOMIZE
				? "not randomised (inherited personality %#lx)"
				: "RANDOM (personality %#lx)",
			plan->persona);
	}
}

/* Weighs the start block as it stands. */
static void measure(const struct plan *plan, struct pad_block *block)
{
	*block = (struct pad_block){
		.string_bytes = strlen(plan->exec) + 1,
		.pointers = plan->argv.count + plan->envp.count + 3,
	};
	for (size_t i = 0; i < plan->argv.count; i++)
		block->string_bytes += strlen(plan->argv.items[i]) + 1;
	for (size_t i = 0; i < plan->envp.count; i++)
		block->string_bytes += strlen(plan->envp.items[i]) + 1;
}

/* Adds the pad at envp[0]. A second, empty variable makes the number of words on the
 * stack even: then the stacks of the program's children, whose blocks differ from ours by
 * a fixed amount of bytes and words, are fixed as well. */
static void add_pad(struct plan *plan, struct pad_block *block)
{
	if ((plan->argv.count + plan->envp.count + 1 + 3) % 2)
		strv_insert(&plan->envp, 0, xstrdup(PAD_EVEN));
	measure(plan, block);
	block->pointers++;
	strv_insert(&plan->envp, 0, pad_string(pad_size(block)));
}

static rlim_t quarter(rlim_t soft)
{
	return soft / 4;
}

static void pin_stack(struct plan *plan, const char *source, rlim_t soft, rlim_t hard)
{
	plan->limits[plan->limit_count++] = (struct plan_limit){
		.resource = RLIMIT_STACK, .name = "stack", .limit = {soft, hard}};
	if (soft % (1 << 20))
		plan_pin(plan, "stack limit", source, "%llu bytes",
			(unsigned long long)soft);
	else
		plan_pin(plan, "stack limit", source, "%llu MiB",
			(unsigned long long)(soft >> 20));
}

static void decide_stack(
	struct plan *plan, const struct machine *machine, const struct pad_block *block)
{
	rlim_t hard = machine->stack.rlim_max, soft = stack_limit;
	/* The kernel charges strings and pointers, the pad included. */
	size_t charged = plan->env == ENV_KEEP ? block->string_bytes + 8 * block->pointers
					       : pad_total(block);
	const char *source = "default";

	if (charged + 64 > quarter(soft)) {
		soft = stack_limit_most;
		source = "size of arguments and environment";
		plan_warn(plan,
			"arguments and environment take %zu bytes, more than a stack "
			"limit of "
			"8 MiB allows: it is set to %llu MiB for them",
			block->string_bytes, (unsigned long long)(soft >> 20));
	}
	if (hard < soft) {
		soft = hard;
		source = "machine: the hard limit";
		plan_warn(plan,
			"the hard limit on the stack is %llu bytes: addresses can differ "
			"from "
			"runs with the usual 8 MiB",
			(unsigned long long)hard);
	}
	pin_stack(plan, source, soft, hard);
}

static void decide_environment(
	struct plan *plan, const struct options *options, const struct machine *machine)
{
	static const char *const sources[] = {
		[ENV_PINNED] = "default",
		[ENV_KEEP] = "option --env=keep",
		[ENV_CLEAN] = "option --env=clean",
	};
	struct pad_block block;

	if (options->env == ENV_KEEP) {
		measure(plan, &block);
		plan_pin(plan, "environment", sources[ENV_KEEP],
			"%zu variables as they are, not padded: the stack moves with "
			"them",
			plan->envp.count);
		decide_stack(plan, machine, &block);
		return;
	}
	environment_sort(&plan->envp);
	plan_pin(plan, "environment", sources[options->env], "%zu variables, sorted",
		plan->envp.count);
	add_pad(plan, &block);
	plan_pin(plan, "stack pad", sources[options->env], "%zu bytes in " PAD_NAME,
		pad_size(&block));
	decide_stack(plan, machine, &block);
}

void plan_make(struct plan *plan, const struct options *options,
	const struct machine *machine, const struct command *command)
{
	*plan = (struct plan){
		.env = options->env,
		.seeded = options->seeded,
		.seed = options->seed,
		.run = options->run ? xstrdup(options->run) : NULL,
		.force = options->force,
		.cpu = options->cpu,
	};
	strv_init(&plan->argv);
	strv_init(&plan->envp);
	strv_init(&plan->dropped);
	strv_init(&plan->warnings);
	decide_command(plan, machine, command);
	decide_place(plan, options, machine, command);
	decide_variables(plan, options, machine);
	/* Here is the rules' step: arguments and variables, before they are weighed. */
	decide_environment(plan, options, machine);
	if (plan->cpu >= 0)
		plan_pin(plan, "cpu", "option --cpu", "%d", plan->cpu);
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
	*plan = (struct plan){0};
}
