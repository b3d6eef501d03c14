/* Breakpoints for gdb on the hottest instructions. */
#include "annotate/writer.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	BREAKPOINTS = 20, /* unless --top says otherwise */
};

struct place_count {
	const struct function *function;
	uint64_t offset, samples;
};

static int compare(const void *a, const void *b)
{
	const struct place_count *left = a, *right = b;

	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* One entry a place: hits of several runs and events are next to each other. */
static size_t gather(const struct profile *profile, struct place_count *list)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct function *function = profile->functions[i];
		for (struct hit *hit = function->hits; hit; hit = hit->next) {
			bool same = count && list[count - 1].function == function &&
				    list[count - 1].offset == hit->offset;
			if (function->kind == FUNCTION_KERNEL)
				continue;
			if (same)
				list[count - 1].samples += hit->count;
			else
				list[count++] = (struct place_count){
					function, hit->offset, hit->count};
		}
	}
	return count;
}

void gdbscript_write(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	profile_sort(profile->functions, profile->function_count);
	struct place_count *list = calloc(profile->hits.count + 1, sizeof(*list));
	size_t count = list ? gather(profile, list) : 0;
	size_t limit = writer->top_given ? writer->top : BREAKPOINTS;

	qsort(list, count, sizeof(*list), compare);
	fputs("# Breakpoints on the hottest instructions. Addresses hold for runs that\n"
	      "# 'stablerun' or 'stablerun gdb' starts.\n"
	      "set breakpoint pending on\n",
		writer->out);
	for (size_t i = 0; i < count && (limit == 0 || i < limit); i++)
		fprintf(writer->out,
			"# %" PRIu64 " samples, %.2f%%: %s+%" PRIu64 "\nbreak *0x%" PRIx64
			"\n",
			list[i].samples,
			100.0 * (double)list[i].samples / (double)profile->event_samples,
			list[i].function->name, list[i].offset,
			list[i].function->address + list[i].offset);
	free(list);
}
