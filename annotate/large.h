/* Memory for tables of millions: in huge pages where the machine gives them, since the page
 * faults of a large table cost more than all that is done with it. */
#ifndef ANNOTATE_LARGE_H
#define ANNOTATE_LARGE_H

#include <stddef.h>

/* Zeroed, aligned to 64 bytes, never NULL; release with large_free() and the same size. */
void *large_new(size_t size);
void large_free(void *memory, size_t size);

/* A copy of `memory` in `new_size` bytes, of which what is more is zero; takes `memory`. */
void *large_grow(void *memory, size_t size, size_t new_size);

#endif
