/* Calls of C functions that an inline cache makes. */
#ifndef JIT_CACHE_BUILTIN_H
#define JIT_CACHE_BUILTIN_H

#include "jit/cache.h"
#include "jit/python.h"

enum builtin_what {
	BUILTIN_FUNCTION,
	BUILTIN_METHOD, /* of a builtin class, with its self */
	BUILTIN_CLASS,
};

struct builtin_plan {
	enum builtin_what what;
	enum stencils work;
	const void *told_by;  /* method definition or class */
	const void *function; /* in C */
	uint32_t slot;	      /* offset from the frame of the call's first entry */
	uint32_t given;	      /* arguments, those with names included */
	uint32_t named;
	PyObject *names; /* borrowed, or NULL */
};

/* How the call that `base` holds the entries of can be made; false: not this way. */
bool builtin_plan(struct builtin_plan *plan, const struct cache *cache, PyObject **base);

/* Emits the stub's code. `ends` has its continuations and the instruction. */
void builtin_emit(struct emit *emit, const struct builtin_plan *plan,
	const struct emit_holes *ends);

#endif
