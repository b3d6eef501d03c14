/* spans_find() against a search through the whole list, over random spans and questions; and
 * whatever validity it gives must hold. */
#include "annotate/spans.h"
#include "launcher/base.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

const char program_name[] = "spans_test";

enum {
	ROUNDS = 300,
	SPANS = 60,
	QUESTIONS = 200,
	SPACE = 100, /* addresses and times */
};

static uint64_t state = 88172645463325252u;

static uint64_t number(uint64_t below) /* xorshift, so that a failure repeats */
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static const struct span *search(
	const struct span *list, size_t count, uint64_t address, uint64_t time)
{
	const struct span *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct span *span = &list[i];
		if (address < span->start || address >= span->end || time < span->from ||
			time >= span->to)
			continue;
		if (!best || span->rank > best->rank ||
			(span->rank == best->rank && span->from >= best->from))
			best = span;
	}
	return best;
}

static void check(bool good, const char *what, uint64_t address, uint64_t time)
{
	if (!good)
		die(1, "%s at address %llu, time %llu", what, (unsigned long long)address,
			(unsigned long long)time);
}

static void ask(const struct spans *spans, const struct span *list, size_t count)
{
	uint64_t address = number(SPACE), time = number(SPACE);
	struct spans_validity validity = {0, UINT64_MAX};
	const struct span *expected = search(list, count, address, time);
	void *found = spans_find(spans, address, time, &validity);

	check(found == (expected ? expected->value : NULL), "another span", address,
		time);
	check(validity.from <= time && time < validity.to, "not valid", address, time);
	for (uint64_t at = 0; at < SPACE; at++) {
		if (at < validity.from || at >= validity.to)
			continue;
		const struct span *then = search(list, count, address, at);
		check(found == (then ? then->value : NULL), "valid too long", address,
			at);
	}
	bool later = false;
	for (size_t i = 0; i < count; i++)
		later |= list[i].start < address + 5 && list[i].end > address &&
			 list[i].from > time;
	check(spans_any_later(spans, address, address + 5, time) == later,
		"spans_any_later()", address, time);
}

int main(void)
{
	static int values[SPANS];

	for (int round = 0; round < ROUNDS; round++) {
		struct spans spans = {0};
		struct span list[SPANS];
		size_t count = number(SPANS);

		for (size_t i = 0; i < count; i++) {
			uint64_t start = number(SPACE), from = number(SPACE);
			list[i] = (struct span){.start = start,
				.end = start + 1 + number(20),
				.from = from,
				.to = number(3) ? UINT64_MAX : from + 1 + number(30),
				.rank = (uint32_t)number(3),
				.value = &values[i]};
			spans_add(&spans, list[i]);
		}
		spans_index(&spans);
		for (int i = 0; i < QUESTIONS; i++)
			ask(&spans, list, count);
		spans_release(&spans);
	}
	printf("%d rounds agree\n", ROUNDS);
	return 0;
}
