/* Moving a program that is stopped in its execve to its stable places: one straight list
 * of steps. Until the first mapping moves, whatever fails is taken back.
 *
 * Each stop of the program costs two changes of processes, which is most of what moving
 * takes. So there is a quick way of two stops, the execve's and a last one: the vdso's
 * code, of which the kernel has the original, is overwritten with code that maps a page,
 * goes there and makes all the calls; the page is unmapped by an instruction of the
 * program's own. Where anything of that is missing or refused the same is done call by
 * call. */
#include "launcher/place_move.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/place_steps.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif

enum {
	PAGE = 4096,
	VDSO_MOST = 16 << 10,
};

int place_fail(struct move *move, int error, const char *format, ...)
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

/* No signal but the traps' may reach it: a handler does not exist yet, and what is sent now
 * is delivered when the program begins. */
static int hold_signals(struct move *move)
{
	/* SIGKILL and SIGSTOP are unblockable; a blocked SIGTRAP would kill. */
	uint64_t all = ~(1ULL << (SIGTRAP - 1));
	pid_t pid = move->remote.pid;

	if (ptrace(PTRACE_GETSIGMASK, pid, sizeof(move->mask), &move->mask) ||
		ptrace(PTRACE_SETSIGMASK, pid, sizeof(all), &all))
		return place_fail(move, errno, "cannot hold its signals back");
	move->masked = true;
	return 0;
}

static int read_registers(struct move *move)
{
	if (ptrace(PTRACE_GETREGS, move->remote.pid, 0, &move->regs))
		return place_fail(move, errno, "cannot read its registers");
	/* execve's result and the end of that call. */
	move->regs.rax = 0;
	move->regs.orig_rax = (unsigned long)-1;
	return 0;
}

/* Before single calls can be made: execve's own result would overwrite a register. */
static int leave_execve(struct move *move)
{
	if (!move->left_execve &&
		remote_resume(&move->remote, PTRACE_SYSCALL, REMOTE_SYSCALL))
		return place_fail(move, errno, "cannot run to the end of execve");
	move->left_execve = true;
	return 0;
}

static uint64_t shift(const void *layout, uint64_t address)
{
	return place_layout_shift(layout, address);
}

/* The page and how it is left: the word below the new stack holds where to. */
static void decide_page(struct move *move)
{
	struct remote_page *page = &move->page;
	uint64_t rsp = move->top.rsp;

	*page = (struct remote_page){
		.address = move->layout.page,
		.data = move->numbers,
		.data_size = move->numbers->size,
		.calls = move->calls->items,
		.count = move->calls->count,
	};
	/* One page nearly always. */
	page->room = (remote_room(page->data_size, page->count) + PAGE - 1) &
		     ~(size_t)(PAGE - 1);
	/* What lies below the page of rsp is dropped. */
	if (!move->gadget || rsp % PAGE == 0)
		return;
	page->gadget = place_layout_shift(&move->layout, move->gadget);
	page->trap = place_layout_shift(&move->layout, move->trap);
	page->stack = rsp - sizeof(uint64_t);
}

/* All that is decided; nothing is done. With `page` there is one for the calls. */
static int decide(struct move *move, uint64_t page)
{
	struct place_top *top = &move->top;
	uint64_t auxv;
	const char *cause =
		place_layout_make(&move->layout, move->image, move->result->sealed);

	if (cause)
		return place_fail(move, 0, "%s", cause);
	if (page)
		move->layout.page = page;
	if (move->stack.auxv_words > PLACE_AUXV_MOST)
		return place_fail(move, 0, "its auxiliary vector is too long");
	top->old_rsp = move->regs.rsp;
	top->rsp = place_stack_build(
		&move->stack, shift, &move->layout, move->rebuilt, &auxv);
	top->auxv_words = move->stack.auxv_words;
	/* Where it lies in what was built. */
	size_t at = auxv - (move->regs.rsp + move->layout.parts[PLACE_TOP].shift);
	top->auxv = move->rebuilt + at;
	place_numbers_make(
		move->numbers, &move->layout, move->image, top, move->layout.page);
	place_calls_make(move->calls, &move->layout, move->image, top);
	decide_page(move);
	return 0;
}

static int decide_first(struct move *move)
{
	/* PR_SET_MDWE lets nobody make memory executable that was not. */
	move->image->silent = prctl(PR_GET_MDWE, 0, 0, 0, 0) > 0;
	return decide(move, 0);
}

/* At its old place: it moves as it is. */
static int write_stack(struct move *move)
{
	uint64_t rsp = move->regs.rsp, up = move->layout.parts[PLACE_TOP].shift;
	uint64_t trap = move->page.trap;

	move->stack_written = true;
	if (remote_write(&move->remote, rsp, move->rebuilt, move->stack.size) ||
		(move->page.gadget && remote_write(&move->remote, move->page.stack - up,
					      &trap, sizeof(trap))))
		return place_fail(move, errno, "cannot write its stack");
	return 0;
}

static int map_page(struct move *move)
{
	struct remote_call call = {
		SYS_mmap, {move->page.address, move->page.room, PROT_READ | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
				  (uint64_t)-1, 0}};
	long result;

	if (leave_execve(move))
		return -1;
	if (remote_call(&move->remote, move->result->instruction, &call, &result))
		return place_fail(move, errno, "cannot make it call mmap");
	if (result < 0 && result > -4096)
		return place_fail(move, (int)-result, "cannot map a page for its calls");
	move->page_mapped = true;
	return (uint64_t)result == move->page.address
		       ? 0
		       : place_fail(move, 0,
				 "its mmap gave another address than was asked for");
}

static const char *call_name(long number)
{
	switch (number & ~REMOTE_OPTIONAL) {
	case SYS_prctl: return "set its addresses in the kernel (PR_SET_MM_MAP)";
	case SYS_mremap: return "move a mapping";
	case SYS_mprotect: return "change a mapping's protection";
	case SYS_mmap: return "fill the address space";
	default: return "tidy its mappings";
	}
}

/* How the calls went. If -1 and nothing has moved yet the result's error is that of the
 * call that was refused; else it is cleared. */
static int judge(struct move *move, struct remote_result *result)
{
	size_t done = result->done;

	move->moving = done > move->calls->first_move;
	if (done == move->calls->count) {
		move->page_mapped = !move->page.gadget;
		return 0;
	}
	place_fail(move, result->error, "cannot %s",
		call_name(move->calls->items[done].number));
	if (move->moving)
		result->error = 0;
	return -1;
}

/* Makes the calls on the mapped page. */
static int run_calls(struct move *move, struct remote_result *result)
{
	*result = (struct remote_result){0};
	if (remote_load(&move->remote, &move->page))
		return place_fail(move, errno, "cannot write its calls");
	/* Whatever goes wrong from here on is judged by how far it came; if that is not
	 * known the worst is assumed. */
	move->moving = true;
	if (remote_run(&move->remote, &move->page, result)) {
		result->error = 0;
		return place_fail(move, errno, "cannot make it run its calls");
	}
	return judge(move, result);
}

/* The kernel's own page of it comes back by one of the calls, if all goes well. */
static int restore_vdso(struct move *move, const void *kept)
{
	const struct place_range *vdso = &move->vdso;
	uint64_t start = move->moving ? place_layout_shift(&move->layout, vdso->start)
				      : vdso->start;

	return remote_write(&move->remote, start, kept, vdso->end - vdso->start)
		       ? place_fail(move, errno, "cannot restore its vdso")
		       : 0;
}

/* Maps the page and makes the calls, all in one. Where the page cannot be had that way
 * nothing has happened, and the result says that there is none. */
static int enter(struct move *move, struct remote_result *result)
{
	unsigned char kept[VDSO_MOST];
	size_t size = move->vdso.end - move->vdso.start;

	*result = (struct remote_result){0};
	if (size > sizeof(kept))
		return -1;
	move->moving = true;
	if (remote_enter(
		    &move->remote, &move->page, move->vdso.start, size, kept, result)) {
		result->error = 0;
		if (errno != E2BIG)
			return place_fail(move, errno, "cannot make it run its calls");
		move->moving = false;
		return -1;
	}
	move->left_execve = true;
	move->page_mapped = result->mapped;
	move->moving = false;
	int status = result->mapped ? judge(move, result) : -1;
	if (status && move->moving)
		return -1;
	return (status || result->skipped) && restore_vdso(move, kept) ? -1 : status;
}

/* What was refused may be left out: returns whether there is another way. */
static bool decide_again(struct move *move, const struct remote_result *result)
{
	long number = move->calls->items[result->done].number;

	if (number == SYS_mprotect && !move->image->silent)
		move->image->silent = true;
	/* CONFIG_MSEAL_SYSTEM_MAPPINGS: the vdso cannot be moved. */
	else if (number == SYS_mremap && result->error == EPERM &&
		 !move->result->sealed && move->layout.parts[PLACE_KERNEL].shift)
		move->result->sealed = true;
	else
		return false;
	/* There will be fewer calls, for which the page has room. */
	uint64_t address = move->page.address;
	size_t room = move->page.room;
	if (decide(move, address))
		return false;
	move->page.room = room;
	return true;
}

static int move_mappings(struct move *move)
{
	struct remote_result result = {0};
	int status = -1;

	if (move->image->vdso_written)
		status = enter(move, &result);
	if (move->moving)
		return status;
	if (!result.mapped) {
		if (map_page(move))
			return -1;
		status = run_calls(move, &result);
	}
	while (status && result.error && decide_again(move, &result)) {
		if (write_stack(move))
			return -1;
		status = run_calls(move, &result);
	}
	return status;
}

static int unmap_page(struct move *move)
{
	struct remote_call call = {
		SYS_munmap, {move->page.address, move->page.room, 0, 0, 0, 0}};
	long result;

	if (!move->page_mapped)
		return 0;
	if (remote_call(&move->remote, move->result->instruction, &call, &result))
		return place_fail(move, errno, "cannot make it call munmap");
	if (result)
		return place_fail(
			move, (int)-result, "cannot unmap the page of its calls");
	move->page_mapped = false;
	return 0;
}

static int leave_page(struct move *move)
{
	uint64_t nothing = 0;

	move->result->instruction =
		place_layout_shift(&move->layout, move->result->instruction);
	if (move->page.gadget &&
		remote_write(&move->remote, move->page.stack, &nothing, sizeof(nothing)))
		return place_fail(move, errno, "cannot write its stack");
	return unmap_page(move);
}

static int set_registers(struct move *move)
{
	struct user_regs_struct regs = move->regs;

	regs.rip = place_layout_shift(&move->layout, regs.rip);
	regs.rsp = move->top.rsp;
	if (ptrace(PTRACE_SETREGS, move->remote.pid, 0, &regs))
		return place_fail(move, errno, "cannot set its registers");
	return 0;
}

static int release_signals(struct move *move)
{
	if (ptrace(PTRACE_SETSIGMASK, move->remote.pid, sizeof(move->mask), &move->mask))
		return place_fail(move, errno, "cannot restore its signal mask");
	return 0;
}

/* The kernel's numbers as they were. Refused they changed nothing before either. */
static int take_back_numbers(struct move *move)
{
	struct remote_result result;
	struct remote_call call = place_calls_numbers(move->page.address);

	move->top.auxv = move->block + move->stack.auxv;
	place_numbers_make(
		move->numbers, NULL, move->image, &move->top, move->page.address);
	move->page.data_size = move->numbers->size;
	move->page.calls = &call;
	move->page.count = 1;
	move->page.gadget = 0;
	return remote_load(&move->remote, &move->page) ||
			       remote_run(&move->remote, &move->page, &result)
		       ? -1
		       : unmap_page(move);
}

/* As the kernel made it, whatever of the steps has been done. */
static int take_back(struct move *move)
{
	pid_t pid = move->remote.pid;
	struct place_result *result = move->result;
	char cause[sizeof(result->cause)];
	uint64_t nothing = 0;

	memcpy(cause, result->cause, sizeof(cause));
	if (leave_execve(move) || (move->page_mapped && take_back_numbers(move)))
		return -1;
	if (move->stack_written &&
		(remote_write(
			 &move->remote, move->regs.rsp, move->block, move->stack.size) ||
			remote_write(&move->remote, move->regs.rsp - sizeof(nothing),
				&nothing, sizeof(nothing))))
		return -1;
	if (move->regs.rip && ptrace(PTRACE_SETREGS, pid, 0, &move->regs))
		return -1;
	if (move->masked && release_signals(move))
		return -1;
	memcpy(result->cause, cause, sizeof(cause));
	return 0;
}

/* Whether the quick way is open. */
static int look_at_vdso(struct move *move)
{
	move->image->vdso_written = move->vdso.start < move->vdso.end;
	return 0;
}

void place_move(pid_t pid, struct place_result *result)
{
	static int (*const steps[])(struct move *) = {
		hold_signals,
		read_registers,
		place_read_memory,
		place_read_maps,
		place_read_stack,
		place_read_program,
		place_read_interpreter,
		place_read_syscall,
		place_read_limit,
		place_read_draws,
		look_at_vdso,
		decide_first,
		write_stack,
		move_mappings, /* the point of no return is in here */
		leave_page,
		set_registers,
		release_signals,
	};
	/* Of these only what is needed is touched. */
	struct place_calls calls;
	struct place_numbers numbers;
	struct place_image image;
	struct move move = {
		.result = result,
		.remote = {pid, -1},
		.interpreter = -1,
		.image = &image,
		.calls = &calls,
		.numbers = &numbers,
	};

	place_image_init(&image);
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
	if (move.interpreter >= 0)
		close(move.interpreter);
	remote_close(&move.remote);
	free(move.block);
	free(move.rebuilt);
}
