/* Where samples can be at all that a question about one function needs: with it, most samples
 * of a recording are counted without finding out whose they are. */
#ifndef ANNOTATE_NARROW_H
#define ANNOTATE_NARROW_H

#include "annotate/input.h"

struct narrow;

/* For functions that `wanted` means by an exact name, a word of it, or an address; others may
 * be missed. Owned, or NULL where nothing can be ruled out. */
struct narrow *narrow_new(struct input *input, const char *wanted);
void narrow_free(struct narrow *narrow);

/* Whether a sample at this address of a process can be of such a function. */
bool narrow_admits(const struct narrow *narrow, uint64_t address);

#endif
