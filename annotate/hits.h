/* Samples by place: a function, a byte of it, a run, an event and a version of its code.
 * Also the linked lists of each function's hits. */
#ifndef ANNOTATE_HITS_H
#define ANNOTATE_HITS_H

#include <stddef.h>
#include <stdint.h>

struct function;

struct hit {		 /* samples at one place of a function */
	uint64_t offset; /* bytes from the function's start */
	uint64_t count;
	uint32_t run;	/* index of the input */
	uint32_t event; /* place in profile.events */
	uint32_t
		epoch; /* how many patches of the function had been made; 0 without log */
	struct function *function;
	struct hit *next;
};

struct hits_slot;
struct hits_chunk;

struct hits {
	struct hits_slot *table;
	size_t table_size, count;
	struct hit **blocks; /* owned; of so many hits each, within the chunks */
	size_t block_count;
	struct hits_chunk *chunks; /* owned */
	size_t chunk_count;
};

/* A hit at the place that `key` describes, to be added to; a place may have several as long as
 * there are few. A new one stands first in its function's list. Lives as long as `hits`. */
struct hit *hits_find(struct hits *hits, const struct hit *key);

/* The hits in the order in which they came: index 0 to count - 1. */
struct hit *hits_at(const struct hits *hits, size_t index);

/* Puts a function's list in order of offset, run and event. */
struct hit *hits_sort(struct hit *list);

void hits_release(struct hits *hits);

#endif
