/* Address ranges that are valid for a time: which one covered an address at a moment?
 * Ranges may overlap in both; the one that began last before the moment wins. Holds what
 * is mapped where (mappings) and what was compiled where (code objects). */
#ifndef ANNOTATE_SPANS_H
#define ANNOTATE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t start, end; /* addresses, end excluded */
	uint64_t from, to;   /* nanoseconds, `to` excluded */
	uint32_t rank;	     /* a higher rank wins over a later beginning */
	uint32_t order;	     /* breaks ties: later added wins */
	void *value;	     /* borrowed */
};

struct spans {
	struct span *list;
	uint64_t *reach; /* greatest end in the subtree of each place */
	size_t count, room;
};

/* How long an answer of spans_find() stays the same: [from, to). */
struct spans_validity {
	uint64_t from, to;
};

/* Adds a span (its `order` is set here); spans_index() must follow before spans_find().
 */
void spans_add(struct spans *spans, struct span span);

/* Ends every span that is open (its `to` is UINT64_MAX) at `time`. */
void spans_end_all(struct spans *spans, uint64_t time);

void spans_index(struct spans *spans);

/* The value of the span that covers `address` at `time`, or NULL. `validity`, where
 * given, is narrowed to the time for which that answer holds. */
void *spans_find(const struct spans *spans, uint64_t address, uint64_t time,
	struct spans_validity *validity);

/* The value of the first span that begins after `time` and covers `address`, or NULL. */
void *spans_find_later(const struct spans *spans, uint64_t address, uint64_t time);

/* Whether any span overlaps [start, end) that begins after `time`. */
bool spans_any_later(
	const struct spans *spans, uint64_t start, uint64_t end, uint64_t time);

void spans_release(struct spans *spans);

#endif
