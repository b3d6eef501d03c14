/* The page of calls by which a loaded program gets to its places, and all that is the
 * launcher's goes away. */
#include "launcher/place_load_steps.h"

#include <asm/prctl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

const char *load_page_reserve(struct load *load)
{
	struct remote_page *page = &load->page;

	page->address = load->layout.page;
	page->room = REMOTE_PAGE_MOST;
	if (mmap((void *)page->address, page->room, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		    0) != (void *)page->address)
		return "there is no room for it";
	return NULL;
}

static void add_call(
	struct place_calls *calls, long number, uint64_t a, uint64_t b, uint64_t c)
{
	calls->items[calls->count++] =
		(struct remote_call){.number = number, .args = {a, b, c}};
}

/* Puts more among the page's data. Returns its address there. */
static uint64_t add_data(struct load *load, const void *data, size_t size)
{
	struct place_numbers *numbers = &load->numbers;
	size_t at = numbers->size;

	memcpy((char *)numbers + at, data, size);
	numbers->size += size;
	return load->page.address + REMOTE_DATA + at;
}

/* What the launcher's libc has told the kernel of, and what names the launcher. */
static void add_farewell(struct load *load)
{
	struct place_calls *calls = &load->calls;
	struct place_numbers *numbers = &load->numbers;
	uint64_t file = add_data(load, numbers->words, sizeof(numbers->words));
	uint32_t fd = (uint32_t)load->program.fd;

	/* With CAP_CHECKPOINT_RESTORE, and nothing of the old one mapped, the program's
	 * file can be set too. */
	memcpy((char *)numbers + (file - load->page.address - REMOTE_DATA) +
			offsetof(struct prctl_mm_map, exe_fd),
		&fd, sizeof(fd));
	add_call(calls, SYS_prctl | REMOTE_OPTIONAL, PR_SET_MM, PR_SET_MM_MAP, file);
	calls->items[calls->count - 1].args[3] = sizeof(numbers->words);
	add_call(calls, SYS_set_robust_list | REMOTE_OPTIONAL, 0, 24, 0);
	add_call(calls, SYS_set_tid_address, 0, 0, 0);
	add_call(calls, SYS_arch_prctl, ARCH_SET_FS, 0, 0);
	add_call(calls, SYS_close, fd, 0, 0);
}

/* The moves, and between what must be done before and them the removal of all that is the
 * launcher's. */
const char *load_page_calls(struct load *load)
{
	const struct place_maps *others = load->others;
	const struct place_range *top = &load->layout.parts[PLACE_TOP];
	uint64_t low = load->stack.low - top->shift, rsp = load->stack.rsp - top->shift;
	struct place_marks *marks = &load->image.marks;
	struct place_calls *calls = &load->calls, *moves = load->moves;
	struct place_top new_top = {
		.old_rsp = rsp,
		.rsp = load->stack.rsp,
		.auxv = load->stack.bytes + (load->stack.auxv - load->stack.rsp),
		.auxv_words = load->auxv_words,
	};

	marks->arg_start = load->stack.arg_start - top->shift;
	marks->arg_end = load->stack.arg_end - top->shift;
	marks->env_start = load->stack.env_start - top->shift;
	marks->env_end = load->stack.env_end - top->shift;
	place_numbers_make(&load->numbers, &load->layout, &load->image, &new_top,
		load->page.address);
	place_calls_make(moves, &load->layout, &load->image, &new_top);
	calls->count = 0;
	for (size_t i = 0; i < moves->first_move; i++)
		calls->items[calls->count++] = moves->items[i];
	for (size_t i = 0; i < others->count; i++) {
		const struct place_map *map = &others->items[i];

		if (map->start != load->page.address)
			add_call(calls, SYS_munmap, map->start, map->end - map->start, 0);
	}
	if (top->start < low)
		add_call(calls, SYS_munmap, top->start, low - top->start, 0);
	/* The word for the way out is below rsp. */
	uint64_t used = load_floor(rsp - sizeof(uint64_t));
	if (low < used)
		add_call(calls, SYS_madvise, low, used - low, MADV_DONTNEED);
	add_farewell(load);
	if (calls->count + moves->count - moves->first_move > PLACE_CALLS)
		return "it has too many mappings";
	for (size_t i = moves->first_move; i < moves->count; i++)
		calls->items[calls->count++] = moves->items[i];
	return NULL;
}

/* The last call: no signal comes before the program begins. */
static void add_mask(struct load *load)
{
	struct place_calls *calls = &load->calls;
	uint64_t mask = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, sizeof(mask));
	add_call(calls, SYS_rt_sigprocmask, SIG_SETMASK,
		add_data(load, &mask, sizeof(mask)), 0);
	calls->items[calls->count - 1].args[3] = sizeof(mask);
}

const char *load_page_make(struct load *load)
{
	struct remote_page *page = &load->page;
	uint64_t address = page->address;

	add_mask(load);
	page->data = &load->numbers;
	page->data_size = load->numbers.size;
	page->calls = load->calls.items;
	page->count = load->calls.count;
	page->gadget = place_layout_shift(&load->layout, load->gadget);
	page->stack = load->stack.rsp - sizeof(uint64_t);
	page->trap = load->entry;
	if (!remote_build(page, (unsigned char *)address, page->room))
		return "it has too many mappings";
	return mprotect((void *)address, page->room, PROT_READ | PROT_EXEC)
		       ? "memory may not be made executable"
		       : NULL;
}
