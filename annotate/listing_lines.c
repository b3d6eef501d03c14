/* Source lines and bytecodes between the instructions. */
#include "annotate/bytecode.h"
#include "annotate/lines.h"
#include "annotate/listing.h"
#include "annotate/source.h"
#include "launcher/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SOURCE_ROOM = 200,  /* bytes of a source line that are shown */
	INLINE_ROOM = 1024, /* of the names of functions inlined into each other */
};

struct native { /* debug information that is open */
	struct module *module;
	struct lines *lines;
};

struct listing_sources {
	struct source *source;
	struct native *native;
	size_t native_count;
};

/* What a run of instructions came from. */
struct origin {
	uint64_t offset;
	uint32_t line;
	uint32_t discriminator;
	const char *file;
	const char *directory; /* what it is relative to; NULL: the recorded one */
};

struct listing_sources *listing_sources_new(const char *symfs)
{
	struct listing_sources *sources = xcalloc(1, sizeof(*sources));

	sources->source = source_new(symfs);
	return sources;
}

void listing_sources_free(struct listing_sources *sources)
{
	for (size_t i = 0; i < sources->native_count; i++)
		lines_free(sources->native[i].lines);
	free(sources->native);
	source_free(sources->source);
	free(sources);
}

static struct origin *add(struct origin *list, size_t *count, struct origin origin)
{
	if ((*count & (*count - 1)) == 0)
		list = xreallocarray(list, *count ? *count * 2 : 1, sizeof(*list));
	list[(*count)++] = origin;
	return list;
}

static struct origin *code_origins(const struct code *code, size_t *count)
{
	struct jitdump_record lines = code->lines;
	struct origin *list = NULL;
	struct origin origin = {0};
	uint64_t address;

	while (jitdump_line(
		&lines, &address, &origin.line, &origin.discriminator, &origin.file)) {
		/* Addresses are those of the load, whatever moved it afterwards. */
		origin.offset = address - code->lines.address - code->line_shift;
		if (origin.offset < code->size)
			list = add(list, count, origin);
	}
	return list;
}

static struct lines *open_native(struct listing_sources *sources, struct module *module)
{
	for (size_t i = 0; i < sources->native_count; i++)
		if (sources->native[i].module == module)
			return sources->native[i].lines;
	sources->native = xreallocarray(
		sources->native, sources->native_count + 1, sizeof(*sources->native));
	struct native *native = &sources->native[sources->native_count++];
	native->module = module;
	native->lines = lines_open(module);
	return native->lines;
}

static struct origin *native_origins(
	struct listing_sources *sources, const struct function *function, size_t *count)
{
	struct lines *lines = function->kind == FUNCTION_KERNEL
				      ? NULL
				      : open_native(sources, function->module);
	struct origin *list = NULL;
	size_t entries = 0;

	if (!lines)
		return NULL;
	uint64_t start = function->symbol->address;
	struct lines_entry *table =
		lines_of(lines, start, start + function->size, &entries);
	for (size_t i = 0; i < entries; i++)
		list = add(list, count,
			(struct origin){table[i].address - start, table[i].line, 0,
				table[i].file, table[i].directory});
	free(table);
	return list;
}

/* The chain of inlined functions at each row, outermost first. They come outer before inner,
 * so that what is put behind is within what stands. */
static void add_inlines(struct listing_sources *sources, struct listing *listing)
{
	const struct function *function = listing->function;
	struct lines *lines = function->module && function->kind != FUNCTION_KERNEL
				      ? open_native(sources, function->module)
				      : NULL;
	char chain[INLINE_ROOM], last[INLINE_ROOM] = "";
	size_t count = 0, kept = 0;

	if (!lines)
		return;
	uint64_t start = function->symbol->address;
	struct lines_inline *list =
		lines_inlines(lines, start, start + function->size, &count);
	for (size_t i = 0; i < listing->count && count; i++) {
		struct listing_row *row = &listing->rows[i];
		size_t used = 0;
		chain[0] = '\0';
		for (size_t k = 0; k < count; k++) {
			if (start + row->offset < list[k].start ||
				start + row->offset >= list[k].end)
				continue;
			int more = snprintf(chain + used, sizeof(chain) - used, "%s%s",
				used ? "\n" : "", list[k].name);
			if (more < 0 || (size_t)more >= sizeof(chain) - used)
				break;
			used += (size_t)more;
		}
		chain[used] = '\0';
		if (strcmp(chain, last) != 0)
			kept = used ? listing_keep(listing, chain, used) : 0;
		memcpy(last, chain, used + 1);
		row->inlined = kept;
	}
	free(list);
}

static int compare(const void *a, const void *b)
{
	const struct origin *left = a, *right = b;

	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void show_line(struct listing_sources *sources, struct listing *listing,
	struct listing_row *row, const struct origin *origin)
{
	const char *base = strrchr(origin->file, '/');
	size_t length = 0;
	const char *text = source_line(sources->source,
		origin->directory ? origin->directory : listing->function->input->cwd,
		origin->file, origin->line, &length);
	char line[SOURCE_ROOM + 512];

	if (length > SOURCE_ROOM)
		length = SOURCE_ROOM;
	int used = snprintf(line, sizeof(line), "%.256s:%u%s%.*s",
		base ? base + 1 : origin->file, origin->line, text ? "  " : "",
		text ? (int)length : 0, text ? text : "");
	if (used > 0)
		row->source = listing_keep(listing, line, (size_t)used);
}

static void show_bytecode(
	struct listing *listing, struct listing_row *row, uint32_t discriminator)
{
	const char *name = bytecode_name(bytecode_opcode(discriminator));
	char text[64];

	if (!name)
		return;
	/* As dis counts them: a code unit is two bytes. */
	int used = snprintf(
		text, sizeof(text), "%u %s", 2 * bytecode_index(discriminator), name);
	row->bytecode = listing_keep(listing, text, (size_t)used);
}

void listing_add_lines(struct listing_sources *sources, struct listing *listing)
{
	const struct function *function = listing->function;
	const struct code *code = function->code;
	const struct origin *last = NULL;
	size_t count = 0, next = 0;
	struct origin *list = code ? code_origins(code, &count)
				   : native_origins(sources, function, &count);
	/* Only build/jit, which also logs its patches, tells bytecodes in this way. */
	bool bytecodes = code && code->set->patches;
	size_t file = 0;

	if (count)
		qsort(list, count, sizeof(*list), compare);
	for (size_t i = 0; i < listing->count && count; i++) {
		struct listing_row *row = &listing->rows[i];
		const struct origin *now = last;
		while (next < count && list[next].offset <= row->offset)
			now = &list[next++];
		if (!now)
			continue;
		if (now != last && now->line &&
			(!last || now->line != last->line ||
				strcmp(now->file, last->file) != 0))
			show_line(sources, listing, row, now);
		if (now != last && bytecodes &&
			(!last || now->discriminator != last->discriminator))
			show_bytecode(listing, row, now->discriminator);
		if (!last || (now != last && now->file != last->file))
			file = listing_keep(listing, now->file, strlen(now->file));
		row->line = now->line;
		row->file = file;
		last = now;
	}
	free(list);
	add_inlines(sources, listing);
}
