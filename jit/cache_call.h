/* Calls that an inline cache makes straight into compiled code: where each local of the
 * callee's frame comes from. */
#ifndef JIT_CACHE_CALL_H
#define JIT_CACHE_CALL_H

#include "jit/cache.h"
#include "jit/python.h"

enum { CALL_PARAMETERS = 24 }; /* of a callee that this is done for */

enum call_how {
	CALL_FUNCTION,
	CALL_METHOD, /* a function and its self */
	CALL_BOUND,  /* a bound method */
	CALL_CLASS,  /* whose instances a Python __init__() sets up */
	CALL_SHARED, /* a function whose arguments the caller keeps */
};

struct call_plan {
	enum call_how how;
	PyTypeObject *type;	    /* of CALL_CLASS */
	PyFunctionObject *function; /* borrowed */
	struct compiled *callee;
	uint32_t slot;	/* offset from the frame of the call's first entry */
	uint32_t given; /* entries that are arguments */
	int parameters;
	bool has_defaults; /* some are used */
	/* For each parameter: the entry of the call that it comes from (0 is the first one),
	 * or ~n for the default n. */
	int source[CALL_PARAMETERS];
};

/* How the call that `base` holds the entries of can be made straight; false: it cannot. */
bool call_plan(struct call_plan *plan, const struct cache *cache, PyObject **base);

/* Emits the stub's code. `ends` has its continuations and the instruction. */
void call_emit(
	struct emit *emit, const struct call_plan *plan, const struct emit_holes *ends);

/* The same for a method whose arguments, positional ones, are in the slots from `slot` on
 * and stay there. */
bool call_plan_method(
	struct call_plan *plan, PyFunctionObject *function, int given, uint32_t slot);
/* The parts of a stub: room for the frame, and, with function and frame as arguments, the
 * locals and the call. */
void call_emit_room(struct emit *emit, const struct call_plan *plan,
	const struct emit_holes *ends, enum stencils stencil);
void call_emit_frame(
	struct emit *emit, const struct call_plan *plan, const struct emit_holes *ends);

#endif
