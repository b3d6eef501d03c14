/* What a reader of the profile must know: said on stderr at once and kept for JSON. */
#ifndef ANNOTATE_WARNINGS_H
#define ANNOTATE_WARNINGS_H

#include <stdbool.h>
#include <stddef.h>

struct warnings {
	char **list; /* owned */
	size_t count;
	bool incomplete; /* an input was damaged: the exit status says so */
};

void warnings_add(struct warnings *warnings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void warnings_release(struct warnings *warnings);

#endif
