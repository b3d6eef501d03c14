/* Names for code.
 *
 * perf map (tools/perf/Documentation/jit-interface.txt): lines "START SIZE NAME", hex,
 * hex, the rest of the line. jitdump
 * (tools/perf/Documentation/jitdump-specification.txt): a header that tells its own size,
 * then records {u32 id, u32 total size, u64 time}; id 0 is a load: u32 pid, tid; u64 vma,
 * address, size, index; name\0; code. */
#include "launcher/codesym.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"

void codesyms_release(struct codesyms *syms)
{
	for (size_t i = 0; i < syms->count; i++)
		free(syms->items[i].name);
	free(syms->items);
	*syms = (struct codesyms){0};
}

static void add(struct codesyms *syms, uint64_t address, uint64_t size, const char *name,
	size_t length)
{
	if (!size || size > UINT64_MAX - address || !length)
		return;
	if (syms->count == syms->room) {
		syms->room = syms->room ? syms->room * 2 : 256;
		syms->items =
			xreallocarray(syms->items, syms->room, sizeof(*syms->items));
	}
	char *copy = xmalloc(length + 1);
	memcpy(copy, name, length);
	copy[length] = '\0';
	syms->items[syms->count++] = (struct codesym){address, size, copy};
}

/* A hexadecimal number, "0x" before it or not, and the blanks behind it. */
static bool read_hex(const char **at, const char *end, uint64_t *number)
{
	const char *digit = *at;
	uint64_t value = 0;
	int count = 0;

	if (end - digit > 2 && digit[0] == '0' && (digit[1] == 'x' || digit[1] == 'X'))
		digit += 2;
	for (; digit < end; digit++, count++) {
		char c = *digit;
		unsigned nibble;
		if (c >= '0' && c <= '9')
			nibble = (unsigned)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			nibble = (unsigned)((c | 32) - 'a' + 10);
		else
			break;
		value = value << 4 | nibble;
	}
	if (!count || count > 16 || digit == end || *digit != ' ')
		return false;
	while (digit < end && *digit == ' ')
		digit++;
	*at = digit;
	*number = value;
	return true;
}

void codesyms_read_map(struct codesyms *syms, const char *text, size_t size)
{
	const char *end = text + size, *next;

	for (const char *at = text; at < end; at = next) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		uint64_t address, length;

		next = newline ? newline + 1 : end;
		if (read_hex(&at, line_end, &address) && read_hex(&at, line_end, &length))
			add(syms, address, length, at, (size_t)(line_end - at));
	}
}

/* The numbers are read where they stand, in the writer's byte order: this machine's. */
static uint32_t get32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint64_t get64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

void codesyms_read_jitdump(struct codesyms *syms, const uint8_t *bytes, size_t size)
{
	enum {
		MAGIC = 0x4a695444,
		HEADER_SIZE_AT = 8,
		HEADER = 40,
		RECORD = 16,
		LOAD = 0,
		ADDRESS_AT = RECORD + 16,
		SIZE_AT = RECORD + 24,
		NAME_AT = RECORD + 40,
	};

	if (size < HEADER || get32(bytes) != MAGIC)
		return;
	size_t at = get32(bytes + HEADER_SIZE_AT);
	while (at < size && size - at >= RECORD) {
		const uint8_t *record = bytes + at;
		uint32_t length = get32(record + 4);

		if (length < RECORD || length > size - at)
			return;
		if (get32(record) == LOAD && length > NAME_AT) {
			const char *name = (const char *)record + NAME_AT;
			add(syms, get64(record + ADDRESS_AT), get64(record + SIZE_AT),
				name, strnlen(name, length - NAME_AT));
		}
		at += length;
	}
}

static int compare_address(const void *left, const void *right)
{
	const struct codesym *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* The first of `count` ordered symbols that ends above an address. */
static size_t find(const struct codesym *items, size_t count, uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (items[middle].address + items[middle].size > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Sorted runs of doubling size: each symbol moves a logarithmic number of times, however
 * the addresses come. */
struct level {
	struct codesym *items;
	size_t count;
};

static bool overlaps(
	const struct level *levels, size_t level_count, const struct codesym *symbol)
{
	for (size_t i = 0; i < level_count; i++) {
		size_t at = find(levels[i].items, levels[i].count, symbol->address);
		if (at < levels[i].count &&
			levels[i].items[at].address < symbol->address + symbol->size)
			return true;
	}
	return false;
}

static void merge(struct level *into, struct level *from)
{
	into->items = xreallocarray(
		into->items, into->count + from->count, sizeof(*into->items));
	memcpy(into->items + into->count, from->items,
		from->count * sizeof(*from->items));
	into->count += from->count;
	qsort(into->items, into->count, sizeof(*into->items), compare_address);
	free(from->items);
	*from = (struct level){0};
}

void codesyms_settle(struct codesyms *syms)
{
	enum { LEVELS = 64 };
	struct level levels[LEVELS] = {0};
	size_t level_count = 0;

	/* The newest first; an older one that touches a newer one has been overwritten.
	 */
	for (size_t i = syms->count; i-- > 0;) {
		struct codesym *symbol = &syms->items[i];
		if (overlaps(levels, level_count, symbol)) {
			free(symbol->name);
			continue;
		}
		struct codesym *single = xmalloc(sizeof(*single));
		*single = *symbol;
		levels[level_count++] = (struct level){single, 1};
		while (level_count > 1 &&
			levels[level_count - 2].count <= levels[level_count - 1].count) {
			merge(&levels[level_count - 2], &levels[level_count - 1]);
			level_count--;
		}
	}
	while (level_count > 1) {
		merge(&levels[level_count - 2], &levels[level_count - 1]);
		level_count--;
	}
	free(syms->items);
	*syms = (struct codesyms){levels[0].items, levels[0].count, levels[0].count};
}
