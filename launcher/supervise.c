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

/* A helper's start; lives as long as its stack. */
struct helper {
	const struct supervisor_job *job;
	const struct sockets *sockets;
	int supervisor; /* the watchdog's pidfd of it */
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

/* A process that shares our memory as a thread would and nothing else: copying page tables
 * would cost more than all the rest of the start. What this rests on: until the execve,
 * which leaves the memory to the helpers, the program's process only makes system calls
 * (and, where the execve fails, writes a message while the helpers wait for requests); the
 * watchdog allocates nothing while the supervisor lives. */
static pid_t start_helper(int (*be)(void *), struct helper *helper)
{
	enum { STACK_SIZE = 512 << 10 };

	/* The sanitizers keep books on stacks and threads that this would upset. */
#ifdef __SANITIZE_ADDRESS__
	pid_t pid = fork();
	if (pid == 0)
		_exit(be(helper));
	return pid;
#else
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED)
		return -1;
	return clone(be, stack + STACK_SIZE, CLONE_VM | SIGCHLD, helper);
#endif
}

/* In a child made by vfork: what it stores the program's process sees. The watchdog is made
 * after the supervisor, to hold a descriptor of it; both when there is no filter yet, which
 * they must not be under. */
_Noreturn static void start_helpers(
	struct supervisor_job *job, const struct sockets *sockets)
{
	struct helper *helpers = xcalloc(2, sizeof(*helpers));

	close(sockets->listeners[0]);
	helpers[0] = helpers[1] = (struct helper){job, sockets, -1};
	job->supervisor = start_helper(be_supervisor, &helpers[0]);
	job->error = errno;
	if (job->supervisor > 0)
		helpers[1].supervisor = (int)syscall(SYS_pidfd_open, job->supervisor, 0);
	if (helpers[1].supervisor >= 0)
		start_helper(be_watchdog, &helpers[1]);
	_exit(0);
}

/* The helpers are nobody's children: the program's waits see its own alone. Returns the
 * socket that the listener is to be sent to, or -1 with errno. */
static int fork_helpers(struct supervisor_job *job)
{
	struct sockets *sockets = xcalloc(1, sizeof(*sockets));

	job->request = watchdog_share();
	if (!job->request || sockets_open(sockets))
		return -1;
	pid_t middle = vfork();
	if (middle == 0)
		start_helpers(job, sockets);
	int error = middle < 0 ? errno : job->error;
	/* ECHILD where SIGCHLD is ignored. */
	while (middle > 0 && waitpid(middle, NULL, 0) < 0 && errno == EINTR)
		;
	close(sockets->listeners[1]);
	close(sockets->link[0]);
	close(sockets->link[1]);
	if (job->supervisor > 0)
		return sockets->listeners[0];
	close(sockets->listeners[0]);
	errno = error;
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
	cleanup_fd int socket = fork_helpers(job);

	if (socket < 0)
		return errno;
	cleanup_fd int listener = filter_install(job->wants, loader);
	if (listener < 0)
		return errno;
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
