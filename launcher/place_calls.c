/* The system calls that carry a layout out. */
#include "launcher/place_calls.h"

#include <linux/prctl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE = 4096, STACK_EXPAND = 128 << 10 };

static void add(struct place_calls *calls, long number, uint64_t a, uint64_t b,
	uint64_t c, uint64_t d, uint64_t e)
{
	calls->items[calls->count++] =
		(struct remote_call){.number = number, .args = {a, b, c, d, e, 0}};
}

static void add_move(struct place_calls *calls, uint64_t from, uint64_t size, uint64_t to)
{
	add(calls, SYS_mremap, from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
}

static void add_moves(struct place_calls *calls, const struct place_layout *layout,
	const struct place_maps *maps, int part, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct place_map *map = &maps->items[i];

		if (place_layout_part(layout, map) == part)
			add_move(calls, map->start + from, map->end - map->start,
				map->start + to);
	}
}

/* mremap tells perf nothing, mprotect does when the mapping is executable afterwards
 * (kernel/events/core.c: perf_event_mmap). */
static void announce(struct place_calls *calls, const struct place_layout *layout,
	const struct place_maps *maps, int part)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct place_map *map = &maps->items[i];
		uint64_t start = map->start + layout->parts[part].shift;
		uint64_t size = map->end - map->start;

		if (!(map->protection & PROT_EXEC) ||
			place_layout_part(layout, map) != part)
			continue;
		add(calls, SYS_mprotect, start, size, PROT_READ, 0, 0);
		add(calls, SYS_mprotect, start, size, (uint64_t)map->protection, 0, 0);
	}
}

static void add_part(struct place_calls *calls, const struct place_layout *layout,
	const struct place_image *image, int part)
{
	uint64_t shift = layout->parts[part].shift;

	if (!shift)
		return;
	add_moves(calls, layout, &image->maps, part,
		layout->hop ? layout->hop_shift[part] : 0, shift);
	if (!image->silent)
		announce(calls, layout, &image->maps, part);
}

/* The first of what announce() will do, with nothing changed yet: where making memory
 * executable is refused (by a filter) it must not begin. */
static void try_announcing(struct place_calls *calls, const struct place_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct place_map *map = &maps->items[i];

		if (!(map->protection & PROT_EXEC) || map->kind != PLACE_PLAIN)
			continue;
		add(calls, SYS_mprotect, map->start, map->end - map->start,
			(uint64_t)map->protection, 0, 0);
		break;
	}
}

/* The first steps may have been code written over the vdso's: a page of the kernel's own
 * comes back for it. */
static void renew_vdso(struct place_calls *calls, const struct place_layout *layout,
	const struct place_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (maps->items[i].kind == PLACE_VDSO)
			add(calls, SYS_madvise | REMOTE_OPTIONAL,
				place_layout_shift(layout, maps->items[i].start),
				maps->items[i].end - maps->items[i].start, MADV_DONTNEED,
				0, 0);
}

bool place_calls_own(const uint64_t arguments[6])
{
	return arguments[5] == REMOTE_MARK;
}

static void add_fill(struct place_calls *calls, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	calls->items[calls->count++] = (struct remote_call){
		.number = SYS_mmap,
		.args = {start, end - start, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
			(uint64_t)-1, 0},
	};
	/* Else a core file would show a terabyte of it. */
	add(calls, SYS_madvise, start, end - start, MADV_DONTDUMP, 0, 0);
}

static void add_fills(struct place_calls *calls, const struct place_layout *layout)
{
	const struct place_range *kernel = &layout->parts[PLACE_KERNEL];
	uint64_t hole = layout->fill_end, hole_end = layout->fill_end;

	if (kernel->sealed && kernel->start < hole) {
		hole = kernel->start;
		hole_end = kernel->end > layout->ceiling ? kernel->end : layout->ceiling;
	}
	add_fill(calls, layout->room_start, layout->room_end);
	add_fill(calls, layout->ceiling, hole);
	add_fill(calls, hole_end, layout->fill_end);
}

/* The random gap may have made the stack a little longer than it would have been: it was
 * made to reach down to rsp only where the vectors take more than what a new stack has
 * below its strings anyway. Else there are a few pages that will be needed soon. */
static void trim_stack(struct place_calls *calls, const struct place_layout *layout,
	const struct place_image *image, const struct place_top *top)
{
	const struct place_range *stack = &layout->parts[PLACE_TOP];
	uint64_t start = stack->start + stack->shift;
	uint64_t used = (top->old_rsp + stack->shift) & ~(uint64_t)(PAGE - 1);
	uint64_t wanted = top->rsp & ~(uint64_t)(PAGE - 1);

	if (used < wanted && used == start &&
		image->marks.arg_start - stack->start > STACK_EXPAND + PAGE)
		add(calls, SYS_munmap, used, wanted - used, 0, 0, 0);
}

struct remote_call place_calls_numbers(uint64_t page)
{
	_Static_assert(sizeof(struct prctl_mm_map) == sizeof(uint64_t[13]), "in words");
	return (struct remote_call){
		.number = SYS_prctl,
		.args = {PR_SET_MM, PR_SET_MM_MAP, page + REMOTE_DATA,
			sizeof(struct prctl_mm_map), 0, 0},
	};
}

void place_calls_make(struct place_calls *calls, const struct place_layout *layout,
	const struct place_image *image, const struct place_top *top)
{
	const struct place_maps *maps = &image->maps;

	/* What may be refused comes first: the numbers, then the vdso. */
	calls->items[0] = place_calls_numbers(layout->page);
	calls->count = 1;
	if (!image->silent)
		try_announcing(calls, maps);
	bool stays = layout->parts[PLACE_KERNEL].sealed;
	if (image->vdso_written && stays)
		renew_vdso(calls, layout, maps);
	calls->first_move = calls->count;
	if (layout->hop)
		for (int i = 0; i < PLACE_PARTS; i++) {
			int part = (i + PLACE_KERNEL) % PLACE_PARTS;
			if (layout->parts[part].shift)
				add_moves(calls, layout, maps, part, 0,
					layout->hop_shift[part]);
		}
	add_part(calls, layout, image, PLACE_KERNEL);
	if (image->vdso_written && !stays)
		renew_vdso(calls, layout, maps);
	add_part(calls, layout, image, PLACE_INTERPRETER);
	add_part(calls, layout, image, PLACE_PROGRAM);
	add_part(calls, layout, image, PLACE_TOP);
	trim_stack(calls, layout, image, top);
	add_fills(calls, layout);
}

void place_numbers_make(struct place_numbers *numbers, const struct place_layout *layout,
	const struct place_image *image, const struct place_top *top, uint64_t page)
{
	const struct place_marks *marks = &image->marks;
	struct prctl_mm_map map = {
		.start_code = marks->start_code,
		.end_code = marks->end_code,
		.start_data = marks->start_data,
		.end_data = marks->end_data,
		.start_brk = layout ? layout->brk : marks->start_brk,
		.brk = layout ? layout->brk : marks->start_brk,
		.start_stack = layout ? top->rsp : marks->start_stack,
		.arg_start = marks->arg_start,
		.arg_end = marks->arg_end,
		.env_start = marks->env_start,
		.env_end = marks->env_end,
		.auxv = (void *)(uintptr_t)(page + REMOTE_DATA +
					    offsetof(struct place_numbers, auxv)),
		.auxv_size = (uint32_t)(top->auxv_words * sizeof(uint64_t)),
		.exe_fd = (uint32_t)-1,
	};
	__u64 *const addresses[] = {&map.start_code, &map.end_code, &map.start_data,
		&map.end_data, &map.arg_start, &map.arg_end, &map.env_start,
		&map.env_end};

	for (size_t i = 0; layout && i < sizeof(addresses) / sizeof(addresses[0]); i++)
		*addresses[i] = place_layout_shift(layout, *addresses[i]);
	memcpy(numbers->words, &map, sizeof(map));
	memcpy(numbers->auxv, top->auxv, top->auxv_words * sizeof(uint64_t));
	numbers->size = sizeof(map) + top->auxv_words * sizeof(uint64_t);
}
