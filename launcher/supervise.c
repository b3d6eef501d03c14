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
#include "launcher/passing.h"
#include "launcher/plan.h"
#include "launcher/supervisor.h"

static unsigned plan_wants(const struct plan *plan)
{
	unsigned wants = 0;

	if (plan->seeded)
		wants |= FILTER_SEED;
	if (plan->clock_ms)
		wants |= FILTER_CLOCK;
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
	default: return strerror(error);
	}
}

int supervise_start(const struct plan *plan)
{
	struct supervisor_job job = {
		.wants = plan_wants(plan),
		.seed = plan->seed,
		.clock_ns = (uint64_t)plan->clock_ms * 1000000,
		.program = getpid(),
		.place = plan->place == PLACE_MOVE,
	};
	int64_t supervisor = 0;

	if (!job.wants)
		return 0;
	cleanup_fd int socket = fork_supervisor(&job);
	if (socket < 0) {
		warn("warning: going on unsupervised: cannot start a supervisor: %s",
			strerror(errno));
		return 0;
	}
	cleanup_fd int listener = filter_install(job.wants);
	if (listener < 0) {
		warn("warning: going on unsupervised: %s", refusal(errno));
		return 0;
	}
	/* From here on nothing works without it. */
	if (passing_send(socket, listener, 0) ||
		(passing_receive(socket, &supervisor), supervisor <= 0)) {
		warn("the supervisor died before the program began");
		return STATUS_TROUBLE;
	}
	/* Where Yama restricts ptrace, reading and writing memory needs this too. */
	prctl(PR_SET_PTRACER, supervisor, 0, 0, 0);
	return 0;
}
