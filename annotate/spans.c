/* Spans are kept in an array sorted by start, read as a balanced tree (the middle of each
 * part is its root) with the greatest end of each subtree: a query visits only subtrees
 * that can hold the address. */
#include "annotate/spans.h"
#include "launcher/base.h"

#include <stdlib.h>

void spans_add(struct spans *spans, struct span span)
{
	if (spans->count == spans->room) {
		spans->room = spans->room ? spans->room * 2 : 16;
		spans->list =
			xreallocarray(spans->list, spans->room, sizeof(*spans->list));
	}
	span.order = (uint32_t)spans->count;
	spans->list[spans->count++] = span;
}

void spans_end_all(struct spans *spans, uint64_t time)
{
	for (size_t i = 0; i < spans->count; i++)
		if (spans->list[i].to == UINT64_MAX)
			spans->list[i].to = time;
}

static int compare(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static uint64_t set_reach(struct spans *spans, size_t low, size_t high)
{
	if (low == high)
		return 0;
	size_t middle = low + (high - low) / 2;
	uint64_t reach = spans->list[middle].end;
	uint64_t left = set_reach(spans, low, middle);
	uint64_t right = set_reach(spans, middle + 1, high);

	if (left > reach)
		reach = left;
	if (right > reach)
		reach = right;
	spans->reach[middle] = reach;
	return reach;
}

void spans_index(struct spans *spans)
{
	if (!spans->count)
		return;
	qsort(spans->list, spans->count, sizeof(*spans->list), compare);
	spans->reach = xreallocarray(spans->reach, spans->count, sizeof(*spans->reach));
	set_reach(spans, 0, spans->count);
}

struct query {
	const struct spans *spans;
	uint64_t address, time;
	const struct span *best, *later;
	uint64_t next; /* when the next span over the address begins */
	uint64_t past; /* when the last one that is over by then ended */
};

static void judge(struct query *query, const struct span *span)
{
	const struct span *best = query->best;

	if (span->from > query->time) {
		if (span->from < query->next || !query->later)
			query->later = span;
		if (span->from < query->next)
			query->next = span->from;
		return;
	}
	if (span->to <= query->time) {
		if (span->to > query->past)
			query->past = span->to;
		return;
	}
	if (!best || span->rank > best->rank ||
		(span->rank == best->rank &&
			(span->from > best->from ||
				(span->from == best->from && span->order > best->order))))
		query->best = span;
}

static void search(struct query *query, size_t low, size_t high)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct span *span = &query->spans->list[middle];

		if (query->spans->reach[middle] <= query->address)
			return;
		search(query, low, middle);
		if (span->start > query->address)
			return;
		if (span->end > query->address)
			judge(query, span);
		low = middle + 1;
	}
}

static struct query ask(const struct spans *spans, uint64_t address, uint64_t time)
{
	struct query query = {spans, address, time, NULL, NULL, UINT64_MAX, 0};

	search(&query, 0, spans->count);
	return query;
}

void *spans_find(const struct spans *spans, uint64_t address, uint64_t time,
	struct spans_validity *validity)
{
	struct query query = ask(spans, address, time);

	if (validity) {
		/* Until the next one begins or the best ends; and since the last one began or
		 * ended: before, another may have been the best. */
		if (query.best && query.best->to < query.next)
			query.next = query.best->to;
		if (query.best && query.best->from > query.past)
			query.past = query.best->from;
		if (query.past > validity->from)
			validity->from = query.past;
		if (query.next < validity->to)
			validity->to = query.next;
	}
	return query.best ? query.best->value : NULL;
}

void *spans_find_later(const struct spans *spans, uint64_t address, uint64_t time)
{
	struct query query = ask(spans, address, time);

	return query.later ? query.later->value : NULL;
}

static bool any_later(
	const struct spans *spans, const struct span *range, size_t low, size_t high)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct span *span = &spans->list[middle];

		if (spans->reach[middle] <= range->start)
			return false;
		if (any_later(spans, range, low, middle))
			return true;
		if (span->start >= range->end)
			return false;
		if (span->end > range->start && span->from > range->from)
			return true;
		low = middle + 1;
	}
	return false;
}

bool spans_any_later(
	const struct spans *spans, uint64_t start, uint64_t end, uint64_t time)
{
	struct span range = {.start = start, .end = end, .from = time};

	return any_later(spans, &range, 0, spans->count);
}

void spans_release(struct spans *spans)
{
	free(spans->list);
	free(spans->reach);
	*spans = (struct spans){0};
}
