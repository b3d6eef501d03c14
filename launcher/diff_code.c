/* Comparing the JIT code objects of two runs: the k-th of a name in one with the k-th of that
 * name in the other. */
#include "launcher/diff.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/codes.h"
#include "launcher/run.h"

static void note_first(struct diff_first *first, const char *name, size_t index,
	uint64_t from, uint64_t to)
{
	if (first->name)
		return;
	*first = (struct diff_first){
		.name = xstrdup(name), .index = index, .from = from, .to = to};
}

static void compare_bytes(
	struct diff *diff, size_t index, const struct code *x, const struct code *y)
{
	uint64_t offset = 0, shared = x->size < y->size ? x->size : y->size;

	if (!x->bytes || !y->bytes)
		return;
	diff->bytes.compared++;
	if (x->size == y->size && memcmp(x->bytes, y->bytes, x->size) == 0)
		return;
	while (offset < shared && x->bytes[offset] == y->bytes[offset])
		offset++;
	diff->bytes.different++;
	diff->moved |= DIFF_BYTES;
	note_first(&diff->bytes.first, x->name, index, offset, offset);
}

static void compare_pair(struct diff *diff, const struct codes *a, size_t index,
	const struct codes *b, size_t other)
{
	const struct code *x = &a->items[index];

	if (other == b->count) {
		note_first(&diff->code.first, x->name, index, x->address, 0);
		return;
	}
	const struct code *y = &b->items[other];
	compare_bytes(diff, index, x, y);
	if (x->address != y->address) {
		diff->code.moved++;
		diff->moved |= DIFF_CODE;
	} else if (x->size == y->size) {
		return;
	} else if (!diff->code.first.name) {
		diff->code.resized = true;
	}
	note_first(&diff->code.first, x->name, index, x->address, y->address);
}

/* Whether the paired objects stand in another order in b. */
static bool is_reordered(const size_t *partner, size_t count, size_t missing)
{
	size_t last = 0;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (partner[i] == missing)
			continue;
		if (any && partner[i] < last)
			return true;
		last = partner[i];
		any = true;
	}
	return false;
}

static void count_partners(
	struct diff *diff, const size_t *partner, size_t count, size_t other_count)
{
	for (size_t i = 0; i < count; i++) {
		if (partner[i] < other_count)
			diff->code.compared++;
		else
			diff->code.only_a++;
	}
	diff->code.only_b = other_count - diff->code.compared;
}

void diff_compare_code(struct diff *diff, const struct run *a, const struct run *b)
{
	struct codes left, right;

	codes_read(&left, a);
	codes_read(&right, b);
	cleanup_free size_t *partner = codes_pair(&left, &right);
	count_partners(diff, partner, left.count, right.count);
	for (size_t i = 0; i < left.count; i++)
		compare_pair(diff, &left, i, &right, partner[i]);
	diff->code.reordered = is_reordered(partner, left.count, right.count);
	if (diff->code.only_a || diff->code.only_b)
		diff->moved |= DIFF_CODE;
	codes_release(&left);
	codes_release(&right);
}
