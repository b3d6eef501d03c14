/* Doing what a plan says, each step followed by its own failure line. */
#include "launcher/launch.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/binary.h"
#include "launcher/options.h"
#include "launcher/place.h"
#include "launcher/place_load.h"
#include "launcher/plan.h"
#include "launcher/supervise.h"

enum { PERSONA_READ = 0xffffffff };

/* On one CPU threads run in turns, and the longer a turn the less does the time decide what
 * happens in which order: a batch thread is not interrupted by one that wakes up, and a turn
 * is 100 ms, the most there is (from Linux 6.12 on; kernel/sched/syscalls.c). Where that
 * cannot be, or the caller has chosen otherwise, it stays as it is. */
static void set_turns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {.size = sizeof(attributes)};

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) ||
		attributes.policy != SCHED_OTHER)
		return;
	attributes.size = sizeof(attributes);
	attributes.policy = SCHED_BATCH;
	attributes.runtime = 100000000;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static int set_cpu(const struct plan *plan)
{
	cpu_set_t cpus;

	if (plan->cpu < 0)
		return 0;
	CPU_ZERO(&cpus);
	CPU_SET((unsigned)plan->cpu, &cpus);
	if (!sched_setaffinity(0, sizeof(cpus), &cpus)) {
		set_turns();
		return 0;
	}
	/* EINVAL: no such CPU, or none that this process may use. */
	warn("cannot run on CPU %d: %s", plan->cpu,
		errno == EINVAL ? "not among the CPUs that this process may use"
				: strerror(errno));
	return STATUS_TROUBLE;
}

static int set_limits(const struct plan *plan)
{
	for (size_t i = 0; i < plan->limit_count; i++) {
		const struct plan_limit *limit = &plan->limits[i];

		if (!setrlimit(limit->resource, &limit->limit))
			continue;
		warn("cannot set the %s limit to %llu: %s", limit->name,
			(unsigned long long)limit->limit.rlim_cur, strerror(errno));
		return STATUS_TROUBLE;
	}
	return 0;
}

static bool has_persona(const struct plan *plan)
{
	int persona = personality(PERSONA_READ);

	return persona >= 0 && (unsigned)persona == plan->persona;
}

static int set_persona(const struct plan *plan)
{
	/* Inherited flags need no setting, which a filter might refuse. */
	if (plan->place != PLACE_PERSONALITY || has_persona(plan))
		return 0;
	if (personality(plan->persona) < 0) {
		warn("cannot set personality %#lx: %s", plan->persona, strerror(errno));
		return STATUS_TROUBLE;
	}
	/* A filter may answer success and do nothing: only reading it back tells. */
	if (has_persona(plan))
		return 0;
	warn("cannot set personality %#lx: it reads back as %#x", plan->persona,
		(unsigned)personality(PERSONA_READ));
	return STATUS_TROUBLE;
}

static int prepare_move(const struct plan *plan)
{
	const struct place_order order = {
		.move = plan->place == PLACE_MOVE,
		.required = plan->place_required,
		.hold = plan->hold,
		.alone = !supervise_wanted(plan),
	};

	return order.move || order.hold ? place_prepare(&order) : 0;
}

static int load(const struct plan *plan)
{
	const char *cause = place_load(plan->exec, plan->argv.items, plan->envp.items);

	warn("cannot load '%s': %s", plan->exec, cause);
	return STATUS_TROUBLE;
}

static int execute(const struct plan *plan)
{
	if (plan->place == PLACE_LOAD)
		return load(plan);
	execve(plan->exec, plan->argv.items, plan->envp.items);
	int error = errno;
	cleanup_free char *cause = binary_explain(plan->exec, error);

	warn("cannot execute '%s': %s", plan->exec, cause);
	return error == ENOENT && access(plan->exec, F_OK) ? STATUS_NOT_FOUND
							   : STATUS_CANNOT_EXECUTE;
}

/* Nothing after this may be sampled but the program. */
static int wait_at_gate(const struct plan *plan)
{
	char byte = 'r';
	ssize_t got;

	if (!plan->outer)
		return 0;
	if (write(plan->outer->ready, &byte, 1) != 1)
		return STATUS_TROUBLE;
	do
		got = read(plan->outer->gate, &byte, 1);
	while (got < 0 && errno == EINTR);
	/* `stablerun perf` is gone, and with it whom to tell. */
	return got == 1 ? 0 : STATUS_TROUBLE;
}

int launch(const struct plan *plan)
{
	static int (*const steps[])(const struct plan *) = {
		set_cpu,
		set_limits,
		set_persona,
		prepare_move,
		supervise_start,
		wait_at_gate,
		execute,
	};

	for (size_t i = 0; i < plan->warnings.count; i++)
		warn("warning: %s", plan->warnings.items[i]);
	if (plan->refusal) {
		warn("%s", plan->refusal);
		return STATUS_TROUBLE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int status = steps[i](plan);
		if (status)
			return status;
	}
	return 0;
}
