/* Source lines of native code, from DWARF. */
#ifndef ANNOTATE_LINES_H
#define ANNOTATE_LINES_H

#include "annotate/module.h"

struct lines;

struct lines_entry {
	uint64_t address; /* the module's own */
	unsigned line;
	const char *file; /* borrowed from the debug information */
};

/* Opens the debug information of a loaded module, once; NULL where there is none. The
 * result belongs to the module list's lifetime: lines_free() it before that ends. */
struct lines *lines_open(struct module *module);
void lines_free(struct lines *lines);

/* The entries of [start, end), by address; owned array, *count may be 0. */
struct lines_entry *lines_of(
	struct lines *lines, uint64_t start, uint64_t end, size_t *count);

#endif
