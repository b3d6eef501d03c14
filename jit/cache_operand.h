/* What an inline cache can do with two operands: subscripts, operations, comparisons. */
#ifndef JIT_CACHE_OPERAND_H
#define JIT_CACHE_OPERAND_H

#include "jit/cache.h"
#include "jit/cache_call.h"
#include "jit/python.h"

/* The stencil for such operands and its holes; false: there is none. */
bool operand_plan(
	const struct cache *cache, PyObject *a, PyObject *b, struct cache_seed *seed);

/* An operator that the left operand's class defines by a compiled Python function. */
struct operator_plan {
	struct call_plan call;
	PyTypeObject *left, *right;
	uint32_t what; /* as for runtime_binary() */
};

bool operator_plan(
	struct operator_plan *plan, const struct cache *cache, PyObject *a, PyObject *b);
void operator_emit(struct emit *emit, const struct operator_plan *plan,
	const struct emit_holes *ends);

#endif
