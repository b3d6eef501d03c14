/* Moving a program that is stopped in its execve to its stable places: one straight list
 * of steps. Until the first mapping moves, whatever fails is taken back. */
#include "launcher/place_move.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/place_calls.h"
#include "launcher/place_layout.h"
#include "launcher/place_stack.h"
#include "launcher/remote.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	OPTIONS = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD,
	TEXT_MOST = 32 << 10,
	BLOCK_MOST = 8 << 20, /* pointers on the stack; the kernel allows 6 MiB in all */
};

struct move {
	struct place_result *result;
	struct remote remote;
	struct user_regs_struct regs;
	uint64_t mask; /* the program's own signal mask */
	struct place_image image;
	struct place_stack stack;
	uint64_t *block;  /* owned: the stack's words from rsp to the strings */
	uint8_t *rebuilt; /* owned: what replaces them */
	struct place_layout layout;
	struct place_top top;
	struct place_calls calls;
	struct place_numbers numbers;
	size_t room; /* of the page for the calls, in bytes */
	bool masked, page_mapped, moving;
};

/* Notes why, with errno's text where `error` is set; returns -1. */
static int __attribute__((format(printf, 3, 4)))
fail(struct move *move, int error, const char *format, ...)
{
	char *cause = move->result->cause;
	size_t room = sizeof(move->result->cause);
	va_list list;

	va_start(list, format);
	int used = vsnprintf(cause, room, format, list);
	va_end(list);
	if (error && used >= 0 && (size_t)used < room)
		snprintf(cause + used, room - (size_t)used, ": %s", strerror(error));
	return -1;
}

/* From now on the program must not outlive a tracer that leaves it half done, and no
 * signal but the traps' may reach it: a handler does not exist yet, and what is sent now
 * is delivered when the program begins. */
static int hold_signals(struct move *move)
{
	/* SIGKILL and SIGSTOP are unblockable; a blocked SIGTRAP would kill. */
	uint64_t all = ~(1ULL << (SIGTRAP - 1));
	pid_t pid = move->remote.pid;

	if (ptrace(PTRACE_SETOPTIONS, pid, 0, (long)(OPTIONS | PTRACE_O_EXITKILL)) ||
		ptrace(PTRACE_GETSIGMASK, pid, sizeof(move->mask), &move->mask) ||
		ptrace(PTRACE_SETSIGMASK, pid, sizeof(all), &all))
		return fail(move, errno, "cannot hold its signals back");
	move->masked = true;
	return 0;
}

static int open_memory(struct move *move)
{
	if (!remote_open(&move->remote, move->remote.pid))
		return 0;
	if (errno == EACCES || errno == EPERM)
		return fail(move, 0,
			"its memory may not be read, as a program's that is "
			"execute-only");
	return fail(move, errno, "cannot open its memory in /proc");
}

/* execve's own result would overwrite a register afterwards. */
static int leave_execve(struct move *move)
{
	if (remote_resume(&move->remote, PTRACE_SYSCALL, REMOTE_SYSCALL))
		return fail(move, errno, "cannot run to the end of execve");
	if (ptrace(PTRACE_GETREGS, move->remote.pid, 0, &move->regs))
		return fail(move, errno, "cannot read its registers");
	return 0;
}

/* The whole of a small file of /proc/PID. Returns the size or -1. */
static ssize_t read_proc(struct move *move, const char *name, char *text)
{
	char path[64];
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)move->remote.pid, name);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(move, errno, "cannot open '%s'", path);
	while (size < TEXT_MOST) {
		ssize_t count = read(fd, text + size, TEXT_MOST - size);
		if (count < 0 && errno != EINTR)
			return fail(move, errno, "cannot read '%s'", path);
		if (count == 0)
			return (ssize_t)size;
		size += count > 0 ? (size_t)count : 0;
	}
	return fail(move, 0, "'%s' is too long", path);
}

static int read_maps(struct move *move)
{
	char text[TEXT_MOST];
	ssize_t size = read_proc(move, "maps", text);

	if (size < 0)
		return -1;
	if (place_maps_parse(&move->image.maps, text, (size_t)size))
		return fail(
			move, 0, "its memory maps have an unknown form or are too many");
	size = read_proc(move, "stat", text);
	if (size < 0)
		return -1;
	if (place_marks_parse(&move->image.marks, text, (size_t)size) ||
		move->image.marks.start_stack != move->regs.rsp)
		return fail(move, 0, "its 'stat' in /proc has an unknown form");
	return 0;
}

static int read_stack(struct move *move)
{
	uint64_t rsp = move->regs.rsp, strings = move->image.marks.arg_start;

	if (strings <= rsp || strings - rsp > BLOCK_MOST)
		return fail(move, 0, "its stack begins in an unknown way");
	size_t size = strings - rsp;
	move->block = xcalloc(1, size + sizeof(uint64_t));
	move->rebuilt = xmalloc(size);
	if (remote_read(&move->remote, rsp, move->block, size))
		return fail(move, errno, "cannot read its stack");
	const char *cause =
		place_stack_parse(&move->stack, move->block, size, rsp, strings);
	if (cause)
		return fail(move, 0, "%s", cause);
	/* The kernel's word for a program that got privileges in execve. */
	if (place_stack_auxv(&move->stack, AT_SECURE))
		return fail(move, 0, "it has privileges that its caller has not");
	move->image.vdso = place_stack_auxv(&move->stack, AT_SYSINFO_EHDR);
	return 0;
}

/* From the file, as program headers need not be in memory. */
static int read_program(struct move *move)
{
	char path[64];
	Elf64_Ehdr header;
	struct place_image *image = &move->image;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)move->remote.pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(move, errno, "cannot read the program's file");
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
		!place_elf_header(&header))
		return fail(move, 0, "it is no 64-bit x86 program");
	size_t size = header.e_phnum * sizeof(Elf64_Phdr);
	cleanup_free Elf64_Phdr *phdrs = xmalloc(size);
	if (pread(fd, phdrs, size, (off_t)header.e_phoff) != (ssize_t)size ||
		!place_elf_parse(&image->program, &header, phdrs, header.e_phnum))
		return fail(move, 0, "its program headers cannot be read");
	image->program_bias =
		place_stack_auxv(&move->stack, AT_ENTRY) - image->program.entry;
	return 0;
}

/* From memory: the path in the program's file may name another file by now. */
static int read_interpreter(struct move *move)
{
	struct place_image *image = &move->image;
	Elf64_Ehdr header;

	if (!image->program.interpreter)
		return 0;
	image->interpreter_bias = place_stack_auxv(&move->stack, AT_BASE);
	if (remote_read(
		    &move->remote, image->interpreter_bias, &header, sizeof(header)) ||
		!place_elf_header(&header))
		return fail(move, 0, "its program interpreter is of an unknown kind");
	size_t size = header.e_phnum * sizeof(Elf64_Phdr);
	cleanup_free Elf64_Phdr *phdrs = xmalloc(size);
	if (remote_read(&move->remote, image->interpreter_bias + header.e_phoff, phdrs,
		    size) ||
		!place_elf_parse(&image->interpreter, &header, phdrs, header.e_phnum))
		return fail(move, 0,
			"the program headers of its interpreter are not in memory");
	return 0;
}

/* Readable for root only; 0 leaves it to what the addresses themselves show. */
static unsigned read_random_bits(void)
{
	char text[16] = "";
	cleanup_fd int fd = open("/proc/sys/vm/mmap_rnd_bits", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	return (unsigned)strtoul(text, NULL, 10);
}

/* Where this process's own vdso and its parent's parts are: more draws. A parent that may
 * not be looked at tells nothing. */
static void read_draws(struct place_image *image, pid_t parent)
{
	Elf64_auxv_t auxv[PLACE_AUXV_MOST / 2];
	char path[64];

	image->draws[image->draw_count++] = getauxval(AT_SYSINFO_EHDR);
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)parent);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, auxv, sizeof(auxv));
	for (size_t i = 0; size > 0 && i < (size_t)size / sizeof(auxv[0]); i++)
		if ((auxv[i].a_type == AT_SYSINFO_EHDR || auxv[i].a_type == AT_PHDR) &&
			image->draw_count < PLACE_DRAWS)
			image->draws[image->draw_count++] = auxv[i].a_un.a_val;
}

/* Any two bytes that are a `syscall`; it is executed from there and nowhere else. */
static uint64_t find_in(const struct move *move, const struct place_map *map)
{
	unsigned char bytes[4096];

	for (uint64_t at = map->start; at < map->end; at += sizeof(bytes)) {
		if (remote_read(&move->remote, at, bytes, sizeof(bytes)))
			return 0;
		const unsigned char *found = memmem(bytes, sizeof(bytes), "\x0f\x05", 2);
		if (found)
			return at + (uint64_t)(found - bytes);
	}
	return 0;
}

/* In the vdso, or where a kernel has none, in any code. */
static int find_syscall(struct move *move)
{
	const struct place_maps *maps = &move->image.maps;
	uint64_t found = 0;

	for (int vdso = 1; vdso >= 0 && !found; vdso--)
		for (size_t i = 0; i < maps->count && !found; i++) {
			const struct place_map *map = &maps->items[i];
			if (map->protection & PROT_EXEC && map->kind != PLACE_VSYSCALL &&
				(map->kind == PLACE_VDSO) == vdso)
				found = find_in(move, map);
		}
	move->result->instruction = found;
	return found ? 0 : fail(move, 0, "it has no 'syscall' instruction");
}

/* Checked before, but a program's own child may have got one since. */
static int check_limit(struct move *move)
{
	struct rlimit limit;

	if (prlimit(move->remote.pid, RLIMIT_AS, NULL, &limit) ||
		limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return fail(move, 0, "its address space is limited ('ulimit -v')");
}

static uint64_t shift(const void *layout, uint64_t address)
{
	return place_layout_shift(layout, address);
}

/* All that is decided; nothing is done. */
static int decide(struct move *move, bool sealed)
{
	struct place_top *top = &move->top;
	uint64_t auxv;
	const char *cause = place_layout_make(&move->layout, &move->image, sealed);

	if (cause)
		return fail(move, 0, "%s", cause);
	if (move->stack.auxv_words > PLACE_AUXV_MOST)
		return fail(move, 0, "its auxiliary vector is too long");
	top->old_rsp = move->regs.rsp;
	top->rsp = place_stack_build(
		&move->stack, shift, &move->layout, move->rebuilt, &auxv);
	top->auxv_words = move->stack.auxv_words;
	/* Where it lies in what was built. */
	size_t at = auxv - (move->regs.rsp + move->layout.parts[PLACE_TOP].shift);
	top->auxv = move->rebuilt + at;
	place_numbers_make(
		&move->numbers, &move->layout, &move->image, top, move->layout.page);
	place_calls_make(&move->calls, &move->layout, &move->image, top);
	return 0;
}

static int decide_first(struct move *move)
{
	move->image.random_bits = read_random_bits();
	if (!move->image.random_bits)
		read_draws(&move->image, (pid_t)move->image.marks.parent);
	return decide(move, false);
}

static int map_page(struct move *move)
{
	/* One page nearly always. A second try, for a sealed vdso, has fewer calls. */
	move->room =
		(remote_room(move->numbers.size, move->calls.count) + 4095) & ~4095UL;
	struct remote_call call = {
		SYS_mmap, {move->layout.page, move->room, PROT_READ | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
				  (uint64_t)-1, 0}};
	long result;

	if (remote_call(&move->remote, move->result->instruction, &call, &result))
		return fail(move, errno, "cannot make it call mmap");
	if (result < 0 && result > -4096)
		return fail(move, (int)-result, "cannot map a page for its calls");
	move->page_mapped = true;
	return (uint64_t)result == move->layout.page
		       ? 0
		       : fail(move, 0,
				 "its mmap gave another address than was asked for");
}

static const char *call_name(long number)
{
	switch (number) {
	case SYS_prctl: return "set its addresses in the kernel (PR_SET_MM_MAP)";
	case SYS_mremap: return "move a mapping";
	case SYS_mprotect: return "change a mapping's protection";
	case SYS_mmap: return "fill the address space";
	default: return "tidy its mappings";
	}
}

/* Makes the calls. Returns the errno of the one that was refused before anything moved,
 * 0, or -1. */
static int run_calls(struct move *move)
{
	size_t done;
	int error;

	if (remote_load(&move->remote, move->layout.page, move->room, &move->numbers,
		    move->numbers.size, move->calls.items, move->calls.count))
		return fail(move, errno, "cannot write its calls");
	/* Whatever goes wrong from here on is judged by how far it came; if that is not
	 * known the worst is assumed. */
	move->moving = true;
	if (remote_run(&move->remote, move->layout.page, move->numbers.size,
		    move->calls.count, &done, &error))
		return fail(move, errno, "cannot make it run its calls");
	if (done == move->calls.count)
		return 0;
	move->moving = done > move->calls.first_move;
	fail(move, error, "cannot %s", call_name(move->calls.items[done].number));
	return done == move->calls.first_move && !move->result->sealed ? error : -1;
}

static int move_mappings(struct move *move)
{
	int error = run_calls(move);

	/* CONFIG_MSEAL_SYSTEM_MAPPINGS: the vdso cannot be moved. */
	if (error == EPERM && move->layout.parts[PLACE_KERNEL].shift) {
		move->result->sealed = true;
		if (decide(move, true))
			return -1;
		error = run_calls(move);
	}
	return error ? -1 : 0;
}

/* Pages below the new rsp are gone or zero by now. */
static int write_stack(struct move *move)
{
	uint64_t old = move->regs.rsp + move->layout.parts[PLACE_TOP].shift;
	uint64_t begin = move->top.rsp & ~4095ULL;

	if (begin < old)
		begin = old;
	if (remote_write(&move->remote, begin, move->rebuilt + (begin - old),
		    move->stack.size - (begin - old)))
		return fail(move, errno, "cannot write its stack");
	return 0;
}

static int unmap_page(struct move *move)
{
	struct remote_call call = {
		SYS_munmap, {move->layout.page, move->room, 0, 0, 0, 0}};
	long result;

	if (remote_call(&move->remote, move->result->instruction, &call, &result))
		return fail(move, errno, "cannot make it call munmap");
	if (result)
		return fail(move, (int)-result, "cannot unmap the page of its calls");
	move->page_mapped = false;
	return 0;
}

static int unmap_moved(struct move *move)
{
	move->result->instruction =
		place_layout_shift(&move->layout, move->result->instruction);
	return unmap_page(move);
}

static int set_registers(struct move *move)
{
	move->regs.rip = place_layout_shift(&move->layout, move->regs.rip);
	move->regs.rsp = move->top.rsp;
	move->regs.orig_rax = (unsigned long)-1;
	if (ptrace(PTRACE_SETREGS, move->remote.pid, 0, &move->regs))
		return fail(move, errno, "cannot set its registers");
	return 0;
}

static int release_signals(struct move *move)
{
	if (ptrace(PTRACE_SETSIGMASK, move->remote.pid, sizeof(move->mask), &move->mask))
		return fail(move, errno, "cannot restore its signal mask");
	return 0;
}

/* As the kernel made it, whatever of the steps has been done. */
static int take_back(struct move *move)
{
	pid_t pid = move->remote.pid;
	struct place_result *result = move->result;
	char cause[sizeof(result->cause)];

	memcpy(cause, result->cause, sizeof(cause));
	if (move->page_mapped) {
		size_t done;
		int error;
		struct remote_call call = place_calls_numbers(move->layout.page);

		move->top.auxv = move->block + move->stack.auxv;
		place_numbers_make(&move->numbers, NULL, &move->image, &move->top,
			move->layout.page);
		/* Refused it changed nothing before either. */
		if (remote_load(&move->remote, move->layout.page, move->room,
			    &move->numbers, move->numbers.size, &call, 1) ||
			remote_run(&move->remote, move->layout.page, move->numbers.size,
				1, &done, &error) ||
			unmap_page(move))
			return -1;
	}
	if (move->regs.rip && ptrace(PTRACE_SETREGS, pid, 0, &move->regs))
		return -1;
	if (move->masked && (release_signals(move) ||
				    ptrace(PTRACE_SETOPTIONS, pid, 0, (long)OPTIONS)))
		return -1;
	memcpy(result->cause, cause, sizeof(cause));
	return 0;
}

void place_move(pid_t pid, struct place_result *result)
{
	static int (*const steps[])(struct move *) = {
		hold_signals,
		leave_execve,
		open_memory,
		read_maps,
		read_stack,
		read_program,
		read_interpreter,
		find_syscall,
		check_limit,
		decide_first,
		map_page,
		move_mappings, /* the point of no return is in here */
		write_stack,
		unmap_moved,
		set_registers,
		release_signals,
	};
	struct move move = {.result = result, .remote = {pid, -1}};

	*result = (struct place_result){.outcome = PLACE_MOVED};
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		errno = 0;
		if (!steps[i](&move))
			continue;
		result->outcome = errno == ESRCH ? PLACE_GONE
				  : move.moving	 ? PLACE_BROKEN
						 : PLACE_UNMOVED;
		break;
	}
	if (result->outcome == PLACE_UNMOVED && take_back(&move))
		result->outcome = errno == ESRCH ? PLACE_GONE : PLACE_BROKEN;
	remote_close(&move.remote);
	free(move.block);
	free(move.rebuilt);
}
