/* Several runs as one: which function of an earlier run is that of a later one? Native
 * code is one when the file is. JIT code is one when the bytes agree at the same address;
 * at another address when name and size agree and the instructions do but for their
 * numbers. */
#ifndef ANNOTATE_MERGE_H
#define ANNOTATE_MERGE_H

#include "annotate/profile.h"

struct merge;

struct merge *merge_new(void);
void merge_free(struct merge *merge);

/* Makes a function known for later runs. */
void merge_add(struct merge *merge, struct function *function);

/* The function of an earlier run that `code` of `input` is, or NULL; where one of its
 * name has other code that is told to `warnings`, a few times in full and then by number.
 */
struct function *merge_find(struct merge *merge, const struct input *input,
	const struct code *code, struct warnings *warnings);

/* Whether `input` ran what `first` ran: 0, or -1 with the reason. */
int merge_check(
	const struct input *first, const struct input *input, struct fault *fault);

/* Says how much was merged otherwise than by address, after the last run. */
void merge_report(const struct merge *merge, struct warnings *warnings);

/* Where two code objects of one size differ: the first byte, or -1 where they agree, as
 * they are or as instructions. */
int64_t merge_difference(const struct code *left, const struct code *right);

#endif
