/* Counts by name, in a list with a hash table over it. */
#include "annotate/tally.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(const char *name)
{
	size_t value = 14695981039346656037u; /* FNV-1a */

	for (; *name; name++)
		value = (value ^ (unsigned char)*name) * 1099511628211u;
	return value;
}

static size_t slot(const struct tally *tally, const char *name)
{
	size_t mask = tally->table_size - 1, place = hash(name) & mask;

	while (tally->table[place] &&
		strcmp(tally->list[tally->table[place] - 1].name, name) != 0)
		place = (place + 1) & mask;
	return place;
}

static void grow(struct tally *tally)
{
	free(tally->table);
	tally->table_size = tally->table_size ? tally->table_size * 2 : 64;
	tally->table = xcalloc(tally->table_size, sizeof(*tally->table));
	for (size_t i = 0; i < tally->count; i++)
		tally->table[slot(tally, tally->list[i].name)] = i + 1;
}

size_t tally_index(struct tally *tally, const char *name)
{
	if ((tally->count + 1) * 2 > tally->table_size) {
		tally->list = xreallocarray(tally->list,
			tally->table_size ? tally->table_size : 64, sizeof(*tally->list));
		grow(tally);
	}
	size_t place = slot(tally, name);
	if (tally->table[place])
		return tally->table[place] - 1;
	tally->list[tally->count] = (struct tally_entry){xstrdup(name), 0};
	tally->table[place] = ++tally->count;
	return tally->count - 1;
}

void tally_add(struct tally *tally, const char *name, uint64_t count)
{
	size_t index = tally_index(tally, name); /* may move the list */

	tally->list[index].count += count;
}

static int compare(const void *a, const void *b)
{
	const struct tally_entry *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return strcmp(left->name, right->name);
}

void tally_sort(struct tally *tally)
{
	if (tally->count)
		qsort(tally->list, tally->count, sizeof(*tally->list), compare);
	if (tally->table_size) {
		memset(tally->table, 0, tally->table_size * sizeof(*tally->table));
		for (size_t i = 0; i < tally->count; i++)
			tally->table[slot(tally, tally->list[i].name)] = i + 1;
	}
}

void tally_release(struct tally *tally)
{
	for (size_t i = 0; i < tally->count; i++)
		free(tally->list[i].name);
	free(tally->list);
	free(tally->table);
	*tally = (struct tally){0};
}
