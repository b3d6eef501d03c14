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

struct gates {
	int go[2];   /* a byte lets the child execute */
	int exec[2]; /* closes by the exec */
};

_Noreturn static void be_program(const struct sampled *sampled, struct gates *gates)
{
	char byte;
	ssize_t got;

	close(gates->go[1]);
	close(gates->exec[0]);
	do
		got = read(gates->go[0], &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(STATUS_TROUBLE); /* stablerun is gone */
	sigprocmask(SIG_SETMASK, sampled->mask, NULL);
	struct plan plan = *sampled->plan;
	plan.keep_in = sampled->directory;
	int status = launch(&plan);
	/* Says that no exec followed. */
	if (write(gates->exec[1], "x", 1) < 0)
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
	watch_ended(watch);
}

/* Lets the child go and waits for its exec. */
static bool let_go(struct gates *gates)
{
	char byte;
	ssize_t got;

	if (write(gates->go[1], "g", 1) < 0)
		return false;
	do
		got = read(gates->exec[0], &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 0;
}

static void follow_program(
	struct sampled *sampled, struct run_info *info, struct gates *gates, pid_t pid)
{
	struct recorder recorder = {.pid = -1};
	struct watch watch;
	char *cause = NULL;

	if (sampled->recorder && recorder_start(&recorder, sampled->recorder, pid,
					 sampled->directory, &cause) < 0) {
		warn("no samples are taken: %s", cause);
		info->no_samples = steal_pointer(&cause);
	}
	bool watched = watch_init(&watch, pid, sampled->directory, info) == 0;
	info->start = run_clock_now();
	sampled->started = let_go(gates);
	if (sampled->started && watched) {
		watch_executed(&watch);
		watch_program(sampled, &watch);
	}
	while (waitpid(pid, &sampled->wait_status, 0) < 0 && errno == EINTR)
		;
	info->finish = run_clock_now();
	if (watched)
		watch_release(&watch);
	if (recorder.pid >= 0) {
		if (recorder_stop(&recorder, &cause) < 0) {
			warn("samples are missing: %s", cause);
			strv_add(&info->notes,
				xasprintf("samples are missing: %s", cause));
			free(cause);
		}
		read_samples(sampled, info);
	}
}

int sampled_run(struct sampled *sampled, struct run_info *info)
{
	struct gates gates = {{-1, -1}, {-1, -1}};
	pid_t pid = -1;

	keep_note_plan(info, sampled->plan);
	if (sampled->no_samples)
		info->no_samples = xstrdup(sampled->no_samples);
	if (pipe2(gates.go, O_CLOEXEC) == 0 && pipe2(gates.exec, O_CLOEXEC) == 0)
		pid = fork();
	if (pid < 0) {
		warn("cannot start a process: %s", strerror(errno));
		return -1;
	}
	if (pid == 0)
		be_program(sampled, &gates);
	close(gates.go[0]);
	close(gates.exec[1]);
	follow_program(sampled, info, &gates, pid);
	close(gates.go[1]);
	close(gates.exec[0]);
	pass_signals(sampled, 0);
	run_note_end(info, sampled->wait_status);
	kept_merge(sampled->directory, info);
	run_note_build_ids(info, sampled->directory, "maps.start");
	run_note_build_ids(info, sampled->directory, "maps.exit");
	run_collect(sampled->directory, info, info->cwd, &sampled->plan->collect);
	return 0;
}
