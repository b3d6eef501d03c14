/* What the log of patches does to code objects: their versions, and when they ended. */
#include "annotate/code.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

static int compare_places(const void *a, const void *b)
{
	const struct code_place *left = *(struct code_place *const *)a;
	const struct code_place *right = *(struct code_place *const *)b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return 0;
}

static int compare_places_by_time(const void *a, const void *b)
{
	const struct code_place *left = *(struct code_place *const *)a;
	const struct code_place *right = *(struct code_place *const *)b;

	return left->from < right->from ? -1 : left->from > right->from;
}

/* Ends the places that the log says were given up. */
void code_apply_unloads(struct code_set *set)
{
	struct patches *patches = set->patches;

	/* Few are open at an address at a time, and most unloads are at the end. */
	struct code_place **sorted =
		xreallocarray(NULL, set->place_count, sizeof(*sorted));
	if (set->place_count)
		memcpy(sorted, set->places, set->place_count * sizeof(*sorted));
	qsort(sorted, set->place_count, sizeof(*sorted), compare_places);
	for (size_t i = 0; i < patches->unload_count; i++) {
		const struct patches_unload *unload = &patches->unloads[i];
		size_t low = 0, high = set->place_count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (sorted[middle]->address < unload->address)
				low = middle + 1;
			else
				high = middle;
		}
		struct code_place *found = NULL;
		for (; low < set->place_count && sorted[low]->address == unload->address;
			low++)
			if (sorted[low]->code->source == CODE_DUMP &&
				sorted[low]->from <= unload->clock &&
				(!found ||
					compare_places_by_time(&found, &sorted[low]) < 0))
				found = sorted[low];
		if (found && found->to == UINT64_MAX)
			found->to = unload->clock;
	}
	free(sorted);
}

/* Hands each patch to the object that stood at its address at its time. */
void code_spread_patches(struct code_set *set)
{
	for (size_t i = 0; i < set->patches->count; i++) {
		struct patch *patch = &set->patches->list[i];
		struct code_place *place =
			spans_find(&set->spans, patch->address, patch->clock, NULL);
		if (!place ||
			patch->address + patch->size > place->address + place->code->size)
			continue;
		struct code *code = place->code;
		patch->offset = patch->address - place->address;
		if ((code->patch_count & (code->patch_count - 1)) == 0)
			code->patches = xreallocarray(code->patches,
				code->patch_count ? code->patch_count * 2 : 1,
				sizeof(*code->patches));
		code->patches[code->patch_count++] = patch;
	}
}

uint32_t code_epoch(
	const struct code *code, uint64_t time, struct spans_validity *validity)
{
	size_t low = 0, high = code->patch_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (code->patches[middle]->clock <= time)
			low = middle + 1;
		else
			high = middle;
	}
	if (validity && low && code->patches[low - 1]->clock > validity->from)
		validity->from = code->patches[low - 1]->clock;
	if (validity && low < code->patch_count &&
		code->patches[low]->clock < validity->to)
		validity->to = code->patches[low]->clock;
	return (uint32_t)low;
}

bool code_bytes_at(const struct code *code, uint32_t epoch, uint8_t *bytes)
{
	const uint8_t *start = code->bytes ? code->bytes : code->final;

	if (!start)
		return false;
	memcpy(bytes, start, code->size);
	if (code->bytes)
		for (size_t i = 0; i < epoch && i < code->patch_count; i++)
			memcpy(bytes + code->patches[i]->offset, code->patches[i]->new,
				code->patches[i]->size);
	else
		for (size_t i = code->patch_count; i-- > epoch;)
			memcpy(bytes + code->patches[i]->offset, code->patches[i]->old,
				code->patches[i]->size);
	return true;
}
