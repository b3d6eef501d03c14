/* What happened to live code after it was loaded, and what objects it refers to: the log
 * that build/jit writes (format: jit/patchlog.h), of one process. */
#ifndef ANNOTATE_PATCHES_H
#define ANNOTATE_PATCHES_H

#include "annotate/fault.h"
#include "annotate/file.h"

#include <stdbool.h>

struct patch {
	uint64_t clock; /* ns, CLOCK_MONOTONIC */
	uint64_t address, size;
	const uint8_t *old, *new; /* `size` bytes each, owned by the log */
	const char *why;	  /* owned by the log */
	size_t order;		  /* in the log */
	uint64_t offset;	  /* in the code object, once that is known */
};

struct patches_unload {
	uint64_t clock, address, size;
};

struct patches_object {
	uint64_t address;
	const char *text; /* "TYPE REPR", owned by the log */
	size_t order;	  /* in the log */
};

struct patches {
	struct file file;
	struct patch *list; /* by clock */
	size_t count;
	struct patches_unload *unloads; /* by clock */
	size_t unload_count;
	struct patches_object *objects; /* by address, the last of each */
	size_t object_count;
	size_t bad; /* malformed lines */
	bool cut;   /* the last line has no end */
	char **owned;
	size_t owned_count;
};

/* 0, or -1 with the fault worded. */
int patches_open(struct patches *patches, const char *path, struct fault *fault);
void patches_close(struct patches *patches);

/* What is known of the object at `address`, or NULL. */
const char *patches_object(const struct patches *patches, uint64_t address);

#endif
