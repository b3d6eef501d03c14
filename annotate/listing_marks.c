/* What the samples say about rows: counts, basic blocks, likely culprits, patches. */
#include "annotate/listing.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	HOT_PERCENT = 3, /* of the function, from which a row's samples are questioned */
	LOOK_BACK = 4,	 /* instructions that retire together with the slow one */
};

static struct listing_row *row_at(struct listing *listing, uint64_t offset, size_t *hint)
{
	while (*hint < listing->count &&
		listing->rows[*hint].offset + listing->rows[*hint].size <= offset)
		++*hint;
	return *hint < listing->count ? &listing->rows[*hint] : NULL;
}

void listing_count(struct listing *listing, struct input *const *inputs)
{
	struct listing_row *last = NULL, *leader = NULL;
	uint32_t last_run = 0;
	size_t at = 0;

	for (struct hit *hit = listing->function->hits; hit; hit = hit->next) {
		if (listing->epoch != LISTING_EVERY_EPOCH && hit->epoch != listing->epoch)
			continue;
		listing->samples += hit->count;
		struct listing_row *row = row_at(listing, hit->offset, &at);
		if (!row) {
			listing->outside += hit->count;
			continue;
		}
		row->samples += hit->count;
		if (inputs && inputs[hit->run]->side)
			row->second += hit->count;
		/* Hits are sorted by offset, then by run. */
		if (row != last || hit->run != last_run)
			row->runs++;
		last = row;
		last_run = hit->run;
	}
	for (size_t i = 0; i < listing->count; i++) {
		struct listing_row *row = &listing->rows[i];
		if (row->leader)
			leader = row;
		leader->block += row->samples;
	}
}

/* An interrupt is taken behind the instruction that it had to wait for, so the samples of
 * a slow one are found on the next: the nearest slow instruction before, within the
 * block. */
void listing_mark_culprits(struct listing *listing)
{
	for (size_t i = 1; i < listing->count; i++) {
		struct listing_row *row = &listing->rows[i];
		if (!row->samples || row->samples * 100 < listing->samples * HOT_PERCENT)
			continue;
		for (size_t back = 1; back <= LOOK_BACK && back <= i; back++) {
			struct listing_row *before = row - back;
			if ((before + 1)->leader || before->flow != DISASM_PLAIN ||
				before->samples * 2 > row->samples)
				break;
			if (before->slow) {
				before->culprit = true;
				break;
			}
		}
	}
}

static void add_patch(struct listing *listing, const struct patch *patch, size_t row)
{
	if (listing->patch_count == listing->patch_room) {
		listing->patch_room = listing->patch_room ? listing->patch_room * 2 : 16;
		listing->patches = xreallocarray(
			listing->patches, listing->patch_room, sizeof(*listing->patches));
	}
	listing->patches[listing->patch_count++] = (struct listing_patch){patch, row};
}

static int compare(const void *a, const void *b)
{
	const struct listing_patch *left = a, *right = b;

	if (left->row != right->row)
		return left->row < right->row ? -1 : 1;
	return left->patch->order < right->patch->order
		       ? -1
		       : left->patch->order > right->patch->order;
}

/* Each row's patches: those that wrote any of its bytes. */
void listing_add_patches(struct listing *listing)
{
	const struct code *code = listing->function->code;

	for (size_t i = 0; code && i < code->patch_count; i++) {
		const struct patch *patch = code->patches[i];
		size_t low = 0, high = listing->count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (listing->rows[middle].offset + listing->rows[middle].size <=
				patch->offset)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < listing->count &&
			listing->rows[low].offset < patch->offset + patch->size;
			low++)
			add_patch(listing, patch, low);
	}
	if (!listing->patch_count)
		return;
	qsort(listing->patches, listing->patch_count, sizeof(*listing->patches), compare);
	for (size_t i = listing->patch_count; i-- > 0;) {
		struct listing_row *row = &listing->rows[listing->patches[i].row];
		row->first_patch = i;
		row->patch_count++;
	}
}
