/* Source files of the recorded program, a line at a time. */
#ifndef ANNOTATE_SOURCE_H
#define ANNOTATE_SOURCE_H

#include <stddef.h>

struct source; /* a cache of files */

/* `symfs` is where the recorded machine's files are, or NULL. Owned. */
struct source *source_new(const char *symfs);
void source_free(struct source *source);

/* The text of line `line` (1…) of `path`, borrowed, without end of line and with *length;
 * NULL where the file is not there. A relative path is looked for under `directory`. */
const char *source_line(struct source *source, const char *directory, const char *path,
	unsigned line, size_t *length);

#endif
