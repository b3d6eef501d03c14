/* The helper process that moves the program: made just before execve, gone before the
 * program's first instruction.
 *
 * It is an orphan, so that the program has no child that it does not know of, and in a
 * session of its own, so that no Ctrl-C or SIGSTOP for the program's group reaches it. It
 * shares this process's memory, as copying would cost more than all the rest: until the
 * execve, which leaves the memory to it alone, it makes no call that may fail (errno is
 * shared as well) or allocates. Where a supervisor shares that memory, it has a copy. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/detach.h"
#include "launcher/options.h"
#include "launcher/place.h"
#include "launcher/place_move.h"
#include "launcher/remote.h"

enum {
	STACK_SIZE = 512 << 10,
	STACK_USED = 112 << 10, /* for a usual program */
	PARENT_STACK_SIZE = 32 << 10,
};

/* What the launcher waits for, as a futex. At the helper's end the kernel stores 0 and
 * wakes it (CLONE_CHILD_CLEARTID). */
enum { HELPER_ENDED, HELPER_STARTING, HELPER_SEIZED };

struct helper {
	struct place_order order;
	pid_t program;
	int state;
	int error;	/* why it ended, an errno */
	char *stack;	/* or NULL, with a copy of the memory: */
	int pipe[2];	/* tells how it went then, in place of `state` */
	cpu_set_t cpus; /* of the program */
	bool shared;	/* both are on one of them only, */
	bool pinned;	/* until the helper lets the program go */
};

/* Makes the program exit by itself, so that the status is the launcher's. */
static void end(pid_t pid, uint64_t instruction)
{
	struct user_regs_struct regs;

	if (!instruction || ptrace(PTRACE_GETREGS, pid, 0, &regs)) {
		kill(pid, SIGKILL);
		return;
	}
	regs.rip = instruction;
	regs.rax = SYS_exit_group;
	regs.rdi = STATUS_TROUBLE;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
	ptrace(PTRACE_DETACH, pid, 0, 0);
}

/* What is left for this process to do, giving its memory back, takes as long as starting
 * a program does: on another CPU, if there is one, so that the program need not wait. */
static void make_way(const cpu_set_t *cpus)
{
	cpu_set_t others = *cpus;
	int cpu = sched_getcpu();

	if (cpu >= 0 && cpu < CPU_SETSIZE) {
		CPU_CLR(cpu, &others);
		sched_setaffinity(0, sizeof(others), &others);
	}
}

/* Lets the program go, or not. It stands before its first instruction. */
static void let_go(
	pid_t pid, const struct place_order *order, const struct place_result *result)
{
	if (result->outcome == PLACE_GONE)
		return;
	if (result->outcome == PLACE_BROKEN) {
		warn("cannot place the program, which is killed: %s", result->cause);
		kill(pid, SIGKILL);
		return;
	}
	if (result->outcome == PLACE_UNMOVED && order->required) {
		warn("cannot fix addresses: %s", result->cause);
		end(pid, result->instruction);
		return;
	}
	if (result->outcome == PLACE_UNMOVED && !order->quiet) {
		warn("warning: addresses are not stable: %s", result->cause);
	} else if (result->sealed && !order->quiet) {
		warn("warning: the kernel has sealed the vdso: it alone stays at a "
		     "random address");
	}
	if (order->hold)
		kill(pid, SIGSTOP);
	/* A pipe must not look open because of this process. Not before, as who waits for the
	 * end of one that the execve closes finds the program in its place then. */
	syscall(SYS_close_range, 0, ~0U, 0);
	ptrace(PTRACE_DETACH, pid, 0, 0);
}

/* With the helper goes the program, which would be half done, or at random places and
 * nobody would say so. */
static int seize(pid_t pid)
{
	long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

	return ptrace(PTRACE_SEIZE, pid, 0, options) ? errno : 0;
}

/* An affinity that was set is kept when the system allows a process more CPUs later on,
 * one that was not is not. So all CPUs are asked for; if those are not the same as before
 * it had been set. */
static void restore_cpus(pid_t pid, const cpu_set_t *before)
{
	cpu_set_t all, now;

	memset(&all, 0xff, sizeof(all));
	if (!sched_setaffinity(pid, sizeof(all), &all) &&
		!sched_getaffinity(pid, sizeof(now), &now) && CPU_EQUAL(&now, before))
		return;
	sched_setaffinity(pid, sizeof(*before), before);
}

static void place(const struct remote *remote, const struct helper *helper)
{
	struct place_result result;

	if (!helper->order.move) {
		kill(remote->pid, SIGSTOP);
		ptrace(PTRACE_DETACH, remote->pid, 0, 0);
		return;
	}
	place_move(remote->pid, &result);
	if (helper->pinned)
		restore_cpus(remote->pid, &helper->cpus);
	let_go(remote->pid, &helper->order, &result);
	if (helper->shared)
		make_way(&helper->cpus);
}

/* Memory for what is to be done while the program waits: getting it is slower than using
 * it. Where the kernel does not know MADV_POPULATE_WRITE (5.14) it comes as usual. */
static void prepare_stack(char *stack)
{
	madvise(stack + STACK_SIZE - STACK_USED, STACK_USED, MADV_POPULATE_WRITE);
}

/* The program goes on with its stack, where *helper may be, once it knows. */
static void tell(struct helper *helper, int error)
{
	helper->error = error;
	if (!helper->stack) {
		if (write(helper->pipe[1], &error, sizeof(error)) < 0)
			_exit(0);
		close(helper->pipe[1]);
	} else if (!error) {
		__atomic_store_n(&helper->state, HELPER_SEIZED, __ATOMIC_RELEASE);
		syscall(SYS_futex, &helper->state, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* Ends by returning: AddressSanitizer does not like _exit() on a stack of our own. */
static int run_helper(void *data)
{
	const struct helper helper = *(struct helper *)data;
	struct remote remote = {helper.program, -1};

	setsid();
	if (helper.stack)
		prepare_stack(helper.stack);
	int error = seize(helper.program);
	tell(data, error);
	if (!error && !remote_wait(&remote, PTRACE_CONT, REMOTE_EXEC))
		place(&remote, &helper);
	return 0;
}

/* The helper's first parent, whose end makes it an orphan. */
static int run_parent(void *data)
{
	struct helper *helper = data;

	if (clone(run_helper, helper->stack + STACK_SIZE,
		    CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD, helper, NULL, NULL,
		    &helper->state) < 0)
		helper->error = errno;
	return 0;
}

/* Returns 0 once this process is seized, or an errno. */
static int await_seized(struct helper *helper)
{
	int state;

	while ((state = __atomic_load_n(&helper->state, __ATOMIC_ACQUIRE)) ==
		HELPER_STARTING)
		syscall(SYS_futex, &helper->state, FUTEX_WAIT, state, NULL, NULL, 0);
	if (state == HELPER_SEIZED)
		return 0;
	return helper->error ? helper->error : ECHILD;
}

static int await_parent(pid_t parent)
{
	while (waitpid(parent, NULL, __WALL) < 0)
		if (errno != EINTR)
			return errno;
	return 0;
}

static int start(struct helper *helper)
{
	/* Never unmapped: it goes with this memory at execve. */
	size_t size = STACK_SIZE + PARENT_STACK_SIZE;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return errno;
	helper->stack = stack;
	helper->state = HELPER_STARTING;
	pid_t parent = clone(
		run_parent, stack + size, CLONE_VM | CLONE_VFORK | CLONE_FILES, helper);
	int error = parent < 0 ? errno : await_parent(parent);
	if (!error)
		error = helper->error ? helper->error : await_seized(helper);
	return error;
}

static int start_copy(struct helper *helper)
{
	int error = 0;

	if (pipe2(helper->pipe, O_CLOEXEC))
		return errno;
	pid_t parent = fork();
	if (parent == 0) {
		if (fork() == 0)
			run_helper(helper);
		_exit(0);
	}
	error = parent < 0 ? errno : await_parent(parent);
	/* So that the read ends if the helper does. */
	close(helper->pipe[1]);
	if (!error && read(helper->pipe[0], &error, sizeof(error)) != sizeof(error))
		error = ECHILD;
	close(helper->pipe[0]);
	return error;
}

/* The launcher's CPU for the helper too, and only that for both until the program has its
 * places: they run in turn, and telling another CPU to wake or to forget what it knows of
 * the program's memory takes longer than changing processes on this one. */
static bool share_cpu(cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	if (cpu < 0 || cpu >= CPU_SETSIZE ||
		sched_getaffinity(0, sizeof(*before), before) || CPU_COUNT(before) < 2)
		return false;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

static int prepare(struct helper *helper)
{
	sigset_t all, mask;

	/* Yama lets only its ancestors trace a process, or whom it has named. Where there
	 * is no Yama this fails. */
	bool yama = !prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	/* The helper inherits the mask. Signals for this process wait meanwhile. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	helper->shared = share_cpu(&helper->cpus);
	helper->pinned = helper->shared && helper->order.move && helper->order.alone;
	int error = helper->order.alone ? start(helper) : start_copy(helper);
	if (helper->shared && (error || !helper->pinned))
		restore_cpus(0, &helper->cpus);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (yama)
		prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	return error;
}

int place_prepare(const struct place_order *order)
{
	struct helper helper = {.order = *order, .program = getpid(), .pipe = {-1, -1}};
	int error = prepare(&helper);

	if (!error)
		return 0;
	/* EPERM: ptrace is refused, or somebody traces this process already. */
	const char *failure = order->hold	? "cannot hold the program"
			      : order->required ? "cannot fix addresses"
						: "warning: addresses are not stable";
	warn("%s: cannot start a helper that traces it: %s%s", failure, strerror(error),
		error == EPERM && order->move ? " (--place=load needs none)" : "");
	return order->required || order->hold ? STATUS_TROUBLE : 0;
}

/* Waits for how an execve ends that has begun. Returns the process that has executed
 * something, which is the thread group's, or 0 where none has. */
static pid_t await_execve(pid_t thread)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, __WALL);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0 || (!WIFSTOPPED(status) && pid == thread))
			return 0;
		if (!WIFSTOPPED(status))
			continue;
		int signal = WSTOPSIG(status), event = status >> 16;
		if (event == PTRACE_EVENT_EXEC)
			return pid;
		if (event == PTRACE_EVENT_STOP && signal == SIGTRAP) {
			/* The interrupt that was asked for: back in the old program. */
			ptrace(PTRACE_DETACH, pid, 0, 0);
			return 0;
		}
		if (event == PTRACE_EVENT_STOP)
			ptrace(PTRACE_LISTEN, pid, 0, 0);
		else
			ptrace(PTRACE_CONT, pid, 0, (long)signal);
	}
}

/* A supervisor has no stderr of its own; the program's is right for what concerns it. */
static void borrow_stderr(pid_t pid)
{
	cleanup_fd int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	cleanup_fd int stream =
		pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, STDERR_FILENO, 0);

	if (stream >= 0)
		dup2(stream, STDERR_FILENO);
}

static _Noreturn void run_follower(pid_t thread, int ready)
{
	struct place_result result;
	int error = seize(thread);

	/* Delivered at the end of a failed execve, or after a good one's stop. */
	if (!error)
		ptrace(PTRACE_INTERRUPT, thread, 0, 0);
	if (write(ready, &error, sizeof(error)) < 0 || error)
		_exit(0);
	detach_descriptors(&(int){-1}, 1);
	pid_t pid = await_execve(thread);
	if (pid > 0) {
		place_move(pid, &result);
		if (result.outcome == PLACE_BROKEN)
			borrow_stderr(pid);
		let_go(pid, &(struct place_order){.quiet = true}, &result);
	}
	_exit(0);
}

int place_follow(pid_t thread)
{
	int ends[2], error;
	sigset_t all, mask;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid_t middle = fork();
	if (middle == 0) {
		if (fork() == 0)
			run_follower(thread, ends[1]);
		_exit(0);
	}
	error = middle < 0 ? errno : 0;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(ends[1]);
	if (!error && read(ends[0], &error, sizeof(error)) != sizeof(error))
		error = ECHILD;
	close(ends[0]);
	while (middle > 0 && waitpid(middle, NULL, 0) < 0 && errno == EINTR)
		;
	return error;
}
