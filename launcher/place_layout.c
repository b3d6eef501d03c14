/* Where everything of a program goes that the kernel has put at random addresses. */
#include "launcher/place_layout.h"

enum { PAGE = 4096 };

void place_image_init(struct place_image *image)
{
	/* Not the table of mappings, of which only the first few are used. */
	image->maps.count = 0;
	image->marks = (struct place_marks){0};
	image->program = image->interpreter = (struct place_elf){0};
	image->program_bias = image->interpreter_bias = image->vdso = 0;
	image->draw_count = image->random_bits = 0;
	image->loaded = image->vdso_written = image->silent = false;
}

static uint64_t align_down(uint64_t address, uint64_t alignment)
{
	return address & ~(alignment - 1);
}

static uint64_t align_up(uint64_t address, uint64_t alignment)
{
	return align_down(address + alignment - 1, alignment);
}

static bool is_empty(const struct place_range *range)
{
	return range->start == range->end;
}

static uint64_t new_start(const struct place_range *range)
{
	return range->start + range->shift;
}

static bool overlap(uint64_t start, uint64_t end, uint64_t other, uint64_t other_end)
{
	return start < other_end && other < end;
}

static void set_range(
	struct place_range *range, const struct place_elf *elf, uint64_t bias)
{
	range->start = elf->low + bias;
	range->end = elf->high + bias;
}

/* The mappings of some kinds, from the lowest to the highest. */
static void find_kinds(struct place_range *range, const struct place_maps *maps,
	enum place_kind kind, enum place_kind other)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct place_map *map = &maps->items[i];

		if (map->kind != kind && map->kind != other)
			continue;
		if (is_empty(range) || map->start < range->start)
			range->start = map->start;
		if (map->end > range->end)
			range->end = map->end;
	}
}

int place_layout_part(const struct place_layout *layout, const struct place_map *map)
{
	for (int i = 0; i < PLACE_PARTS; i++)
		if (map->start >= layout->parts[i].start &&
			map->end <= layout->parts[i].end)
			return i;
	return -1;
}

static const char *find_parts(
	struct place_layout *layout, const struct place_image *image)
{
	struct place_range *parts = layout->parts;

	set_range(&parts[PLACE_PROGRAM], &image->program, image->program_bias);
	if (image->program.interpreter)
		set_range(&parts[PLACE_INTERPRETER], &image->interpreter,
			image->interpreter_bias);
	find_kinds(&parts[PLACE_KERNEL], &image->maps, PLACE_VDSO, PLACE_VVAR);
	find_kinds(&parts[PLACE_TOP], &image->maps, PLACE_STACK, PLACE_STACK);
	if (is_empty(&parts[PLACE_TOP]))
		return "it has no stack";
	if (image->program.fixed && image->program_bias && !image->loaded)
		return "it is not where it was linked for";
	for (size_t i = 0; i < image->maps.count; i++) {
		const struct place_map *map = &image->maps.items[i];

		if (map->kind == PLACE_ODD || (map->kind != PLACE_VSYSCALL &&
						      place_layout_part(layout, map) < 0))
			return "it has a mapping of an unknown kind";
	}
	for (int i = 0; i < PLACE_PARTS; i++)
		for (int j = 0; j < i; j++)
			if (overlap(parts[i].start, parts[i].end, parts[j].start,
				    parts[j].end))
				return "its mappings interleave";
	return NULL;
}

/* Whether an address that the kernel has drawn for some process is one that 28 random
 * bits cannot give. Those that were moved lie closely below the ceilings. */
static bool draw_is_wide(uint64_t address)
{
	const uint64_t program_span = 1ULL << (28 + 12), margin = 4ULL << 30;
	const uint64_t between = 0x680000000000; /* no program above, no mapping below */

	if (address < between)
		return address > PLACE_PROGRAM_BASE + program_span + margin;
	return address < PLACE_CEILING - margin;
}

/* Draws tell of the number of bits where the sysctl is not readable (only root may): with
 * 32 of them each is outside of what 28 can give 15 times in 16. */
static bool wide(const struct place_image *image, const struct place_layout *layout)
{
	const struct place_range *program = &layout->parts[PLACE_PROGRAM];
	const struct place_range *kernel = &layout->parts[PLACE_KERNEL];

	if (image->random_bits)
		return image->random_bits > 28;
	for (size_t i = 0; i < image->draw_count; i++)
		if (draw_is_wide(image->draws[i]))
			return true;
	/* Nothing can be put above the base of this very program. */
	if (!is_empty(kernel) && kernel->start < PLACE_CEILING)
		return true;
	if (image->program.fixed)
		return false;
	return image->program.interpreter ? draw_is_wide(program->start)
					  : program->end < PLACE_CEILING;
}

static void put_below(struct place_range *range, uint64_t end, uint64_t alignment)
{
	uint64_t start = align_down(end - (range->end - range->start), alignment);

	range->shift = start - range->start;
}

/* As fs/binfmt_elf.c puts them: a program with an interpreter at its own base, all else
 * from the top down in the order in which it is mapped. */
static void choose_places(
	struct place_layout *layout, const struct place_image *image, bool sealed)
{
	struct place_range *parts = layout->parts;
	const struct place_elf *program = &image->program;
	uint64_t top = layout->ceiling;
	int first = program->interpreter ? PLACE_INTERPRETER : PLACE_PROGRAM;

	if (program->fixed)
		parts[PLACE_PROGRAM].shift = -image->program_bias;
	else if (program->interpreter)
		parts[PLACE_PROGRAM].shift =
			align_down(PLACE_PROGRAM_BASE, program->alignment) -
			parts[PLACE_PROGRAM].start;
	if (program->interpreter || !program->fixed) {
		put_below(&parts[first], top,
			program->interpreter ? image->interpreter.alignment
					     : program->alignment);
		/* An aligned one may leave room for the vdso above it. */
		if (top - parts[first].shift - parts[first].end <
			parts[PLACE_KERNEL].end - parts[PLACE_KERNEL].start)
			top = new_start(&parts[first]);
	}
	put_below(&parts[PLACE_KERNEL], top, PAGE);
	if (sealed) {
		layout->room_start = new_start(&parts[PLACE_KERNEL]);
		layout->room_end = top;
		parts[PLACE_KERNEL].sealed = true;
		parts[PLACE_KERNEL].shift = 0;
	}
	put_below(&parts[PLACE_TOP], PLACE_STACK_TOP, PAGE);

	/* Since Linux 6.15 the heap of a static-PIE is where a program with an
	 * interpreter would be, so that it cannot run into the mappings. */
	if (!program->fixed && !program->interpreter)
		layout->brk = align_up(PLACE_PROGRAM_BASE, PAGE) + PAGE;
	else
		layout->brk = align_up(
			program->end + image->program_bias + parts[PLACE_PROGRAM].shift,
			PAGE);
}

static bool is_free(const struct place_image *image, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < image->maps.count; i++)
		if (overlap(start, end, image->maps.items[i].start,
			    image->maps.items[i].end))
			return false;
	return true;
}

/* Right below what is put below the ceiling: the kernel has tables for those addresses
 * then, which it would have to make and to remove again elsewhere. */
static bool choose_near(struct place_layout *layout, const struct place_image *image)
{
	uint64_t low = layout->ceiling;

	if (layout->hop)
		return false;
	for (int i = 0; i < PLACE_PARTS; i++) {
		const struct place_range *part = &layout->parts[i];

		if (i != PLACE_TOP && !part->sealed && !is_empty(part) && part->shift &&
			new_start(part) < low &&
			(i != PLACE_PROGRAM || !image->program.interpreter))
			low = new_start(part);
	}
	if (layout->room_start < layout->room_end && layout->room_start < low)
		low = layout->room_start;
	layout->page = low - PLACE_PAGE_ROOM;
	return is_free(image, layout->page, low) && layout->brk <= layout->page;
}

/* Where nothing else is: far from programs, heaps and libraries. */
static const uint64_t windows[] = {
	0x600000000000, 0x400000000000, 0x200000000000, 0x100000000000};

/* Room for the page of calls and, where it is needed, a stop between old and new places.
 * None of it is left behind. */
static const char *choose_window(
	struct place_layout *layout, const struct place_image *image)
{
	uint64_t need = PLACE_PAGE_ROOM;

	if (choose_near(layout, image))
		return NULL;
	for (int i = 0; i < PLACE_PARTS; i++)
		need += layout->parts[i].end - layout->parts[i].start;
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		uint64_t at = windows[i];

		if (!is_free(image, at, at + need))
			continue;
		layout->page = at;
		at += PLACE_PAGE_ROOM;
		for (int j = 0; j < PLACE_PARTS; j++) {
			layout->hop_shift[j] = at - layout->parts[j].start;
			at += layout->parts[j].end - layout->parts[j].start;
		}
		return NULL;
	}
	return "there is no free memory to work in";
}

/* Everything must be free where something goes, but for what goes away itself: then all
 * goes by way of the window. */
static const char *check_places(struct place_layout *layout)
{
	static const char no_room[] = "its parts have no room side by side";

	for (int i = 0; i < PLACE_PARTS; i++) {
		const struct place_range *part = &layout->parts[i];
		uint64_t start = new_start(part), end = part->end + part->shift;

		if (is_empty(part))
			continue;
		if (!part->sealed &&
			overlap(layout->ceiling, layout->fill_end, start, end))
			return no_room;
		if (overlap(layout->room_start, layout->room_end, start, end))
			return no_room;
		for (int j = 0; j < PLACE_PARTS; j++) {
			const struct place_range *other = &layout->parts[j];

			if (j != i && overlap(start, end, new_start(other),
					      other->end + other->shift))
				return no_room;
			if (part->shift && overlap(start, end, other->start, other->end))
				layout->hop = true;
		}
	}
	return layout->brk >= layout->ceiling ? no_room : NULL;
}

const char *place_layout_make(
	struct place_layout *layout, const struct place_image *image, bool sealed)
{
	*layout = (struct place_layout){.fill_end = PLACE_FILL_END};
	const char *cause = find_parts(layout, image);
	if (cause)
		return cause;
	layout->ceiling = wide(image, layout) ? PLACE_CEILING_FAR : PLACE_CEILING;
	choose_places(layout, image, sealed);
	cause = check_places(layout);
	return cause ? cause : choose_window(layout, image);
}

uint64_t place_layout_shift(const struct place_layout *layout, uint64_t address)
{
	/* A part's end belongs to it as well, as marks like end_code point there, unless
	 * another begins just there. */
	for (uint64_t end = 0; end < 2; end++)
		for (int i = 0; i < PLACE_PARTS; i++) {
			const struct place_range *part = &layout->parts[i];

			if (!is_empty(part) && address >= part->start &&
				address < part->end + end)
				return address + part->shift;
		}
	return address;
}
