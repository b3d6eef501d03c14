/* The profile: which function, and which byte of it, each sample hit. */
#ifndef ANNOTATE_PROFILE_H
#define ANNOTATE_PROFILE_H

#include "annotate/hits.h"
#include "annotate/input.h"
#include "annotate/tally.h"

enum function_kind {
	FUNCTION_JIT,
	FUNCTION_NATIVE,
	FUNCTION_KERNEL,
};

struct narrow;

struct function_version { /* of a function's bytes */
	struct code *code;
	uint32_t patched; /* patches made to it before */
};

struct function {
	enum function_kind kind;
	const char *name;	 /* as shown */
	const char *raw_name;	 /* as in the symbol table */
	const char *module_name; /* path of the file the code is from or told by */
	uint64_t address;	 /* in memory, of its first byte */
	uint64_t size;		 /* bytes */
	uint64_t samples;
	struct hit *hits;      /* by offset once profile_sort() put them in order */
	struct code *code;     /* of a JIT */
	struct module *module; /* of a file */
	struct symbol *symbol;
	struct input *input;	 /* where it was sampled first, in this process, … */
	struct process *process; /* … NULL for the kernel */
	uint64_t time;		 /* … at this moment */
	char *owned_name;
	/* Of several runs, once asked for: then the epochs of hits are places in it. Owned. */
	struct function_version *versions;
	size_t version_count;
	size_t index; /* among the sampled ones, hottest first, once finished */
};

/* Where an address belongs: a function and an offset, or a reason why not. */
struct place {
	struct function *function;
	uint64_t offset;
	uint32_t epoch;
	const char *reason; /* static or owned by the profile; NULL: found */
};

struct profile {
	struct function **functions; /* most samples first once finished */
	size_t function_count;
	struct tally events, comms, unresolved;
	uint64_t samples, lost;
	bool compare;		/* two sides: functions of other code are no obstacle */
	uint64_t late;		/* samples in code that was reported only afterwards */
	uint64_t event_samples; /* those of the event that was asked for */
	const char *event;	/* only this one; NULL: all */
	struct warnings *warnings;
	struct hits hits;
	struct stacks
		*stacks; /* borrowed; call stacks are gathered here; NULL: not wanted */
	struct merge *merge;   /* owned; NULL while there is one run */
	struct input **inputs; /* borrowed */
	size_t input_count;
};

/* Counts every sample of `input`, which must outlive the profile. Later runs are merged
 * with the first: -1, with the fault worded and nothing counted, where that ran something
 * else.
 */
int profile_add(struct profile *profile, struct input *input, struct fault *fault);

/* The same, finding out only about samples that `narrow` admits: the others are counted and
 * nothing else. */
int profile_add_narrow(struct profile *profile, struct input *input,
	const struct narrow *narrow, struct fault *fault);

/* Forgets everything that was added. */
void profile_reset(struct profile *profile);

/* After the last input: sums up and sorts functions. */
void profile_finish(struct profile *profile);

/* Puts the hits of functions that are to be listed in order; most never are. */
void profile_sort(struct function *const *functions, size_t count);
void profile_release(struct profile *profile);

/* Finds out where `address` of `process` belonged at `time`; `mode` is perf's cpumode.
 * The answer holds for `validity`, which is narrowed. */
struct place profile_locate(struct profile *profile, struct input *input,
	struct process *process, uint64_t address, uint64_t time, unsigned mode,
	struct spans_validity *validity);

#endif
