/* One run under perf: the program is our child, perf is attached to it before its exec.
 *
 *   stablerun perf ─┬─ child: waits at the gate ── launch(plan) ── execve: the program
 *                   └─ perf record -p CHILD, in a process group of its own */
#include "launcher/sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/keep.h"
#include "launcher/kept.h"
#include "launcher/launch.h"
#include "launcher/options.h"
#include "launcher/perfdata.h"
#include "launcher/plan.h"
#include "launcher/run.h"
#include "launcher/watch.h"

/* How the child and we take turns: it says 'r' when only its execve is left to do, waits for
 * a byte, and executes, which closes its end; or says 'x' when it cannot. */
struct gates {
	int go[2];
	int said[2];
};

_Noreturn static void be_program(const struct sampled *sampled, struct gates *gates)
{
	struct plan_outer outer = {.ready = gates->said[1], .gate = gates->go[0]};
	struct plan plan = *sampled->plan;

	close(gates->go[1]);
	close(gates->said[0]);
	sigprocmask(SIG_SETMASK, sampled->mask, NULL);
	plan.outer = &outer;
	if (sampled->again)
		plan.warnings.count = 0;
	plan.keep_in = sampled->directory;
	int status = launch(&plan);
	if (write(gates->said[1], "x", 1) < 0)
		_exit(STATUS_TROUBLE);
	_exit(status);
}

/* A signal of the terminal has reached the program as well, being of our group; one sent
 * to us alone is for the program, which the sender meant. */
static void pass_signals(struct sampled *sampled, pid_t pid)
{
	struct signalfd_siginfo got;

	while (read(sampled->signals, &got, sizeof(got)) == (ssize_t)sizeof(got)) {
		sampled->interrupted = true;
		if (got.ssi_code <= 0 && pid > 0)
			kill(pid, (int)got.ssi_signo);
	}
}

static void add_process(void *context, pid_t parent, pid_t pid)
{
	(void)parent;
	run_pid_add(context, pid);
}

static void read_samples(struct sampled *sampled, struct run_info *info)
{
	struct perfdata data = {.process = add_process, .context = info};

	if (perfdata_scan_file(&data, sampled->directory, "perf.data") < 0) {
		if (!info->no_samples)
			info->no_samples = xasprintf(
				"perf.data cannot be read: %s", strerror(errno));
		unlinkat(sampled->directory, "perf.data", 0);
		return;
	}
	sampled->samples = data.samples;
	info->lost_samples = data.lost;
	if (data.cut)
		strv_add(&info->notes,
			xstrdup("perf.data is cut: perf could not finish it"));
}

static void watch_program(struct sampled *sampled, struct watch *watch)
{
	while (!watch_wait(watch, sampled->signals))
		pass_signals(sampled, watch->pid);
}

/* The child's next word, or 0 where it closed its end. */
static char hear(const struct gates *gates)
{
	char byte;
	ssize_t got;

	do
		got = read(gates->said[0], &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? byte : 0;
}

static void start_recorder(struct sampled *sampled, struct run_info *info,
	struct recorder *recorder, pid_t pid)
{
	char *cause;

	if (!sampled->recorder || recorder_start(recorder, sampled->recorder, pid,
					  sampled->directory, &cause) == 0)
		return;
	warn("no samples are taken: %s", cause);
	info->no_samples = cause;
}

static void stop_recorder(
	struct sampled *sampled, struct run_info *info, struct recorder *recorder)
{
	char *cause;

	if (recorder->pid < 0)
		return;
	if (recorder_stop(recorder, &cause) < 0) {
		warn("samples are missing: %s", cause);
		strv_add(&info->notes, xasprintf("samples are missing: %s", cause));
		free(cause);
	}
	read_samples(sampled, info);
}

static void wait_for_end(struct sampled *sampled, pid_t pid)
{
	while (waitpid(pid, &sampled->wait_status, 0) < 0 && errno == EINTR)
		;
}

static void follow_program(
	struct sampled *sampled, struct run_info *info, struct gates *gates, pid_t pid)
{
	struct recorder recorder = {.pid = -1};
	struct watch watch;

	if (hear(gates) != 'r') {
		wait_for_end(sampled, pid);
		return;
	}
	start_recorder(sampled, info, &recorder, pid);
	bool watched = watch_init(&watch, pid, sampled->directory, info) == 0;
	info->start = run_clock_now();
	sampled->started = write(gates->go[1], "g", 1) == 1 && hear(gates) == 0;
	if (sampled->started && watched) {
		watch_executed(&watch);
		watch_program(sampled, &watch);
	}
	wait_for_end(sampled, pid);
	info->finish = run_clock_now();
	if (sampled->started)
		kept_merge(sampled->directory, info);
	if (watched) {
		watch_ended(&watch);
		watch_release(&watch);
	}
	stop_recorder(sampled, info, &recorder);
}

int sampled_run(struct sampled *sampled, struct run_info *info)
{
	struct gates gates = {{-1, -1}, {-1, -1}};
	pid_t pid = -1;

	keep_note_plan(info, sampled->plan);
	if (sampled->no_samples)
		info->no_samples = xstrdup(sampled->no_samples);
	if (pipe2(gates.go, O_CLOEXEC) == 0 && pipe2(gates.said, O_CLOEXEC) == 0)
		pid = fork();
	if (pid < 0) {
		warn("cannot start a process: %s", strerror(errno));
		return -1;
	}
	if (pid == 0)
		be_program(sampled, &gates);
	close(gates.go[0]);
	close(gates.said[1]);
	follow_program(sampled, info, &gates, pid);
	close(gates.go[1]);
	close(gates.said[0]);
	pass_signals(sampled, 0);
	run_note_end(info, sampled->wait_status);
	run_note_build_ids_at(info, sampled->directory, "maps.start");
	run_note_build_ids_at(info, sampled->directory, "maps.exit");
	run_collect(sampled->directory, info, info->cwd, &sampled->plan->collect);
	return 0;
}
