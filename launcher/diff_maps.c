/* Comparing the memory maps, the stack and the heap of two runs.
 *
 * Mappings are paired by what they are: a file's by file and offset, the kernel's by name,
 * anonymous ones by their place, or else by size and access in the order of their places.
 * A run that was looked at while it ran shows anonymous memory of one moment: what has no
 * partner there is not called moved. */
#include "launcher/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/maps.h"
#include "launcher/run.h"

struct side {
	struct maps maps;
	bool *paired;
	pid_t pid;
	const char *program; /* the name of the program's own mappings, or NULL */
};

static uint64_t number_of(const struct run_pairs *pairs, const char *name)
{
	const char *text = run_pairs_get(pairs, name);

	return text ? strtoull(text, NULL, 16) : 0;
}

/* Two copies of a program at different paths are the same program. */
static void find_program(struct side *side, const struct run *run)
{
	uint64_t entry = number_of(&run->info.auxv, "AT_ENTRY");

	for (size_t i = 0; i < side->maps.count; i++) {
		const struct map *map = &side->maps.items[i];
		if (entry >= map->start && entry < map->end && *map->name)
			side->program = map->name;
	}
}

static int side_read(struct side *side, const struct run *run, const char *file)
{
	long result = maps_read(&side->maps, run->directory, file);

	if (result != 0) {
		if (result > 0)
			warn("cannot read '%s/%s': line %ld makes no sense", run->path,
				file, result);
		else
			warn("cannot read '%s/%s': %s", run->path, file, strerror(errno));
		return -1;
	}
	side->paired = xcalloc(side->maps.count + 1, sizeof(*side->paired));
	side->pid = run->info.pid;
	find_program(side, run);
	return 0;
}

static void side_release(struct side *side)
{
	maps_release(&side->maps);
	free(side->paired);
}

static bool is_program(const struct side *side, const struct map *map)
{
	return side->program && strcmp(map->name, side->program) == 0;
}

/* A runtime's own files carry its pid: "jit-4711.dump" is the same file in the next run. */
static bool same_name(const char *x, pid_t x_pid, const char *y, pid_t y_pid)
{
	char x_digits[16], y_digits[16];

	if (strcmp(x, y) == 0)
		return true;
	size_t x_length = (size_t)snprintf(x_digits, sizeof(x_digits), "%d", (int)x_pid);
	size_t y_length = (size_t)snprintf(y_digits, sizeof(y_digits), "%d", (int)y_pid);
	const char *x_at = strstr(x, x_digits), *y_at = strstr(y, y_digits);
	return x_at && y_at && x_at - x == y_at - y &&
	       strncmp(x, y, (size_t)(x_at - x)) == 0 &&
	       strcmp(x_at + x_length, y_at + y_length) == 0;
}

static bool same_file(const struct side *a, const struct map *x, const struct side *b,
	const struct map *y)
{
	if (!*x->name || !*y->name)
		return false;
	if (is_program(a, x) != is_program(b, y))
		return false;
	return (is_program(a, x) || same_name(x->name, a->pid, y->name, b->pid)) &&
	       (*x->name == '[' || x->offset == y->offset);
}

static bool same_place(const struct map *x, const struct map *y)
{
	return !*x->name && !*y->name && x->start == y->start;
}

static bool same_shape(const struct map *x, const struct map *y)
{
	return !*x->name && !*y->name && x->end - x->start == y->end - y->start &&
	       strcmp(x->access, y->access) == 0;
}

static bool matches(const struct side *a, const struct map *x, const struct side *b,
	const struct map *y, int pass)
{
	switch (pass) {
	case 0: return same_file(a, x, b, y);
	case 1: return same_place(x, y);
	default: return same_shape(x, y);
	}
}

/* partner[i]: the index in b of a's i-th, or b's count. Each pass goes through both lists
 * in the order of addresses, so that equals are paired in order. */
static size_t *pair(struct side *a, struct side *b)
{
	size_t *partner = xcalloc(a->maps.count + 1, sizeof(*partner));

	for (size_t i = 0; i < a->maps.count; i++)
		partner[i] = b->maps.count;
	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < a->maps.count; i++) {
			if (a->paired[i])
				continue;
			for (size_t j = 0; j < b->maps.count; j++) {
				if (b->paired[j] || !matches(a, &a->maps.items[i], b,
							    &b->maps.items[j], pass))
					continue;
				a->paired[i] = b->paired[j] = true;
				partner[i] = j;
				break;
			}
		}
	}
	return partner;
}

static void add_group(struct diff_group **groups, size_t *count, const struct map *map,
	uint64_t from, uint64_t to, bool program)
{
	*groups = xreallocarray(*groups, *count + 1, sizeof(**groups));
	(*groups)[(*count)++] = (struct diff_group){
		.first = xstrdup(*map->name ? map->name : "anonymous memory"),
		.from = from,
		.to = to,
		.count = 1,
		.program = program};
}

/* The stack grows down from its end; everything else begins at its start. */
static uint64_t place_of(const struct map *map)
{
	return strcmp(map->name, "[stack]") == 0 ? map->end : map->start;
}

static void note_pair(
	struct diff *diff, const struct side *a, const struct map *x, const struct map *y)
{
	uint64_t from = place_of(x), to = place_of(y);
	bool program = is_program(a, x);
	struct diff_group *last =
		diff->mappings.group_count
			? &diff->mappings.groups[diff->mappings.group_count - 1]
			: NULL;

	diff->mappings.compared++;
	if (from == to)
		return;
	diff->mappings.moved++;
	diff->moved |= program ? DIFF_PROGRAM : DIFF_MAPPINGS;
	if (last && last->to - last->from == to - from && last->program == program)
		last->count++;
	else
		add_group(&diff->mappings.groups, &diff->mappings.group_count, x, from,
			to, program);
}

/* A file that only one of the runs has mapped. */
static void note_only(struct diff *diff, const struct map *map, bool in_a)
{
	if (*map->name != '/')
		return;
	for (size_t i = 0; i < diff->mappings.only_count; i++) {
		if (strcmp(diff->mappings.only[i].first, map->name) == 0)
			return;
	}
	add_group(&diff->mappings.only, &diff->mappings.only_count, map,
		in_a ? map->start : 0, in_a ? 0 : map->start, false);
}

static void compare(struct diff *diff, struct side *a, struct side *b)
{
	cleanup_free size_t *partner = pair(a, b);

	/* From the top down: the order in which mmap gives addresses out. */
	for (size_t i = a->maps.count; i-- > 0;) {
		const struct map *map = &a->maps.items[i];
		/* The heap has its own line. */
		if (strcmp(map->name, "[heap]") == 0)
			continue;
		if (partner[i] < b->maps.count)
			note_pair(diff, a, map, &b->maps.items[partner[i]]);
		else
			note_only(diff, map, true);
	}
	for (size_t j = b->maps.count; j-- > 0;) {
		if (!b->paired[j])
			note_only(diff, &b->maps.items[j], false);
	}
}

static void compare_marks(struct diff *diff, const struct run *a, const struct run *b)
{
	diff->stack.from = number_of(&a->info.marks, "start_stack");
	diff->stack.to = number_of(&b->info.marks, "start_stack");
	diff->stack.known = diff->stack.from && diff->stack.to;
	if (diff->stack.known && diff->stack.from != diff->stack.to)
		diff->moved |= DIFF_STACK;
	diff->heap.from = number_of(&a->info.marks, "start_brk");
	diff->heap.to = number_of(&b->info.marks, "start_brk");
	diff->heap.known = diff->heap.from && diff->heap.to;
	if (diff->heap.known && diff->heap.from != diff->heap.to)
		diff->moved |= DIFF_HEAP;
}

static bool has_file(const struct run *run, const char *name)
{
	size_t size;
	cleanup_free char *text =
		run_read_file(run->directory, name, SIZE_MAX / 4, &size);

	return text != NULL;
}

int diff_compare_maps(struct diff *diff, const struct run *a, const struct run *b)
{
	static const char *const files[] = {"maps.exit", "maps.start"};
	struct side left = {0}, right = {0};

	compare_marks(diff, a, b);
	for (size_t i = 0; i < ARRAY_SIZE(files) && !diff->mappings.file; i++) {
		if (has_file(a, files[i]) && has_file(b, files[i]))
			diff->mappings.file = files[i];
	}
	if (!diff->mappings.file)
		return 0;
	int result = side_read(&left, a, diff->mappings.file);
	if (result == 0)
		result = side_read(&right, b, diff->mappings.file);
	if (result == 0)
		compare(diff, &left, &right);
	side_release(&left);
	side_release(&right);
	return result;
}
