/* Folded stacks: one line a stack, as Brendan Gregg's flame graph scripts read it. */
#include "annotate/writer.h"

#include <inttypes.h>

/* ';' separates frames, so names give theirs up. */
static void write_name(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, out);
}

static void write_path(FILE *out, const struct stacks *stacks, uint32_t node)
{
	uint32_t parent = stacks->nodes[node].parent;

	if (parent) {
		write_path(out, stacks, parent);
		putc(';', out);
	}
	write_name(out, stacks->nodes[node].name);
}

void folded_write(struct writer *writer)
{
	const struct stacks *stacks = writer->profile->stacks;

	for (uint32_t i = 1; i < stacks->count; i++) {
		if (!stacks->nodes[i].samples)
			continue;
		write_path(writer->out, stacks, i);
		fprintf(writer->out, " %" PRIu64 "\n", stacks->nodes[i].samples);
	}
}
