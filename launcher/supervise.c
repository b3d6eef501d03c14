/* Supervising: what the program's own process does before it becomes the program. */
#include "launcher/supervise.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

/* The sockets of the start. */
struct sockets {
	int listeners
		[2]; /* the program sends the listener twice, each helper takes one */
	int link[2]; /* between the helpers */
};

static int sockets_open(struct sockets *sockets)
{
	int type = SOCK_SEQPACKET | SOCK_CLOEXEC;

	if (socketpair(AF_UNIX, type, 0, sockets->listeners))
		return -1;
	if (!socketpair(AF_UNIX, type, 0, sockets->link))
		return 0;
	base_close_descriptor(&sockets->listeners[0]);
	base_close_descriptor(&sockets->listeners[1]);
	return -1;
}

/* A helper's start. */
struct helper {
	const struct supervisor_job *job;
	const struct sockets *sockets;
	int supervisor; /* the watchdog's pidfd of it */
};

/* What the process that starts the helpers goes by. */
struct middle {
	struct supervisor_job *job;
	struct sockets sockets;
	struct helper helpers[2]; /* the supervisor, the watchdog */
};

static int be_supervisor(void *argument)
{
	const struct helper *helper = argument;

	close(helper->sockets->link[1]);
	supervisor_run(
		helper->job, helper->sockets->listeners[1], helper->sockets->link[0]);
}

static int be_watchdog(void *argument)
{
	const struct helper *helper = argument;

	close(helper->sockets->link[0]);
	watchdog_run(helper->job, helper->sockets->listeners[1], helper->sockets->link[1],
		helper->supervisor);
}

/* Stacks beside the other data: mappings of their own would need page tables of their own,
 * which cost more than all else that is done here. */
enum stack { STACK_SUPERVISOR, STACK_WATCHDOG, STACK_MIDDLE, STACKS };
enum { STACK_SIZE = 512 << 10 };
static char stacks[STACKS][STACK_SIZE] __attribute__((aligned(4096)));

/* A process that shares our memory as a thread would and nothing else: copying page tables
 * would cost more than all the rest of the start. What this rests on: until the execve,
 * which leaves the memory to the helpers, the program's process only makes system calls
 * (and, where the execve fails, writes a message while the helpers wait for requests); the
 * watchdog allocates nothing while the supervisor lives. */
static pid_t start_sharing(int (*be)(void *), void *argument, enum stack stack)
{
	/* The sanitizers keep books on stacks and threads that this would upset. */
#ifdef __SANITIZE_ADDRESS__
	pid_t pid = stack == STACK_MIDDLE ? vfork() : fork();
	if (pid == 0)
		_exit(be(argument));
	return pid;
#else
	enum { USED = 16 << 10 };
	char *end = stacks[stack] + STACK_SIZE;
	base_populate(end - USED, USED);
	return clone(be, end, CLONE_VM | SIGCHLD, argument);
#endif
}

/* What it stores in the job the program's process sees. The watchdog is made after the
 * supervisor, to hold a descriptor of it. */
static int start_helpers(void *argument)
{
	struct middle *middle = argument;
	struct supervisor_job *job = middle->job;
	struct helper *helpers = middle->helpers;

	close(middle->sockets.listeners[0]);
	helpers[0] = helpers[1] = (struct helper){job, &middle->sockets, -1};
	job->supervisor = start_sharing(be_supervisor, &helpers[0], STACK_SUPERVISOR);
	job->error = errno;
	if (job->supervisor > 0)
		helpers[1].supervisor = (int)syscall(SYS_pidfd_open, job->supervisor, 0);
	if (helpers[1].supervisor >= 0)
		start_sharing(be_watchdog, &helpers[1], STACK_WATCHDOG);
	return 0;
}

/* The helpers are nobody's children: the program's waits see its own alone. Whoever starts
 * them is begun here, and works while the caller goes on. Returns its pid, or -1 with
 * errno. */
static pid_t begin_helpers(struct middle *middle, struct supervisor_job *job)
{
	middle->job = job;
	job->request = watchdog_share();
	if (!job->request || sockets_open(&middle->sockets))
		return -1;
	pid_t pid = start_sharing(start_helpers, middle, STACK_MIDDLE);
	if (pid < 0) {
		int error = errno;
		struct sockets *sockets = &middle->sockets;
		for (int i = 0; i < 2; i++) {
			close(sockets->listeners[i]);
			close(sockets->link[i]);
		}
		errno = error;
	}
	return pid;
}

/* Returns the socket that the listener is to be sent to, or -1 with errno. */
static int await_helpers(struct middle *middle, pid_t pid)
{
	struct supervisor_job *job = middle->job;
	struct sockets *sockets = &middle->sockets;

	/* ECHILD where SIGCHLD is ignored. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(sockets->listeners[1]);
	close(sockets->link[0]);
	close(sockets->link[1]);
	if (job->supervisor > 0)
		return sockets->listeners[0];
	close(sockets->listeners[0]);
	errno = job->error;
	return -1;
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

/* 0; or the errno of what refused to be supervised, in which case nothing is left behind; or
 * -1 after a message where there is no way on. */
static int start(struct supervisor_job *job, const struct filter_loader *loader)
{
	/* Not on a stack that this process goes on using. */
	struct middle *middle = xcalloc(1, sizeof(*middle));
	pid_t pid = begin_helpers(middle, job);

	if (pid < 0)
		return errno;
	/* The helpers must not be under the filter, and are not: who makes them exists, and
	 * a filter is its thread's and what that makes later. Installing it takes the kernel
	 * as long as their start, so both are done at once. */
	cleanup_fd int listener = filter_install(job->wants, loader);
	int refused = errno;
	cleanup_fd int socket = await_helpers(middle, pid);
	if (listener < 0)
		return refused;
	if (socket < 0) {
		/* The filter stays, and nobody would answer. */
		warn("cannot start the supervisor: %s", strerror(errno));
		return -1;
	}
	/* From here on nothing works without them. What is sent need not have been received
	 * for us to go on: a message holds on to the listener as well. */
	if (passing_send(socket, listener, 0) || passing_send(socket, listener, 0)) {
		warn("the supervisor died before the program began");
		return -1;
	}
	/* Where Yama restricts ptrace, reading and writing memory needs this too. */
	prctl(PR_SET_PTRACER, job->supervisor, 0, 0, 0);
	return 0;
}

/* What the helpers share is not on a stack that this process goes on using. */
static struct supervisor_job *new_job(const struct plan *plan)
{
	struct supervisor_job *job = xcalloc(1, sizeof(*job));

	*job = (struct supervisor_job){
		.wants = plan_wants(plan),
		.seed = plan->seed,
		.clock_ns = (uint64_t)plan->clock_ms * 1000000,
		.began = image_monotonic_now(),
		.program = getpid(),
		.place = plan->place == PLACE_MOVE,
		.plan = plan,
		.directory = -1,
	};
	return job;
}

/* Begins what is to be kept. 0, or an exit status after a message. */
static int begin_run(struct supervisor_job *job, const struct plan *plan)
{
	if (!plan->run && plan->keep_in < 0)
		return 0;
	job->info = xcalloc(1, sizeof(*job->info));
	if (plan->run) {
		job->writer = xcalloc(1, sizeof(*job->writer));
		int status = keep_begin(job->writer, plan);
		if (status)
			return status;
		job->directory = job->writer->directory;
	} else {
		job->directory = plan->keep_in;
		kept_promise(plan->keep_in);
	}
	job->info->pid = job->program;
	job->info->start = run_clock_now();
	return 0;
}

/* Where the kernel is going to put the code of ld.so: it is the first mapping below
 * mmap_base, which without randomisation and with a stack limit of up to 128 MiB is always
 * the same (arch/x86/mm/mmap.c). */
static struct filter_loader find_loader(const struct plan *plan)
{
	static const char path[] = "/lib64/ld-linux-x86-64.so.2";
	const uint64_t mmap_base = 0x7ffff7fff000, page = 4096;
	struct filter_loader loader = {0, 0};
	union {
		Elf64_Ehdr header;
		uint8_t bytes[2048];
	} head;
	uint64_t end = 0;

	if (plan->place != PLACE_PERSONALITY)
		return loader;
	cleanup_fd int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, head.bytes, sizeof(head.bytes));
	if (size != (ssize_t)sizeof(head.bytes) ||
		head.header.e_phoff > sizeof(head.bytes))
		return loader;
	for (unsigned i = 0; i < head.header.e_phnum; i++) {
		Elf64_Phdr segment;
		uint64_t offset = head.header.e_phoff + i * sizeof(segment);
		if (offset + sizeof(segment) > sizeof(head.bytes))
			break;
		memcpy(&segment, head.bytes + offset, sizeof(segment));
		if (segment.p_type != PT_LOAD)
			continue;
		end = (segment.p_vaddr + segment.p_memsz + page - 1) / page * page;
		if (segment.p_flags & PF_X)
			loader = (struct filter_loader){
				segment.p_vaddr, segment.p_vaddr + segment.p_memsz};
	}
	loader.begin += mmap_base - end;
	loader.end += mmap_base - end;
	return loader;
}

int supervise_start(const struct plan *plan)
{
	if (!supervise_wanted(plan))
		return 0;
	struct supervisor_job *job = new_job(plan);
	int status = begin_run(job, plan);
	if (status)
		return status;
	struct filter_loader loader = find_loader(plan);
	int error = start(job, &loader);
	if (error < 0)
		return STATUS_TROUBLE;
	if (error == 0)
		return 0;
	warn("warning: going on unsupervised: %s", refusal(error));
	if (plan->keep_in >= 0)
		kept_break_promise(plan->keep_in);
	return plan->run ? keep_watch(job->writer, job->info, plan) : 0;
}
