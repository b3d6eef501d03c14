/* Tables of named address ranges. */
#include "annotate/symbols.h"
#include "annotate/large.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	LOOK_BACK = 64, /* nested symbols passed on the way to the one around them */
	RADIX = 11,	/* bits sorted by at a time */
	PLACE_BITS = 24,
};

static void resize(struct symbols *symbols, size_t room)
{
	size_t each = sizeof(*symbols->list);

	symbols->list = large_grow(symbols->list, symbols->room * each, room * each);
	symbols->room = room;
}

void symbols_add(struct symbols *symbols, struct symbol symbol)
{
	if (symbols->count == symbols->room)
		resize(symbols, symbols->room ? symbols->room * 2 : 256);
	symbols->list[symbols->count++] = symbol;
}

void symbols_reserve(struct symbols *symbols, size_t more)
{
	if (symbols->count + more > symbols->room)
		resize(symbols, symbols->count + more);
}

const char *symbols_own(struct symbols *symbols, char *name)
{
	if ((symbols->owned_count & (symbols->owned_count - 1)) == 0)
		symbols->owned = xreallocarray(symbols->owned,
			symbols->owned_count ? symbols->owned_count * 2 : 1,
			sizeof(*symbols->owned));
	return symbols->owned[symbols->owned_count++] = name;
}

static size_t underscores(const char *name)
{
	size_t count = 0;

	while (name[count] == '_')
		count++;
	return count;
}

/* By address, the name to show first: code before data, with a size before without, then
 * the more public one, the one with fewer underscores, the shorter, the alphabet. */
static int compare(const void *a, const void *b)
{
	const struct symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if (left->data != right->data)
		return left->data ? 1 : -1;
	if ((left->rank == SYMBOLS_LABEL) != (right->rank == SYMBOLS_LABEL))
		return left->rank == SYMBOLS_LABEL ? 1 : -1;
	if (!left->size != !right->size)
		return left->size ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank > right->rank ? -1 : 1;
	if (left->name == right->name)
		return 0;
	size_t bars = underscores(left->name), other = underscores(right->name);
	if (bars != other)
		return bars < other ? -1 : 1;
	return strcmp(left->name, right->name);
}

struct key {
	uint64_t address;
	size_t place;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* One round of a radix sort: by the RADIX bits from `shift` on. */
static void distribute(const uint64_t *from, uint64_t *to, size_t count, unsigned shift)
{
	size_t starts[1 << RADIX] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[from[i] >> shift & ((1 << RADIX) - 1)]++;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		size_t size = starts[i];
		starts[i] = sum;
		sum += size;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i] >> shift & ((1 << RADIX) - 1)]++] = from[i];
}

/* The places of the symbols by address where address and place fit into one word, as those
 * of one file do; else false. Owned. */
static bool sort_words(const struct symbols *symbols, uint32_t *order)
{
	uint64_t least = UINT64_MAX, most = 0;
	unsigned shift = PLACE_BITS;

	for (size_t i = 0; i < symbols->count; i++) {
		uint64_t address = symbols->list[i].address;
		least = address < least ? address : least;
		most = address > most ? address : most;
	}
	if (symbols->count >> PLACE_BITS || (most - least) >> (64 - PLACE_BITS))
		return false;
	size_t words_size = 2 * symbols->count * sizeof(uint64_t);
	uint64_t *words = large_new(words_size);
	uint64_t *from = words, *to = words + symbols->count;
	for (size_t i = 0; i < symbols->count; i++)
		from[i] = (symbols->list[i].address - least) << PLACE_BITS | i;
	for (; shift < 64 && (most - least) >> (shift - PLACE_BITS); shift += RADIX) {
		distribute(from, to, symbols->count, shift);
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < symbols->count; i++)
		order[i] = (uint32_t)(from[i] & ((1 << PLACE_BITS) - 1));
	large_free(words, words_size);
	return true;
}

static void sort_keys(const struct symbols *symbols, uint32_t *order)
{
	struct key *keys = xreallocarray(NULL, symbols->count, sizeof(*keys));

	for (size_t i = 0; i < symbols->count; i++)
		keys[i] = (struct key){symbols->list[i].address, i};
	qsort(keys, symbols->count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < symbols->count; i++)
		order[i] = (uint32_t)keys[i].place;
	free(keys);
}

/* Sorts by small keys, which is much faster than moving symbols about, and looks at names
 * only among symbols of one address. */
static void sort(struct symbols *symbols)
{
	uint32_t *order = xreallocarray(NULL, symbols->count, sizeof(*order));
	struct symbol *sorted = large_new(symbols->count * sizeof(*sorted));
	size_t kept = 0;

	if (!sort_words(symbols, order))
		sort_keys(symbols, order);
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->list[order[i]];
		if (kept && sorted[kept - 1].address == symbol->address) {
			if (compare(symbol, &sorted[kept - 1]) < 0)
				sorted[kept - 1] = *symbol;
		} else {
			sorted[kept++] = *symbol;
		}
	}
	free(order);
	large_free(symbols->list, symbols->room * sizeof(*sorted));
	symbols->list = sorted;
	symbols->room = symbols->count;
	symbols->count = kept;
}

void symbols_index(struct symbols *symbols)
{
	uint64_t covered = 0;
	size_t kept = 0;

	if (!symbols->count)
		return;
	sort(symbols);
	struct symbol *list = symbols->list;
	for (size_t i = 0; i < symbols->count; i++) {
		/* A label within a function is a place in it, not another one. */
		if (list[i].rank == SYMBOLS_LABEL && list[i].address < covered)
			continue;
		list[kept] = list[i];
		if (list[kept].address + list[kept].size > covered)
			covered = list[kept].address + list[kept].size;
		kept++;
	}
	symbols->count = kept;
	for (size_t i = 0; i + 1 < kept; i++)
		if (!list[i].size)
			list[i].size = list[i + 1].address - list[i].address;
	if (!list[kept - 1].size)
		list[kept - 1].size = 1;
}

struct symbol *symbols_find(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (symbols->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (int i = 0; low > 0 && i < LOOK_BACK; i++) {
		struct symbol *symbol = &symbols->list[--low];
		if (address - symbol->address < symbol->size)
			return symbol;
	}
	return NULL;
}

void symbols_release(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->owned_count; i++)
		free(symbols->owned[i]);
	free(symbols->owned);
	large_free(symbols->list, symbols->room * sizeof(*symbols->list));
	*symbols = (struct symbols){0};
}
