/* Call stacks of all samples as one tree from the outermost callers to the sampled
 * functions, through JIT and native frames alike. */
#ifndef ANNOTATE_STACKS_H
#define ANNOTATE_STACKS_H

#include "annotate/profile.h"

struct stacks_node {
	uint32_t parent;      /* place of the caller; the root, 0, is its own */
	uint32_t child, next; /* first callee, next callee of the same caller; 0: none */
	uint64_t samples;     /* taken in this very place */
	uint64_t total;	      /* with its callees', once finished */
	const char *name;     /* of the frame */
	struct function *function; /* NULL: a command, a thread, a mark or unresolved */
};

struct stacks_sample { /* one sample, for outputs that tell time */
	uint64_t time; /* ns */
	uint32_t node;
	uint32_t tid, pid;
	uint32_t run;
};

struct stacks {
	struct stacks_node *nodes; /* 0 is the root */
	size_t count, room;
	uint32_t *table; /* nodes by caller and frame */
	size_t table_size;
	struct stacks_sample *samples; /* in order of the file, where kept */
	size_t sample_count, sample_room;
	bool keep_samples;
	struct unwind *unwind;
	struct stacks_frames *cache;
	uint64_t cut;	    /* samples whose stack does not reach a beginning */
	struct tally names; /* of frames without a function */
};

struct stacks *stacks_new(bool keep_samples);
void stacks_free(struct stacks *stacks);

/* Adds a sample of `profile`; its leaf is where profile counted it. */
void stacks_add(struct stacks *stacks, struct profile *profile, struct input *input,
	struct process *process, const char *comm, const struct attr *attr,
	struct attr_sample_data *sample, unsigned mode);

/* Sums up. */
void stacks_finish(struct stacks *stacks);

#endif
