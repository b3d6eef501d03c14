/* Work in another process that is stopped under ptrace. */
#include "launcher/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes the calls that rbx points to until one fails or has the number -1, and then
 * traps. Position independent; the kernel takes a result above -4096 as an error. */
__asm__(".pushsection .rodata\n"
	"remote_loop:\n"
	"1:	mov (%rbx), %rax\n"
	"	cmp $-1, %rax\n"
	"	je 2f\n"
	"	mov 8(%rbx), %rdi\n"
	"	mov 16(%rbx), %rsi\n"
	"	mov 24(%rbx), %rdx\n"
	"	mov 32(%rbx), %r10\n"
	"	mov 40(%rbx), %r8\n"
	"	mov 48(%rbx), %r9\n"
	"	syscall\n"
	"	cmp $-4095, %rax\n"
	"	jae 2f\n"
	"	add $56, %rbx\n"
	"	jmp 1b\n"
	"2:	int3\n"
	"remote_loop_end:\n"
	"	.popsection\n");
extern const char remote_loop[], remote_loop_end[];

int remote_open(struct remote *remote, pid_t pid)
{
	char path[64];

	*remote = (struct remote){.pid = pid, .memory = -1};
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	remote->memory = open(path, O_RDWR | O_CLOEXEC);
	return remote->memory < 0 ? -1 : 0;
}

void remote_close(struct remote *remote)
{
	if (remote->pid && remote->memory >= 0)
		close(remote->memory);
	*remote = (struct remote){.memory = -1};
}

int remote_read(const struct remote *remote, uint64_t address, void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = pread(remote->memory, (char *)data + done, size - done,
			(off_t)(address + done));
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			errno = count ? errno : EIO;
			return -1;
		}
		done += (size_t)count;
	}
	return 0;
}

/* For kernels whose /proc/PID/mem respects protections (proc_mem.force_override): ptrace
 * itself always may, a word at a time. */
static int poke(
	const struct remote *remote, uint64_t address, const char *data, size_t size)
{
	for (size_t done = 0; done < size; done += sizeof(long)) {
		long word = 0;
		size_t part = size - done < sizeof(word) ? size - done : sizeof(word);

		if (part < sizeof(word) &&
			remote_read(remote, address + done, &word, sizeof(word)))
			return -1;
		memcpy(&word, data + done, part);
		if (ptrace(PTRACE_POKEDATA, remote->pid, address + done, word))
			return -1;
	}
	return 0;
}

int remote_write(
	const struct remote *remote, uint64_t address, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = pwrite(remote->memory, (const char *)data + done,
			size - done, (off_t)(address + done));
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return poke(remote, address + done, (const char *)data + done,
				size - done);
		done += (size_t)count;
	}
	return 0;
}

/* A SIGTRAP of the kernel's own making, for a single step or an int3; another process's
 * kill(pid, SIGTRAP) has a code of zero or below. */
static bool own_trap(pid_t pid)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, pid, 0, &info) && info.si_code > 0;
}

/* What to do about one stop: 1 it is the wanted one, 0 resumed, -1 trouble. */
static int take_stop(pid_t pid, int status, int request, enum remote_stop wanted)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
		return ptrace(PTRACE_LISTEN, pid, 0, 0) ? -1 : 0;
	if (event == PTRACE_EVENT_EXEC && wanted == REMOTE_EXEC)
		return 1;
	if (!event && signal == (SIGTRAP | 0x80) && wanted == REMOTE_SYSCALL)
		return 1;
	if (!event && signal == SIGTRAP && wanted == REMOTE_TRAP && own_trap(pid))
		return 1;
	if (event || signal == (SIGTRAP | 0x80))
		signal = 0;
	/* A fault of the calls that it makes for us; no sender could tell it apart from
	 * this, but a sender's is blocked while calls are made. */
	if (wanted != REMOTE_EXEC &&
		(signal == SIGSEGV || signal == SIGILL || signal == SIGBUS)) {
		errno = EPROTO;
		return -1;
	}
	return ptrace(request, pid, 0, (long)signal) ? -1 : 0;
}

int remote_wait(const struct remote *remote, int request, enum remote_stop wanted)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(remote->pid, &status, __WALL);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0 || !WIFSTOPPED(status)) {
			errno = ESRCH;
			return -1;
		}
		int taken = take_stop(pid, status, request, wanted);
		if (taken)
			return taken > 0 ? 0 : -1;
	}
}

int remote_resume(const struct remote *remote, int request, enum remote_stop wanted)
{
	if (ptrace(request, remote->pid, 0, 0))
		return -1;
	return remote_wait(remote, request, wanted);
}

static void load_call(struct user_regs_struct *regs, const struct remote_call *call)
{
	regs->rax = (unsigned long)call->number;
	/* No system call to restart. */
	regs->orig_rax = (unsigned long)-1;
	regs->rdi = call->args[0];
	regs->rsi = call->args[1];
	regs->rdx = call->args[2];
	regs->r10 = call->args[3];
	regs->r8 = call->args[4];
	regs->r9 = call->args[5];
}

int remote_call(const struct remote *remote, uint64_t instruction,
	const struct remote_call *call, long *result)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, remote->pid, 0, &regs))
		return -1;
	load_call(&regs, call);
	regs.rip = instruction;
	if (ptrace(PTRACE_SETREGS, remote->pid, 0, &regs) ||
		remote_resume(remote, PTRACE_SINGLESTEP, REMOTE_TRAP) ||
		ptrace(PTRACE_GETREGS, remote->pid, 0, &regs))
		return -1;
	if (regs.rip != instruction + 2) {
		errno = EPROTO;
		return -1;
	}
	*result = (long)regs.rax;
	return 0;
}

size_t remote_room(size_t data_size, size_t count)
{
	return REMOTE_DATA + data_size + count * sizeof(struct remote_call) +
	       sizeof(uint64_t);
}

int remote_load(const struct remote *remote, uint64_t page, size_t room, const void *data,
	size_t data_size, const struct remote_call *calls, size_t count)
{
	static const uint64_t end_mark = (uint64_t)-1;
	unsigned char bytes[REMOTE_PAGE_MOST];
	unsigned char *at = bytes + REMOTE_DATA;

	_Static_assert(sizeof(*calls) == 56, "as the loop has it");
	if (room > sizeof(bytes) || data_size > room || count > room / sizeof(*calls) ||
		remote_room(data_size, count) > room) {
		errno = E2BIG;
		return -1;
	}
	memset(bytes, 0, REMOTE_DATA);
	memcpy(bytes, remote_loop, (size_t)(remote_loop_end - remote_loop));
	memcpy(at, data, data_size);
	at += data_size;
	memcpy(at, calls, count * sizeof(*calls));
	at += count * sizeof(*calls);
	memcpy(at, &end_mark, sizeof(end_mark));
	return remote_write(remote, page, bytes, remote_room(data_size, count));
}

int remote_run(const struct remote *remote, uint64_t page, size_t data_size, size_t count,
	size_t *done, int *error)
{
	struct user_regs_struct regs;
	uint64_t table = page + REMOTE_DATA + data_size;

	if (ptrace(PTRACE_GETREGS, remote->pid, 0, &regs))
		return -1;
	regs.rip = page;
	regs.rbx = table;
	regs.orig_rax = (unsigned long)-1;
	if (ptrace(PTRACE_SETREGS, remote->pid, 0, &regs) ||
		remote_resume(remote, PTRACE_CONT, REMOTE_TRAP) ||
		ptrace(PTRACE_GETREGS, remote->pid, 0, &regs))
		return -1;
	*done = (regs.rbx - table) / sizeof(struct remote_call);
	if (regs.rip != page + (size_t)(remote_loop_end - remote_loop) || *done > count) {
		errno = EPROTO;
		return -1;
	}
	*error = *done < count ? (int)-(long)regs.rax : 0;
	return 0;
}
