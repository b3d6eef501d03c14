/* The plan's part on the start block: environment, pad and stack limit. */
#include "launcher/plan_block.h"

#include <stdbool.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/environment.h"
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/pad.h"
#include "launcher/plan.h"

static const rlim_t mebibyte = 1 << 20;

/* The soft stack limit decides where mmap begins only from 128 MiB on, and unlimited
 * turns the layout around (arch/x86/mm/mmap.c: mmap_base). Below that it still sizes the
 * stacks of glibc's threads. 8 MiB is the kernel's own default. */
static const rlim_t usual_stack = 8 << 20;
/* With this much stack the kernel accepts the most of arguments and environment. */
static const rlim_t large_stack = 24 << 20;
/* In less than this the pad would take too much of what the program has. */
static const rlim_t least_padded_stack = 1 << 20;

static const char *const sources[] = {
	[ENV_PINNED] = "default",
	[ENV_KEEP] = "option --env=keep",
	[ENV_CLEAN] = "option --env=clean",
};

void plan_variables(
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

static struct pad_block weigh(const struct plan *plan)
{
	struct pad_block block = {
		.string_bytes = strlen(plan->exec) + 1,
		.pointers = plan->argv.count + plan->envp.count + 3,
	};

	for (size_t i = 0; i < plan->argv.count; i++)
		block.string_bytes += strlen(plan->argv.items[i]) + 1;
	for (size_t i = 0; i < plan->envp.count; i++)
		block.string_bytes += strlen(plan->envp.items[i]) + 1;
	return block;
}

/* How many bytes of strings and pointers execve takes (fs/exec.c: bprm_stack_limits): a
 * quarter of the stack, 128 KiB at least, 6 MiB at most. */
static rlim_t most_bytes(rlim_t soft)
{
	if (soft / 4 < 128 << 10)
		return 128 << 10;
	return soft / 4 > 6 << 20 ? 6 << 20 : soft / 4;
}

/* The stack limit under which `bytes` fit: the usual one if it does, else more if the
 * hard limit allows. */
static rlim_t stack_for(size_t bytes, rlim_t hard)
{
	rlim_t soft = bytes > most_bytes(usual_stack) ? large_stack : usual_stack;

	return soft < hard ? soft : hard;
}

/* A limit in words. Returns owned. */
static char *describe_limit(rlim_t limit)
{
	if (limit == RLIM_INFINITY)
		return xstrdup("unlimited");
	if (limit % mebibyte)
		return xasprintf("%llu bytes", (unsigned long long)limit);
	return xasprintf("%llu MiB", (unsigned long long)(limit / mebibyte));
}

static void pin_stack(struct plan *plan, const struct rlimit *caller, size_t bytes)
{
	rlim_t hard = caller->rlim_max, soft = stack_for(bytes, hard);
	const char *source = "default";

	if (soft == hard && hard < usual_stack) {
		source = "machine: the hard limit";
		plan_warn(plan,
			"the hard limit on the stack is %llu bytes: addresses can differ "
			"from runs under the usual 8 MiB",
			(unsigned long long)hard);
	} else if (soft != usual_stack) {
		source = "size of arguments and environment";
		plan_warn(plan,
			"arguments and environment take %zu bytes, which need a stack limit "
			"of %llu MiB: addresses can differ from runs under the usual 8 MiB",
			bytes, (unsigned long long)(soft / mebibyte));
	}
	plan->limits[plan->limit_count++] = (struct plan_limit){
		.resource = RLIMIT_STACK, .name = "stack", .limit = {soft, hard}};
	cleanup_free char *value = describe_limit(soft);
	cleanup_free char *theirs = describe_limit(caller->rlim_cur);
	/* Who set more may have had a deep recursion in mind. */
	if (caller->rlim_cur > soft)
		plan_pin(plan, "stack limit", source, "%s (the caller's: %s)", value,
			theirs);
	else
		plan_pin(plan, "stack limit", source, "%s", value);
}

/* Adds the pad at envp[0]. A second, empty variable makes the number of words on the
 * stack even: then the stacks of the program's children, whose blocks differ from ours by
 * a fixed amount of bytes and words, are fixed as well. Returns the bytes of the padded
 * block, or 0 where the kernel would not take them; then nothing was added. */
static size_t add_pad(struct plan *plan, rlim_t hard)
{
	bool odd = (weigh(plan).pointers + 1) % 2;

	if (odd)
		strv_insert(&plan->envp, 0, xstrdup(PAD_EVEN));
	struct pad_block block = weigh(plan);
	block.pointers++;
	size_t total = pad_total(&block);
	if (total <= most_bytes(stack_for(total, hard)) && hard >= least_padded_stack) {
		strv_insert(&plan->envp, 0, pad_string(pad_size(&block)));
		plan_pin(plan, "stack pad", sources[plan->env], "%zu bytes in " PAD_NAME,
			pad_size(&block));
		return total;
	}
	if (odd)
		strv_remove(&plan->envp, 0);
	plan_warn(plan,
		hard < least_padded_stack
			? "the stack is not padded, its hard limit is too low: stack "
			  "addresses follow the size of the environment"
			: "the stack is not padded, arguments and environment are too large: "
			  "stack addresses follow their size");
	return 0;
}

void plan_block(
	struct plan *plan, const struct options *options, const struct machine *machine)
{
	rlim_t hard = machine->stack.rlim_max;
	size_t bytes = 0;

	if (options->env == ENV_KEEP) {
		plan_pin(plan, "environment", sources[ENV_KEEP],
			"%zu variables as they are, not padded: stack addresses follow them",
			plan->envp.count);
	} else {
		environment_sort(&plan->envp);
		plan_pin(plan, "environment", sources[options->env],
			"%zu variables, sorted", plan->envp.count);
		bytes = add_pad(plan, hard);
	}
	if (!bytes) {
		struct pad_block block = weigh(plan);

		bytes = block.string_bytes + 8 * block.pointers;
	}
	pin_stack(plan, &machine->stack, bytes);
}
