/* Source lines of native code, from DWARF. */
#ifndef ANNOTATE_LINES_H
#define ANNOTATE_LINES_H

#include "annotate/module.h"

struct lines;

struct lines_entry {
	uint64_t address; /* the module's own */
	unsigned line;
	const char *file;      /* borrowed from the debug information … */
	const char *directory; /* … what it is relative to, or NULL */
};

struct lines_inline {	     /* a part of a function that was inlined there */
	uint64_t start, end; /* addresses, the module's own */
	unsigned depth;	     /* 1…: within how many others it is, itself included */
	const char *name;    /* borrowed */
};

/* Opens the debug information of a loaded module, once; NULL where there is none. The
 * result belongs to the module list's lifetime: lines_free() it before that ends. */
struct lines *lines_open(struct module *module);
void lines_free(struct lines *lines);

/* The entries of [start, end), by address; owned array, *count may be 0. */
struct lines_entry *lines_of(
	struct lines *lines, uint64_t start, uint64_t end, size_t *count);

/* The inlined functions that touch [start, end), outer before inner; owned array. */
struct lines_inline *lines_inlines(
	struct lines *lines, uint64_t start, uint64_t end, size_t *count);

#endif
