/* Keeping a plain run: a helper that watches from outside.
 *
 *   stablerun ── fork ── middle (exits) ── fork ── helper: own session, no descriptors of
 * the │                                           caller's but stderr └─ execve: the
 * program, with stablerun's pid, parent and descriptors
 *
 * A pipe that closes on exec tells the helper when the program has begun. */
#include "launcher/keep.h"

#include "launcher/base.h"
#include "launcher/detach.h"
#include "launcher/options.h"
#include "launcher/plan.h"
#include "launcher/run.h"
#include "launcher/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The most that a process name holds: 15 bytes. */
static const char name_until_exec[] = "stablerun-waits";

static void note_limits(struct run_info *info, const struct plan *plan)
{
	run_note_limits(info);
	for (size_t i = 0; i < info->limit_count; i++) {
		for (size_t j = 0; j < plan->limit_count; j++) {
			if (strcmp(info->limits[i].name, plan->limits[j].name) != 0)
				continue;
			info->limits[i].soft = plan->limits[j].limit.rlim_cur;
			info->limits[i].hard = plan->limits[j].limit.rlim_max;
		}
	}
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void keep_note_plan(struct run_info *info, const struct plan *plan)
{
	info->stablerun = xstrdup(VERSION);
	strv_copy(&info->argv, plan->argv.items);
	strv_copy(&info->env, plan->envp.items);
	info->exec = xstrdup(plan->exec);
	info->cwd = copy(plan->cwd);
	info->rule = copy(plan->rule);
	info->place = xstrdup(options_place_name(plan->place));
	info->personality = plan->persona;
	info->runs = 1;
	for (size_t i = 0; i < plan->pin_count; i++)
		run_pin_add(info, plan->pins[i].name, plan->pins[i].value,
			plan->pins[i].source);
	info->seeded = plan->seeded;
	info->seed = plan->seed;
	info->clock_ms = plan->clock_ms;
	info->on_one_cpu = plan->cpu >= 0;
	info->one_cpu = plan->cpu >= 0 ? (unsigned)plan->cpu : 0;
	for (size_t i = 0; i < plan->warnings.count; i++)
		strv_add(&info->notes, xstrdup(plan->warnings.items[i]));
	note_limits(info, plan);
	run_note_machine(info);
	info->start = run_clock_now();
}

static void helper_detach(
	const struct run_writer *writer, const struct watch *watch, int gate)
{
	int kept[] = {STDERR_FILENO, writer->directory, writer->parent, watch->pidfd,
		watch->stat, gate};

	detach_session();
	detach_descriptors(kept, ARRAY_SIZE(kept));
}

/* Waits for the exec, or for stablerun's end without one: then it still has the name it
 * gave itself, also as a zombie, where a program's exec gives it the program's. */
static bool wait_for_exec(int gate, const struct watch *watch)
{
	char byte, text[64] = "";

	while (read(gate, &byte, 1) < 0 && errno == EINTR)
		;
	return pread(watch->stat, text, sizeof(text) - 1, 0) <= 0 ||
	       !strstr(text, name_until_exec);
}

void keep_collect(int directory, struct run_info *info, const struct plan *plan)
{
	info->finish = run_clock_now();
	run_note_build_ids_at(info, directory, "maps.exit");
	run_collect(directory, info, info->cwd, &plan->collect);
}

static void finish(
	struct run_writer *writer, struct run_info *info, const struct plan *plan)
{
	char message[RUN_MESSAGE];

	keep_collect(writer->directory, info, plan);
	if (run_finish(writer, info, message) < 0)
		warn("%s", message);
	run_release(writer);
}

_Noreturn static void help(struct run_writer *writer, struct run_info *info,
	const struct plan *plan, struct watch *watch, int gate)
{
	helper_detach(writer, watch, gate);
	run_reserve(writer);
	if (!wait_for_exec(gate, watch)) {
		run_abandon(writer);
		_exit(0);
	}
	watch_executed(watch);
	while (!watch_wait(watch, -1))
		;
	watch_note_end(watch);
	watch_ended(watch);
	finish(writer, info, plan);
	_exit(0);
}

static int start_helper(
	struct run_writer *writer, struct run_info *info, const struct plan *plan)
{
	int gate[2];
	struct watch watch;

	if (watch_init(&watch, getpid(), writer->directory, info) < 0 ||
		pipe2(gate, O_CLOEXEC) < 0)
		return -1;
	pid_t middle = fork();
	if (middle < 0)
		return -1;
	if (middle == 0) {
		close(gate[1]);
		pid_t helper = fork();
		if (helper == 0)
			help(writer, info, plan, &watch, gate[0]);
		_exit(helper < 0 ? 1 : 0);
	}
	int status;
	while (waitpid(middle, &status, 0) < 0 && errno == EINTR)
		;
	close(gate[0]);
	watch_release(&watch);
	prctl(PR_SET_NAME, name_until_exec);
	/* gate[1] stays open: the exec closes it. */
	if (status != 0) {
		errno = EAGAIN;
		return -1;
	}
	return 0;
}

int keep_begin(struct run_writer *writer, const struct plan *plan)
{
	char message[RUN_MESSAGE];

	if (run_begin(writer, plan->run, plan->file, plan->force, message) < 0) {
		warn("%s", message);
		return STATUS_TROUBLE;
	}
	return 0;
}

int keep_watch(struct run_writer *writer, struct run_info *info, const struct plan *plan)
{
	keep_note_plan(info, plan);
	if (start_helper(writer, info, plan) == 0)
		return 0;
	warn("cannot start the helper that keeps the run: %s", strerror(errno));
	run_abandon(writer);
	return STATUS_TROUBLE;
}
