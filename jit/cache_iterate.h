/* Iteration that an inline cache does, generators and coroutines included. */
#ifndef JIT_CACHE_ITERATE_H
#define JIT_CACHE_ITERATE_H

#include "jit/cache.h"
#include "jit/python.h"

struct iterate_plan {
	enum stencils work;
	bool sends;
	uint32_t slot;	    /* of the iterator, as an offset from the frame */
	uint32_t sent_slot; /* of what is sent */
	iternextfunc function;
	PyTypeObject *type;	 /* of a generator */
	struct compiled *callee; /* what a generator goes on in, or NULL */
};

/* How the next item of `iterator` can be had; false: not this way. */
bool iterate_plan(
	struct iterate_plan *plan, const struct cache *cache, PyObject *iterator);

/* Emits the stub's code. `ends` has its continuations and the instruction. */
void iterate_emit(struct emit *emit, const struct iterate_plan *plan,
	const struct emit_holes *ends);

#endif
