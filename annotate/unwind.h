/* Call stacks from a copied piece of stack and the registers: native frames by the unwind
 * tables of their files, JIT frames, which have none, by rbp. For x86-64. */
#ifndef ANNOTATE_UNWIND_H
#define ANNOTATE_UNWIND_H

#include "annotate/attr.h"
#include "annotate/input.h"

enum {
	UNWIND_DEPTH = 1024, /* frames at most */
};

struct unwind;

struct unwind *unwind_new(void);
void unwind_free(struct unwind *unwind);

/* Walks the user stack of a sample whose attr has registers and stack. Writes addresses,
 * nearest first, the first being the sample's own, the others return addresses. Returns
 * how many; 0 where the sample has no user state. */
size_t unwind_sample(struct unwind *unwind, struct input *input, struct process *process,
	const struct attr *attr, const struct attr_sample_data *sample,
	uint64_t frames[UNWIND_DEPTH]);

#endif
