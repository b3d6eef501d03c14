/* Versions of a patched function's bytes over several runs, whose patches need not be the same
 * or come in the same order. */
#ifndef ANNOTATE_VERSIONS_H
#define ANNOTATE_VERSIONS_H

#include "annotate/profile.h"

/* Gives the function its list of versions, in which equal bytes of several runs are one, and
 * makes the epoch of each of its hits a place in that list. For a finished profile of several
 * runs; does nothing the second time. */
void versions_find(const struct profile *profile, struct function *function);

#endif
