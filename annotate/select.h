/* Choosing functions of a finished profile. */
#ifndef ANNOTATE_SELECT_H
#define ANNOTATE_SELECT_H

#include "annotate/profile.h"

/* The sampled functions that `wanted` means, hottest first: an address (0x…) within them,
 * else their exact name, else their name without what stands behind a blank, else a part
 * of it. Owned array, *count may be 0. */
struct function **select_functions(
	const struct profile *profile, const char *wanted, size_t *count);

/* Whether a function with samples is meant by more than a part of its name. Also before the
 * profile is finished. */
bool select_is_plain(const struct profile *profile, const char *wanted);

/* The hottest `limit` functions with samples. Owned array. */
struct function **select_sampled(
	const struct profile *profile, size_t limit, size_t *count);

#endif
