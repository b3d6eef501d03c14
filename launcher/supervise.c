/* Supervising: what the program's own process does before it becomes the program. */
#include "launcher/supervise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/filter.h"
#include "launcher/options.h"
#include "launcher/keep.h"
#include "launcher/passing.h"
#include "launcher/plan.h"
#include "launcher/run.h"
#include "launcher/supervisor.h"

static unsigned plan_wants(const struct plan *plan)
{
	unsigned wants = 0;

	if (plan->seeded)
		wants |= FILTER_SEED;
	if (plan->clock_ms)
		wants |= FILTER_CLOCK;
	if (plan->run || plan->keep_in >= 0)
		wants |= FILTER_CODE;
	return wants;
}

bool supervise_wanted(const struct plan *plan)
{
	return plan_wants(plan) != 0;
}

/* The supervisor is nobody's child: the program's waits see its own children alone. It is
 * started before the filter is there, which it must not have itself. */
static int fork_supervisor(const struct supervisor_job *job)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	pid_t middle = fork();
	if (middle == 0) {
		close(ends[0]);
		pid_t supervisor = fork();
		if (supervisor == 0)
			supervisor_run(job, ends[1]);
		_exit(supervisor < 0);
	}
	close(ends[1]);
	if (middle < 0) {
		base_close_descriptor(&ends[0]);
		return -1;
	}
	/* ECHILD where SIGCHLD is ignored; how it went shows at the socket. */
	while (waitpid(middle, NULL, 0) < 0 && errno == EINTR)
		;
	return ends[0];
}

static const char *refusal(int error)
{
	switch (error) {
	case EBUSY:
		return "it is supervised already (another seccomp listener is installed)";
	case EINVAL: return "the kernel is too old (Linux 5.19 is needed)";
	case ENOSYS: return "the kernel has no seccomp filters";
	case EAGAIN: return "no more processes may be started";
	default: return strerror(error);
	}
}

/* 0; or the errno of what refused to be supervised, in which case nothing is left behind;
 * or -1 after a message where there is no way on. */
static int start(const struct supervisor_job *job)
{
	int64_t supervisor = 0;
	cleanup_fd int socket = fork_supervisor(job);

	if (socket < 0)
		return errno;
	cleanup_fd int listener = filter_install(job->wants);
	if (listener < 0)
		return errno;
	/* From here on nothing works without it. */
	if (passing_send(socket, listener, 0) ||
		(passing_receive(socket, &supervisor), supervisor <= 0)) {
		warn("the supervisor died before the program began");
		return -1;
	}
	/* Where Yama restricts ptrace, reading and writing memory needs this too. */
	prctl(PR_SET_PTRACER, supervisor, 0, 0, 0);
	return 0;
}

int supervise_start(const struct plan *plan)
{
	struct run_writer writer;
	struct run_info info = {0};
	struct supervisor_job job = {
		.wants = plan_wants(plan),
		.seed = plan->seed,
		.clock_ns = (uint64_t)plan->clock_ms * 1000000,
		.program = getpid(),
		.place = plan->place == PLACE_MOVE,
		.plan = plan,
		.directory = -1,
	};

	if (!job.wants)
		return 0;
	if (plan->run) {
		int status = keep_begin(&writer, &info, plan);
		if (status)
			return status;
		job.writer = &writer;
		job.info = &info;
		job.directory = writer.directory;
	}
	if (plan->keep_in >= 0) {
		keep_note_plan(&info, plan);
		info.pid = job.program;
		job.info = &info;
		job.directory = plan->keep_in;
		kept_promise(plan->keep_in);
	}
	int error = start(&job);
	if (error < 0)
		return STATUS_TROUBLE;
	if (error == 0)
		return 0;
	warn("warning: going on unsupervised: %s", refusal(error));
	if (plan->keep_in >= 0)
		kept_break_promise(plan->keep_in);
	return plan->run ? keep_watch(&writer, &info, plan) : 0;
}
