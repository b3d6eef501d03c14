/* The helper process that moves the program: made just before execve, gone before the
 * program's first instruction.
 *
 * It is an orphan, so that the program has no child that it does not know of, in a
 * session of its own, so that no Ctrl-C or SIGSTOP for the program's group reaches it,
 * and shares this process's memory until the execve gives the program its own, as copying
 * would cost more than all the rest. */
#include <errno.h>
#include <fcntl.h>
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

enum { STACK_SIZE = 512 << 10, PARENT_STACK_SIZE = 32 << 10 };

struct helper {
	struct place_order order;
	pid_t program;
	int pipe[2]; /* from the helper to its first parent */
	char *stack;
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
	ptrace(PTRACE_DETACH, pid, 0, 0);
}

static int seize(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)
		       ? errno
		       : 0;
}

static void place(const struct remote *remote, const struct place_order *order)
{
	struct place_result result;

	if (!order->move) {
		kill(remote->pid, SIGSTOP);
		ptrace(PTRACE_DETACH, remote->pid, 0, 0);
		return;
	}
	place_move(remote->pid, &result);
	let_go(remote->pid, order, &result);
}

/* Ends by returning: AddressSanitizer does not like _exit() on a stack of our own. */
static int run_helper(void *data)
{
	/* The program goes on with its stack once it knows that it is seized. */
	struct helper helper = *(struct helper *)data;
	struct remote remote = {helper.program, -1};
	int error = seize(helper.program);

	if (write(helper.pipe[1], &error, sizeof(error)) < 0 || error)
		return 0;
	setsid();
	if (!remote_wait(&remote, PTRACE_CONT, REMOTE_EXEC))
		place(&remote, &helper.order);
	return 0;
}

/* The helper's first parent, whose end makes it an orphan. Tells how it went by its exit
 * status: 0 or an errno. */
static int run_parent(void *data)
{
	struct helper *helper = data;
	int error;

	if (pipe2(helper->pipe, O_CLOEXEC) ||
		clone(run_helper, helper->stack + STACK_SIZE, CLONE_VM | SIGCHLD,
			helper) < 0)
		return errno;
	/* So that the read ends if the helper does. */
	close(helper->pipe[1]);
	if (read(helper->pipe[0], &error, sizeof(error)) != sizeof(error))
		error = ECHILD;
	return error;
}

/* Returns 0 once this process is seized, or an errno. */
static int start(struct helper *helper)
{
	/* Never unmapped: it goes with this memory at execve. */
	size_t size = STACK_SIZE + PARENT_STACK_SIZE;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	int status;

	if (stack == MAP_FAILED)
		return errno;
	helper->stack = stack;
	pid_t parent = clone(run_parent, stack + size, CLONE_VM | CLONE_VFORK, helper);
	if (parent < 0)
		return errno;
	while (waitpid(parent, &status, __WALL) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
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
	int error = start(helper);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (yama)
		prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	return error;
}

int place_prepare(const struct place_order *order)
{
	struct helper helper = {.order = *order, .program = getpid()};
	int error = prepare(&helper);

	if (!error)
		return 0;
	/* EPERM: ptrace is refused, or somebody traces this process already. */
	const char *failure = order->hold	? "cannot hold the program"
			      : order->required ? "cannot fix addresses"
						: "warning: addresses are not stable";
	warn("%s: cannot start a helper that traces it: %s", failure, strerror(error));
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
