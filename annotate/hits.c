/* The store of hits. Whoever asks keeps what he got, so that few places are asked for twice:
 * only from UNCHECKED on a table finds out which, and keeps memory in bounds. Its entries hold
 * the hash, so that a place is found, or found to be new, without a look at hits far away in
 * memory. */
#include "annotate/hits.h"
#include "annotate/large.h"
#include "annotate/profile.h"
#include "launcher/base.h"

#include <stdlib.h>

enum {
	HITS_A_BLOCK = 1024,
	UNCHECKED = 1 << 18,
	FIRST_TABLE = UNCHECKED * 4,
	LARGEST_CHUNK = 1 << 21,
};

struct hits_slot {
	uint32_t hash;
	uint32_t number; /* of the hit, 1…; 0: free */
};

struct hits_chunk {
	char *memory; /* owned */
	size_t size, used;
};

static uint32_t hash(const struct hit *key)
{
	uint64_t value = (uint64_t)(uintptr_t)key->function ^ (key->offset << 32) ^
			 key->offset ^ ((uint64_t)key->run << 48) ^
			 ((uint64_t)key->event << 56) ^ ((uint64_t)key->epoch << 40);

	return (uint32_t)((value * 0x9e3779b97f4a7c15u) >> 32);
}

struct hit *hits_at(const struct hits *hits, size_t index)
{
	return &hits->blocks[index / HITS_A_BLOCK][index % HITS_A_BLOCK];
}

static void resize(struct hits *hits, size_t size)
{
	struct hits_slot *old = hits->table;
	size_t old_size = hits->table_size;

	hits->table_size = size;
	hits->table = large_new(size * sizeof(*hits->table));
	for (size_t i = 0; i < old_size; i++) {
		size_t place = old[i].hash & (size - 1);
		if (!old[i].number)
			continue;
		while (hits->table[place].number)
			place = (place + 1) & (size - 1);
		hits->table[place] = old[i];
	}
	large_free(old, old_size * sizeof(*old));
}

/* Chunks double in size up to a huge page. */
static void new_chunk(struct hits *hits)
{
	struct hits_chunk *last =
		hits->chunk_count ? &hits->chunks[hits->chunk_count - 1] : NULL;
	size_t size = last ? last->size * 2 : HITS_A_BLOCK * sizeof(struct hit);

	if (size > LARGEST_CHUNK)
		size = LARGEST_CHUNK;
	hits->chunks =
		xreallocarray(hits->chunks, hits->chunk_count + 1, sizeof(*hits->chunks));
	hits->chunks[hits->chunk_count++] = (struct hits_chunk){large_new(size), size, 0};
}

/* Hits are many and live as long as the profile: they come in blocks, those in chunks. */
static struct hit *new_block(struct hits *hits)
{
	const size_t size = HITS_A_BLOCK * sizeof(struct hit);
	struct hits_chunk *last =
		hits->chunk_count ? &hits->chunks[hits->chunk_count - 1] : NULL;

	if (!last || last->size - last->used < size)
		new_chunk(hits);
	last = &hits->chunks[hits->chunk_count - 1];
	last->used += size;
	return (struct hit *)(last->memory + last->used - size);
}

static struct hit *new_hit(struct hits *hits)
{
	size_t used = hits->count++ % HITS_A_BLOCK;

	if (used == 0) {
		hits->blocks = xreallocarray(
			hits->blocks, hits->block_count + 1, sizeof(*hits->blocks));
		hits->blocks[hits->block_count++] = new_block(hits);
	}
	return &hits->blocks[hits->block_count - 1][used];
}

static bool is_same(const struct hit *hit, const struct hit *key)
{
	return hit->function == key->function && hit->offset == key->offset &&
	       hit->run == key->run && hit->event == key->event &&
	       hit->epoch == key->epoch;
}

static struct hit *add(struct hits *hits, const struct hit *key)
{
	struct hit *hit = new_hit(hits);

	*hit = *key;
	hit->count = 0;
	hit->next = key->function->hits;
	key->function->hits = hit;
	return hit;
}

/* The slot of the hit at this place, or the free one where it belongs. */
static struct hits_slot *find_slot(struct hits *hits, const struct hit *key)
{
	uint32_t wanted = hash(key);
	size_t mask = hits->table_size - 1, place = wanted & mask;

	for (; hits->table[place].number; place = (place + 1) & mask)
		if (hits->table[place].hash == wanted &&
			is_same(hits_at(hits, hits->table[place].number - 1), key))
			break;
	hits->table[place].hash = wanted;
	return &hits->table[place];
}

/* Where there are so many that asking for them several times can matter. */
static void begin_table(struct hits *hits)
{
	resize(hits, FIRST_TABLE);
	for (size_t i = 0; i < hits->count; i++)
		find_slot(hits, hits_at(hits, i))->number = (uint32_t)i + 1;
}

struct hit *hits_find(struct hits *hits, const struct hit *key)
{
	if (hits->count < UNCHECKED)
		return add(hits, key);
	if (!hits->table)
		begin_table(hits);
	if ((hits->count + 1) * 2 > hits->table_size)
		resize(hits, hits->table_size * 2);
	struct hits_slot *slot = find_slot(hits, key);
	if (slot->number)
		return hits_at(hits, slot->number - 1);
	struct hit *hit = add(hits, key);
	slot->number = (uint32_t)hits->count;
	return hit;
}

static int compare(const void *a, const void *b)
{
	const struct hit *left = *(struct hit *const *)a,
			 *right = *(struct hit *const *)b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->run != right->run)
		return left->run < right->run ? -1 : 1;
	return left->event < right->event ? -1 : left->event > right->event;
}

struct hit *hits_sort(struct hit *first)
{
	size_t count = 0;

	for (struct hit *hit = first; hit; hit = hit->next)
		count++;
	if (count < 2)
		return first;
	struct hit **list = xreallocarray(NULL, count, sizeof(*list));
	count = 0;
	for (struct hit *hit = first; hit; hit = hit->next)
		list[count++] = hit;
	qsort(list, count, sizeof(*list), compare);
	first = list[0];
	for (size_t i = 0; i < count; i++)
		list[i]->next = i + 1 < count ? list[i + 1] : NULL;
	free(list);
	return first;
}

void hits_release(struct hits *hits)
{
	for (size_t i = 0; i < hits->chunk_count; i++)
		large_free(hits->chunks[i].memory, hits->chunks[i].size);
	free(hits->chunks);
	free(hits->blocks);
	large_free(hits->table, hits->table_size * sizeof(*hits->table));
	*hits = (struct hits){0};
}
