/* Work in another process that is stopped under ptrace. */
#include "launcher/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Makes the calls that rbx points to until one fails that is not optional, or the mark;
 * then traps, or unmaps its own page through the gadget that the mark names. Position
 * independent; the kernel takes a result above -4096 as an error. */
__asm__(".pushsection .rodata\n"
	"remote_loop:\n"
	"1:	mov (%rbx), %rax\n"
	"	cmp $-1, %rax\n"
	"	je 3f\n"
	"	btr $62, %rax\n"
	"	setc %r12b\n"
	"	mov 8(%rbx), %rdi\n"
	"	mov 16(%rbx), %rsi\n"
	"	mov 24(%rbx), %rdx\n"
	"	mov 32(%rbx), %r10\n"
	"	mov 40(%rbx), %r8\n"
	"	mov 48(%rbx), %r9\n"
	"	syscall\n"
	"	cmp $-4095, %rax\n"
	"	jb 2f\n"
	"	test %r12b, %r12b\n"
	"	jz 4f\n"
	"	inc %r13\n"
	"2:	add $56, %rbx\n"
	"	jmp 1b\n"
	"3:	mov 8(%rbx), %rbp\n"
	"	test %rbp, %rbp\n"
	"	jz 4f\n"
	"	mov 16(%rbx), %rsp\n"
	"	mov 24(%rbx), %rdi\n"
	"	mov 32(%rbx), %rsi\n"
	"	mov 40(%rbx), %rax\n"
	"	mov 48(%rbx), %r9\n"
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	xor %r8d, %r8d\n"
	"	jmp *%rbp\n"
	"4:	int3\n"
	"remote_loop_end:\n"
	/* Maps the page, copies what is to be on it from r13 and goes there. */
	"remote_stub:\n"
	"	mov %ebp, %eax\n"
	"	syscall\n"
	"	cmp %rdi, %rax\n"
	"	jne 1f\n"
	"	mov %r13, %rsi\n"
	"	mov %r14, %rcx\n"
	"	rep movsb\n"
	"	xor %r13d, %r13d\n"
	"	jmp *%r15\n"
	"1:	int3\n"
	"remote_stub_end:\n"
	"	.popsection\n");
extern const char remote_loop[], remote_loop_end[], remote_stub[], remote_stub_end[];

enum { STUB_SIZE = 64 };

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

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
	regs->r9 = REMOTE_MARK;
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
	return REMOTE_DATA + data_size + (count + 1) * sizeof(struct remote_call);
}

size_t remote_build(const struct remote_page *page, unsigned char *bytes, size_t room)
{
	struct remote_call mark = {-1, {page->gadget, page->stack, page->address,
					       page->room, SYS_munmap, REMOTE_MARK}};
	size_t count = page->count, size = count * sizeof(*page->calls);

	_Static_assert(sizeof(mark) == 56, "as the loop has it");
	if (room > page->room)
		room = page->room;
	if (page->data_size > room || count > room / sizeof(mark) ||
		remote_room(page->data_size, count) > room) {
		errno = E2BIG;
		return 0;
	}
	memset(bytes, 0, REMOTE_DATA);
	memcpy(bytes, remote_loop, (size_t)(remote_loop_end - remote_loop));
	bytes += REMOTE_DATA;
	memcpy(bytes, page->data, page->data_size);
	bytes += page->data_size;
	for (size_t i = 0; i < count; i++) {
		struct remote_call call = page->calls[i];

		call.args[5] = REMOTE_MARK;
		memcpy(bytes + i * sizeof(call), &call, sizeof(call));
	}
	memcpy(bytes + size, &mark, sizeof(mark));
	return remote_room(page->data_size, count);
}

static uint64_t table_of(const struct remote_page *page)
{
	return page->address + REMOTE_DATA + page->data_size;
}

int remote_load(const struct remote *remote, const struct remote_page *page)
{
	unsigned char bytes[REMOTE_PAGE_MOST];
	size_t size = remote_build(page, bytes, sizeof(bytes));

	return size ? remote_write(remote, page->address, bytes, size) : -1;
}

/* How far it came, from the registers at the trap. */
static int judge(const struct user_regs_struct *regs, const struct remote_page *page,
	struct remote_result *result)
{
	size_t loop_size = (size_t)(remote_loop_end - remote_loop);

	*result = (struct remote_result){
		.mapped = true,
		.done = (regs->rbx - table_of(page)) / sizeof(struct remote_call),
		.skipped = regs->r13,
	};
	if (page->gadget && regs->rip == page->trap + 1 && result->done == page->count &&
		!regs->rax)
		return 0;
	if (regs->rip != page->address + loop_size || result->done > page->count) {
		errno = EPROTO;
		return -1;
	}
	if (result->done < page->count)
		result->error = (int)-(long)regs->rax;
	return 0;
}

int remote_run(const struct remote *remote, const struct remote_page *page,
	struct remote_result *result)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, remote->pid, 0, &regs))
		return -1;
	regs.rip = page->address;
	regs.rbx = table_of(page);
	regs.r13 = 0;
	regs.orig_rax = (unsigned long)-1;
	if (ptrace(PTRACE_SETREGS, remote->pid, 0, &regs) ||
		remote_resume(remote, PTRACE_CONT, REMOTE_TRAP) ||
		ptrace(PTRACE_GETREGS, remote->pid, 0, &regs))
		return -1;
	return judge(&regs, page, result);
}

int remote_enter(const struct remote *remote, const struct remote_page *page,
	uint64_t home, size_t size, void *kept, struct remote_result *result)
{
	unsigned char bytes[STUB_SIZE + REMOTE_PAGE_MOST];
	size_t stub_size = (size_t)(remote_stub_end - remote_stub);
	struct user_regs_struct regs;

	*result = (struct remote_result){0};
	if (size > sizeof(bytes))
		size = sizeof(bytes);
	size_t used = size < STUB_SIZE
			      ? 0
			      : remote_build(page, bytes + STUB_SIZE, size - STUB_SIZE);
	if (!used) {
		errno = E2BIG;
		return -1;
	}
	memset(bytes, 0, STUB_SIZE);
	memcpy(bytes, remote_stub, stub_size);
	if (ptrace(PTRACE_GETREGS, remote->pid, 0, &regs) ||
		remote_read(remote, home, kept, size) ||
		remote_write(remote, home, bytes, STUB_SIZE + used))
		return -1;
	/* execve's own result will be in rax. */
	regs.rip = home;
	regs.rbp = SYS_mmap;
	regs.rdi = regs.r15 = page->address;
	regs.rsi = page->room;
	regs.rdx = PROT_READ | PROT_WRITE | PROT_EXEC;
	regs.r10 = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	regs.r8 = (unsigned long)-1;
	regs.r9 = REMOTE_MARK;
	regs.r13 = home + STUB_SIZE;
	regs.r14 = used;
	regs.rbx = table_of(page);
	if (ptrace(PTRACE_SETREGS, remote->pid, 0, &regs) ||
		remote_resume(remote, PTRACE_CONT, REMOTE_TRAP) ||
		ptrace(PTRACE_GETREGS, remote->pid, 0, &regs))
		return -1;
	if (regs.rip != home + stub_size)
		return judge(&regs, page, result);
	result->error = (int)-(long)regs.rax;
	return 0;
}

/* What may stand between a `syscall` and its `ret` when there was no error: nothing, or a
 * comparison and a short jump for errors (glibc's way of writing them). */
static bool is_gadget(const unsigned char *code, size_t size)
{
	static const unsigned char compare[] = {0x48, 0x3d}; /* cmp $…, %rax */
	enum { SYSCALL = 2, COMPARE = 6, JUMP = 2, JA = 0x77, JAE = 0x73, RET = 0xc3 };

	if (size > SYSCALL && code[SYSCALL] == RET)
		return true;
	if (size < SYSCALL + COMPARE + JUMP + 1 ||
		memcmp(code + SYSCALL, compare, sizeof(compare)) != 0)
		return false;
	/* -4096 or -4095: only errors are above. */
	int32_t limit;
	memcpy(&limit, code + SYSCALL + sizeof(compare), sizeof(limit));
	code += SYSCALL + COMPARE;
	return ((code[0] == JA && limit == -4096) ||
		       (code[0] == JAE && limit == -4095)) &&
	       code[JUMP] == RET;
}

size_t remote_find_gadget(const unsigned char *code, size_t size)
{
	for (size_t at = 0; at < size;) {
		const unsigned char *found = memmem(code + at, size - at, "\x0f\x05", 2);

		if (!found)
			break;
		at = (size_t)(found - code);
		if (is_gadget(found, size - at))
			return at;
		at++;
	}
	return size;
}
