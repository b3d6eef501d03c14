/* Perf maps: /tmp/perf-PID.map, a line "START SIZE NAME" (hexadecimal) a function. They
 * say where, not when, and nothing is ever taken back: the last line for an address
 * counts. */
#ifndef ANNOTATE_PERFMAP_H
#define ANNOTATE_PERFMAP_H

#include "annotate/fault.h"
#include "annotate/file.h"

struct perfmap {
	struct file file;
	size_t position, line;
	size_t bad, first_bad; /* malformed lines, and the first one's number */
};

struct perfmap_entry {
	uint64_t address, size;
	const char *name; /* borrowed, `length` bytes, no NUL */
	size_t length;
};

int perfmap_open(struct perfmap *map, const char *path, struct fault *fault);
void perfmap_close(struct perfmap *map);

/* The next well-formed entry: 1, or 0 at the end. */
int perfmap_next(struct perfmap *map, struct perfmap_entry *entry);

#endif
