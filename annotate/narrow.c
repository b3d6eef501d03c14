/* Ranges of addresses: of code objects whose name holds what is wanted, and of files in whose
 * symbol names all its words occur. */
#include "annotate/narrow.h"
#include "launcher/base.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct range {
	uint64_t start, end;
};

struct narrow {
	struct range *ranges; /* by address, apart; owned */
	size_t count;
};

struct search {
	const char *wanted;
	bool by_address;
	uint64_t address;
	char **words; /* owned */
	size_t word_count;
	struct narrow *narrow;
};

static void add(struct search *search, uint64_t start, uint64_t end)
{
	struct narrow *narrow = search->narrow;

	if ((narrow->count & (narrow->count - 1)) == 0)
		narrow->ranges = xreallocarray(narrow->ranges,
			narrow->count ? narrow->count * 2 : 1, sizeof(*narrow->ranges));
	narrow->ranges[narrow->count++] = (struct range){start, end};
}

/* What of a name stands in a symbol table also where that is mangled: its identifiers. */
static void split(struct search *search)
{
	for (const char *at = search->wanted; *at;) {
		size_t length = 0;
		while (isalnum((unsigned char)at[length]) || at[length] == '_')
			length++;
		if (length) {
			search->words = xreallocarray(search->words,
				search->word_count + 1, sizeof(*search->words));
			search->words[search->word_count++] =
				xasprintf("%.*s", (int)length, at);
		}
		at += length ? length : 1;
	}
}

/* A code object that stood in several places is asked for by any of them. */
static void search_code(struct search *search, const struct code_set *set)
{
	for (size_t i = 0; i < set->place_count; i++) {
		const struct code_place *place = set->places[i];
		const struct code *code = place->code;
		bool found = search->by_address
				     ? search->address - code->address < code->size
				     : strstr(code->name, search->wanted) != NULL;
		if (found)
			add(search, place->address, place->address + code->size);
	}
}

/* Whether a name that is wanted can be that of a C++ symbol as people read it: with what no such
 * name has it can only stand in the table as it is. */
static bool may_be_mangled(const char *wanted)
{
	for (const char *at = wanted; *at; at++) {
		if (at[0] == ':' && at[1] == ':')
			at++;
		else if (strchr(":/@$", *at) || (*at == '.' && !strstr(wanted, "[clone")))
			return false;
	}
	return true;
}

static bool mentions(const struct search *search, struct module *module)
{
	bool all = true;

	if (module->file && !may_be_mangled(search->wanted)) {
		size_t length = strlen(search->wanted);
		bool plt = length > 4 && strcmp(search->wanted + length - 4, "@plt") == 0;
		cleanup_free char *raw = xasprintf(
			"%.*s", (int)(plt ? length - 4 : length), search->wanted);
		return elffile_may_name(module->file, raw);
	}
	for (size_t i = 0; all && module->file && i < search->word_count; i++)
		all = elffile_may_name(module->file, search->words[i]);
	return all && module->file;
}

static bool is_at(const struct input *input, const char *path, uint64_t address)
{
	for (size_t i = 0; i < input->machine.all_count; i++) {
		const struct spans *maps = &input->machine.all[i]->maps;
		for (size_t k = 0; k < maps->count; k++) {
			const struct mapping *mapping = maps->list[k].value;
			if (address >= mapping->start && address < mapping->end &&
				strcmp(mapping->path, path) == 0)
				return true;
		}
	}
	return false;
}

/* Each file is asked once: mappings of one follow each other, or nearly so. */
static void search_maps(
	struct search *search, struct input *input, const struct process *process)
{
	const struct module *last = NULL;
	bool found = false;

	for (size_t i = 0; i < process->maps.count; i++) {
		struct mapping *mapping = process->maps.list[i].value;
		if (!mapping->file && strcmp(mapping->path, "[vdso]") != 0)
			continue;
		struct module *module = input_file(input, mapping);
		if (module != last)
			found = search->by_address
					? is_at(input, mapping->path, search->address)
					: mentions(search, module);
		last = module;
		if (found)
			add(search, mapping->start, mapping->end);
	}
}

static int compare(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->start < right->start ? -1 : left->start > right->start;
}

static void join(struct narrow *narrow)
{
	size_t kept = 0;

	if (narrow->count)
		qsort(narrow->ranges, narrow->count, sizeof(*narrow->ranges), compare);
	for (size_t i = 0; i < narrow->count; i++) {
		struct range *range = &narrow->ranges[i];
		struct range *last = kept ? &narrow->ranges[kept - 1] : NULL;
		if (last && range->start <= last->end)
			last->end = range->end > last->end ? range->end : last->end;
		else
			narrow->ranges[kept++] = *range;
	}
	narrow->count = kept;
}

/* Names made up from the unwind table ("bare+0x1149") stand in no table. */
static bool can_narrow(const struct search *search)
{
	return search->by_address ||
	       (search->word_count && !strstr(search->wanted, "+0x"));
}

struct narrow *narrow_new(struct input *input, const char *wanted)
{
	struct search search = {.wanted = wanted};
	char *end;

	search.address = strtoull(wanted, &end, 16);
	search.by_address = strncmp(wanted, "0x", 2) == 0 && !*end;
	split(&search);
	if (can_narrow(&search)) {
		search.narrow = xcalloc(1, sizeof(*search.narrow));
		for (size_t i = 0; i < input->machine.all_count; i++) {
			const struct process *process = input->machine.all[i];
			if (process->code)
				search_code(&search, process->code);
			search_maps(&search, input, process);
		}
		join(search.narrow);
	}
	for (size_t i = 0; i < search.word_count; i++)
		free(search.words[i]);
	free(search.words);
	return search.narrow;
}

void narrow_free(struct narrow *narrow)
{
	if (!narrow)
		return;
	free(narrow->ranges);
	free(narrow);
}

bool narrow_admits(const struct narrow *narrow, uint64_t address)
{
	size_t low = 0, high = narrow->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (narrow->ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < narrow->count && narrow->ranges[low].start <= address;
}
