/* place_layout and place_calls: for programs as the kernel puts them, at random, at the
 * borders of what is random and where old and new places overlap, the calls are carried
 * out on a table of mappings. Nothing may be lost on the way and all must end at the same
 * places. */
#include "launcher/place_layout.h"

#include <linux/prctl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "launcher/check.h"
#include "launcher/place_calls.h"

const char program_name[] = "place_layout_test";

enum { PAGE = 4096 };

/* One kind of program: sizes in pages of its segments, and of ld.so's. */
struct shape {
	const char *name;
	bool fixed, interpreter;
	int program[5], ldso[5]; /* pages; 0 ends */
	uint64_t alignment;
	uint64_t bss; /* bytes of the last page that are not used */
};

static const struct shape shapes[] = {
	{"PIE", false, true, {2, 5, 3, 2}, {1, 38, 10, 4}, PAGE, 100},
	{"aligned PIE", false, true, {512, 5, 3, 2}, {1, 38, 10, 4}, 2 << 20, 0},
	{"large PIE", false, true, {2, 70000, 3, 2}, {1, 38, 10, 4}, PAGE, 8},
	{"non-PIE", true, true, {1, 1, 1, 2}, {1, 38, 10, 4}, PAGE, 4000},
	{"static", true, false, {1, 150, 40, 6}, {0}, PAGE, 16},
	{"static-PIE", false, false, {8, 150, 40, 6}, {0}, PAGE, 16},
	{"aligned static-PIE", false, false, {512, 512, 512, 6}, {0}, 2 << 20, 16},
};

/* A draw: where the kernel's random numbers put it. */
struct draw {
	uint64_t base;	  /* below which it maps from the top down */
	uint64_t program; /* a PIE's */
	uint64_t stack;	  /* its top */
	int stack_pages;
};

/* Neighbours of one kind and protection are one mapping to the kernel; here not. */
static void add_map(struct place_maps *maps, uint64_t start, uint64_t pages,
	int protection, enum place_kind kind)
{
	CHECK(maps->count < PLACE_MAPS);
	maps->items[maps->count++] = (struct place_map){.start = start,
		.end = start + pages * PAGE,
		.protection = protection,
		.kind = kind};
}

static uint64_t add_segments(struct place_maps *maps, uint64_t start, const int *pages)
{
	static const int protections[] = {
		PROT_READ, PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};

	for (int i = 0; pages[i]; i++) {
		add_map(maps, start, (uint64_t)pages[i], protections[i], PLACE_PLAIN);
		start += (uint64_t)pages[i] * PAGE;
	}
	return start;
}

static uint64_t total(const int *pages)
{
	uint64_t sum = 0;

	for (int i = 0; pages[i]; i++)
		sum += (uint64_t)pages[i];
	return sum * PAGE;
}

static uint64_t down(uint64_t address, uint64_t alignment)
{
	return address & ~(alignment - 1);
}

/* As the kernel does it. */
static void make_image(
	struct place_image *image, const struct shape *shape, const struct draw *draw)
{
	uint64_t low = shape->fixed ? 0x400000 : 0, size = total(shape->program);
	uint64_t top = draw->base, start = 0x400000;

	*image = (struct place_image){.random_bits = 28};
	image->program = (struct place_elf){.fixed = shape->fixed,
		.interpreter = shape->interpreter,
		.entry = low + 0x1000,
		.low = low,
		.high = low + size,
		.end = low + size - shape->bss,
		.alignment = shape->alignment};
	if (shape->interpreter) {
		uint64_t span = total(shape->ldso);
		image->interpreter =
			(struct place_elf){.high = span, .end = span, .alignment = PAGE};
		top -= span;
		image->interpreter_bias = top;
		add_segments(&image->maps, top, shape->ldso);
		if (!shape->fixed)
			start = down(draw->program, shape->alignment);
	} else if (!shape->fixed) {
		start = top = down(top - size, shape->alignment);
	}
	image->program_bias = start - low;
	add_segments(&image->maps, start, shape->program);
	add_map(&image->maps, top - 8 * PAGE, 4, PROT_READ, PLACE_VVAR);
	add_map(&image->maps, top - 4 * PAGE, 2, PROT_READ, PLACE_VVAR);
	add_map(&image->maps, top - 2 * PAGE, 2, PROT_READ | PROT_EXEC, PLACE_VDSO);
	image->vdso = top - 2 * PAGE;
	uint64_t stack = draw->stack - (uint64_t)draw->stack_pages * PAGE;
	add_map(&image->maps, stack, (uint64_t)draw->stack_pages, PROT_READ | PROT_WRITE,
		PLACE_STACK);
	add_map(&image->maps, 0xffffffffff600000, 1, PROT_EXEC, PLACE_VSYSCALL);
	image->marks = (struct place_marks){.start_code = start,
		.end_code = start + size,
		.start_data = start,
		.end_data = start + size,
		.start_brk = start + size + (77 << 12),
		.arg_start = draw->stack - 1000,
		.arg_end = draw->stack - 900,
		.env_start = draw->stack - 900,
		.env_end = draw->stack - 100,
		.start_stack = draw->stack - 5008};
}

static bool taken(const struct place_maps *maps, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < maps->count; i++)
		if (start < maps->items[i].end && maps->items[i].start < end)
			return true;
	return false;
}

static struct place_map *exactly(struct place_maps *maps, uint64_t start, uint64_t size)
{
	for (size_t i = 0; i < maps->count; i++)
		if (maps->items[i].start == start && maps->items[i].end == start + size)
			return &maps->items[i];
	return NULL;
}

/* The kernel's part, strict: nothing is unmapped by a move, and nothing that is not there
 * is moved. */
static void carry_out(struct place_maps *maps, const struct remote_call *call)
{
	uint64_t start = call->args[0], size = call->args[1];
	struct place_map *map;

	switch (call->number) {
	case SYS_prctl: CHECK(start == PR_SET_MM && size == PR_SET_MM_MAP); break;
	case SYS_mremap:
		map = exactly(maps, start, size);
		CHECK(map && map->kind != PLACE_VSYSCALL && call->args[2] == size);
		CHECK(call->args[3] == (MREMAP_MAYMOVE | MREMAP_FIXED));
		CHECK(!taken(maps, call->args[4], call->args[4] + size));
		map->start = call->args[4];
		map->end = map->start + size;
		break;
	case SYS_mprotect:
		map = exactly(maps, start, size);
		CHECK(map && map->protection & PROT_EXEC);
		CHECK((int)call->args[2] == PROT_READ ||
			(int)call->args[2] == map->protection);
		break;
	case SYS_mmap:
		CHECK(call->args[3] & 0x100000 && !taken(maps, start, start + size));
		add_map(maps, start, size / PAGE, (int)call->args[2], PLACE_ODD);
		break;
	case SYS_munmap:
		map = maps->items;
		while (map->kind != PLACE_STACK)
			map++;
		CHECK(map->start == start && map->end > start + size);
		map->start = start + size;
		break;
	default: CHECK(call->number == SYS_madvise);
	}
}

static int compare_maps(const void *left, const void *right)
{
	const struct place_map *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static const char *place(struct place_maps *maps, uint64_t *brk,
	struct place_layout *layout, const struct place_image *image, bool sealed)
{
	static const uint64_t auxv[2];
	struct place_top top = {.auxv = auxv, .auxv_words = 2};
	static struct place_calls calls;
	static struct place_numbers numbers;

	const char *cause = place_layout_make(layout, image, sealed);
	if (cause)
		return cause;
	top.old_rsp = image->marks.start_stack & ~15ULL;
	top.rsp = place_layout_shift(layout, image->marks.start_stack + 512) & ~15ULL;
	place_calls_make(&calls, layout, image, &top);
	place_numbers_make(&numbers, layout, image, &top, layout->page);
	*maps = image->maps;
	CHECK(!taken(maps, layout->page, layout->page + PLACE_PAGE_ROOM));
	for (size_t i = 0; i < calls.count; i++) {
		/* Also once everything but the fill is at its place. */
		if (calls.items[i].number != SYS_mmap)
			CHECK(!taken(maps, layout->page, layout->page + PLACE_PAGE_ROOM));
		carry_out(maps, &calls.items[i]);
	}
	qsort(maps->items, maps->count, sizeof(maps->items[0]), compare_maps);
	*brk = numbers.words[4]; /* start_brk: the fifth of struct prctl_mm_map */
	return NULL;
}

static const struct draw draws[] = {
	/* As without randomisation, in the middle, and at the borders of 28 bits. */
	{0x7ffff7fff000, 0x555555554000, 0x7ffffffff000, 33},
	{0x7f43a1b2c000, 0x55d1e0b3f000, 0x7ffdc5d21000, 33},
	{0x7ffbff6ff000, 0x565555553000, 0x7ffffffff000, 33},
	{0x7efbff700000, 0x555555554000, 0x7ffc00001000, 33},
	/* Old and new places overlap: the program's, ld.so's, the stack's. */
	{0x7f43a1b2c000, 0x555555556000, 0x7ffdc5d21000, 33},
	{0x7f43a1b2c000, 0x55555555e000, 0x7fffffffe000, 33},
	{0x7efbf8003000, 0x55d1e0b3f000, 0x7fffffff0000, 63},
	{0x7f43a1b2c000, 0x555555955000, 0x7ffffffef000, 2000},
};

static void test_shape(const struct shape *shape)
{
	static struct place_maps first[2], maps;
	static struct place_image image;
	uint64_t first_brk = 0, brk;
	struct place_layout layout;

	for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++) {
		make_image(&image, shape, &draws[i]);
		const char *cause = place(&maps, &brk, &layout, &image, false);
		if (cause)
			fprintf(stderr, "%s, draw %zu: %s\n", shape->name, i, cause);
		CHECK(!cause);
		CHECK(layout.ceiling == PLACE_CEILING);
		/* But for the stack's size, which is the draw's. */
		for (size_t j = 0; j < maps.count; j++)
			if (maps.items[j].kind == PLACE_STACK) {
				CHECK(maps.items[j].end == 0x7ffffffff000);
				maps.items[j].start = 0x7fffff000000;
			}
		if (i == 0) {
			first[0] = maps;
			first_brk = brk;
		}
		CHECK(maps.count == first[0].count && brk == first_brk);
		CHECK(!memcmp(
			maps.items, first[0].items, maps.count * sizeof(maps.items[0])));
	}
}

/* The places themselves, written down by hand from a process under setarch -R. */
static void test_places(void)
{
	static struct place_maps maps;
	static struct place_image image;
	struct place_layout layout;
	uint64_t brk;

	make_image(&image, &shapes[0], &draws[1]);
	CHECK(!place(&maps, &brk, &layout, &image, false));
	CHECK(exactly(&maps, 0x555555554000, 2 * PAGE));
	CHECK(brk == 0x555555560000);
	CHECK(exactly(&maps, 0x7ffff7ffb000 - 0x10400000000, 4 * PAGE));
	CHECK(exactly(&maps, 0x7ffff7fc8000 - 0x10400000000, 2 * PAGE));
	CHECK(exactly(&maps, 0x7efbf7fff000, 0x10400000000));
	CHECK(place_layout_shift(&layout, image.vdso) == 0x7efbf7fc8000);

	/* Two megabytes below the ceiling there is room for the vdso above the program. */
	make_image(&image, &shapes[6], &draws[1]);
	CHECK(!place(&maps, &brk, &layout, &image, false));
	CHECK(exactly(&maps, 0x7efbf7fff000 - 2 * PAGE, 2 * PAGE));
	CHECK(exactly(&maps, 0x7efbf7800000, 512 * PAGE));
	make_image(&image, &shapes[1], &draws[1]);
	CHECK(!place(&maps, &brk, &layout, &image, false));
	CHECK(exactly(&maps, 0x555555400000, 512 * PAGE));
	make_image(&image, &shapes[3], &draws[1]);
	CHECK(!place(&maps, &brk, &layout, &image, false));
	CHECK(exactly(&maps, 0x400000, PAGE) && brk == 0x405000);
	make_image(&image, &shapes[5], &draws[1]);
	CHECK(!place(&maps, &brk, &layout, &image, false));
	CHECK(brk == 0x555555555000);
	CHECK(exactly(&maps, 0x7efbf7fff000 - 6 * PAGE, 6 * PAGE));
}

static void test_sealed(void)
{
	static struct place_maps maps;
	static struct place_image image;
	struct place_layout layout;
	uint64_t brk;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		make_image(&image, &shapes[i], &draws[1]);
		CHECK(!place(&maps, &brk, &layout, &image, true));
		CHECK(exactly(&maps, image.vdso, 2 * PAGE));
		CHECK(place_layout_shift(&layout, image.vdso) == image.vdso);
		/* The fill lies around it without a hole, and where it would have been.
		 */
		uint64_t low = image.vdso - 6 * PAGE, high = image.vdso + 2 * PAGE;
		CHECK(exactly(&maps, PLACE_CEILING, low - PLACE_CEILING));
		CHECK(exactly(&maps, high, PLACE_FILL_END - high));
		make_image(&image, &shapes[i], &draws[1]);
		CHECK(!place(&maps, &brk, &layout, &image, false));
		uint64_t room = place_layout_shift(&layout, image.vdso) - 6 * PAGE;
		CHECK(!place(&maps, &brk, &layout, &image, true));
		CHECK(exactly(&maps, room, 8 * PAGE));
	}
}

/* With 32 random bits, known from the sysctl or seen from where something is. */
static void test_wide(void)
{
	static struct place_maps maps;
	static struct place_image image;
	struct place_layout layout;
	uint64_t brk;
	const struct draw low = {0x6ffbff700000, 0x555555554000, 0x7ffdc5d21000, 33};
	const struct draw high = {0x7f43a1b2c000, 0x5e5555554000, 0x7ffdc5d21000, 33};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		make_image(&image, &shapes[i], &draws[1]);
		image.random_bits = 32;
		CHECK(!place(&maps, &brk, &layout, &image, false));
		CHECK(layout.ceiling == PLACE_CEILING_FAR);
		make_image(&image, &shapes[i], &low);
		image.random_bits = 0;
		CHECK(!place(&maps, &brk, &layout, &image, false));
		CHECK(layout.ceiling == PLACE_CEILING_FAR);
		make_image(&image, &shapes[i], &draws[1]);
		image.random_bits = 0;
		CHECK(!place(&maps, &brk, &layout, &image, false));
		CHECK(layout.ceiling == PLACE_CEILING);
	}
	/* Of other processes: a PIE, a vdso; but not those that were moved themselves. */
	static const struct {
		uint64_t address;
		bool wide;
	} others[] = {{0x5e5555554000, true}, {0x72c1a0bcd000, true}, {0x400040, false},
		{0x7f43a1b2c000, false}, {0x7efbf7fc8000, false}, {0x555555554040, false},
		{0x6ffbf7fc8000, true}, {0x7ffff7fc8000, false}, {0x565555553000, false}};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		make_image(&image, &shapes[4], &draws[1]);
		image.random_bits = 0;
		image.draws[0] = others[i].address;
		image.draw_count = 1;
		CHECK(!place(&maps, &brk, &layout, &image, false));
		CHECK((layout.ceiling == PLACE_CEILING_FAR) == others[i].wide);
	}
	make_image(&image, &shapes[0], &high);
	image.random_bits = 0;
	CHECK(!place(&maps, &brk, &layout, &image, false));
	CHECK(layout.ceiling == PLACE_CEILING_FAR);
}

static void test_refused(void)
{
	static struct place_image image;
	struct place_layout layout;

	make_image(&image, &shapes[0], &draws[1]);
	add_map(&image.maps, 0x10000, 1, PROT_READ, PLACE_PLAIN);
	CHECK(place_layout_make(&layout, &image, false));
	make_image(&image, &shapes[0], &draws[1]);
	add_map(&image.maps, 0x7fffffffe000, 1, PROT_EXEC, PLACE_ODD);
	CHECK(place_layout_make(&layout, &image, false));
	make_image(&image, &shapes[0], &draws[1]);
	for (size_t i = 0; i < image.maps.count; i++)
		if (image.maps.items[i].kind == PLACE_STACK)
			image.maps.items[i].kind = PLACE_VSYSCALL;
	CHECK(place_layout_make(&layout, &image, false));
	/* A program linked for where the fill goes, or for where ld.so goes. */
	for (int i = 0; i < 2; i++) {
		make_image(&image, &shapes[4], &draws[1]);
		uint64_t move = (i ? PLACE_CEILING - 3 * PAGE : PLACE_CEILING + PAGE) -
				image.program.low;
		image.program.low += move;
		image.program.high += move;
		image.program.end += move;
		for (size_t j = 0; j < 4; j++) {
			image.maps.items[j].start += move;
			image.maps.items[j].end += move;
		}
		CHECK(place_layout_make(&layout, &image, false));
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		test_shape(&shapes[i]);
	test_places();
	test_sealed();
	test_wide();
	test_refused();
	return 0;
}
