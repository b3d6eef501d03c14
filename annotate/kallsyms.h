/* The kernel's symbols, from /proc/kallsyms or a copy of it. */
#ifndef ANNOTATE_KALLSYMS_H
#define ANNOTATE_KALLSYMS_H

#include "annotate/symbols.h"

/* Adds the text symbols of `path`. 0, or -1 where it cannot be read or hides addresses.
 */
int kallsyms_read(const char *path, struct symbols *symbols);

#endif
