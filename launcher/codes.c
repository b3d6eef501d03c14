/* Reading the code objects of a RUN. A line of a perf map is "ADDRESS SIZE NAME", the numbers
 * in hex (the kernel's tools/perf/Documentation/jit-interface.txt). */
#include "launcher/codes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/run.h"

enum { MAP_LIMIT = 1 << 30 };

static void add(struct codes *codes, size_t *room, const struct code *code)
{
	if (codes->count == *room) {
		*room = *room ? *room * 2 : 256;
		codes->items = xreallocarray(codes->items, *room, sizeof(*codes->items));
	}
	codes->items[codes->count++] = *code;
}

static bool parse_line(struct code *code, char *line)
{
	char *end;

	*code = (struct code){0};
	if (*line == '-' || *line == ' ')
		return false;
	errno = 0;
	code->address = strtoull(line, &end, 16);
	if (errno || end == line || *end != ' ' || end[1] == '-')
		return false;
	line = end + 1;
	code->size = strtoull(line, &end, 16);
	if (errno || end == line || *end != ' ')
		return false;
	code->name = end + 1;
	return *code->name != '\0';
}

void codes_parse_map(struct codes *codes, char *text, size_t size)
{
	size_t room = codes->count;

	codes->map = text;
	for (char *line = text, *next; line < text + size; line = next) {
		struct code code;
		char *newline = memchr(line, '\n', (size_t)(text + size - line));
		next = newline ? newline + 1 : text + size;
		if (newline)
			*newline = '\0';
		if (parse_line(&code, line))
			add(codes, &room, &code);
		else
			codes->ignored++;
	}
}

struct adding {
	struct codes *codes;
	size_t room;
};

static void add_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
	struct adding *adding = context;

	add(adding->codes, &adding->room,
		&(struct code){.address = address, .size = size, .name = name});
}

static void add_region(
	void *context, const char *section, uint64_t address, uint64_t size)
{
	struct adding *adding = context;
	struct codes *codes = adding->codes;

	/* Numbered, because the section's name may hold the address. */
	(void)section;
	strv_add(&codes->names, xasprintf("region %zu", codes->count + 1));
	add(codes, &adding->room,
		&(struct code){.address = address,
			.size = size,
			.name = codes->names.items[codes->names.count - 1]});
}

struct named {
	const char *name;
	size_t index;
};

static int compare_named(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

static struct named *sort_by_name(const struct codes *codes)
{
	struct named *names = xcalloc(codes->count, sizeof(*names));

	for (size_t i = 0; i < codes->count; i++)
		names[i] = (struct named){codes->items[i].name, i};
	if (codes->count)
		qsort(names, codes->count, sizeof(*names), compare_named);
	return names;
}

size_t *codes_pair(const struct codes *a, const struct codes *b)
{
	cleanup_free struct named *left = sort_by_name(a), *right = sort_by_name(b);
	size_t *partner = xcalloc(a->count, sizeof(*partner));
	size_t i = 0, j = 0;

	while (i < a->count) {
		int order = j == b->count ? -1 : strcmp(left[i].name, right[j].name);
		if (order == 0)
			partner[left[i++].index] = right[j++].index;
		else if (order < 0)
			partner[left[i++].index] = b->count;
		else
			j++;
	}
	return partner;
}

void codes_read(struct codes *codes, const struct run *run)
{
	char name[40];
	size_t size;

	*codes = (struct codes){0};
	snprintf(name, sizeof(name), "perf-%d.map", (int)run->info.pid);
	char *text = run_read_file(run->directory, name, MAP_LIMIT, &size);
	if (text)
		codes_parse_map(codes, text, size);
	codes->have_elf = elf_file_open_at(&codes->elf, run->directory, "code.elf") == 0;
	if (!codes->have_elf)
		return;
	codes->bytes = elf_file_code_bytes(&codes->elf);
	struct adding adding = {.codes = codes};
	if (codes->count == 0)
		elf_file_each_function(&codes->elf, add_symbol, &adding);
	if (codes->count == 0)
		elf_file_each_code(&codes->elf, add_region, &adding);
	for (size_t i = 0; i < codes->count; i++)
		codes->items[i].bytes = elf_file_at(
			&codes->elf, codes->items[i].address, codes->items[i].size);
}

void codes_release(struct codes *codes)
{
	elf_file_close(&codes->elf);
	free(codes->items);
	free(codes->map);
	strv_release(&codes->names);
	*codes = (struct codes){0};
}
