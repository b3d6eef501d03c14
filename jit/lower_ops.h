/* Lowering by the baseline: what the functions for the instructions share, and those that
 * the table of lower_ops.c takes from the other files. */
#ifndef JIT_LOWER_OPS_H
#define JIT_LOWER_OPS_H

#include "jit/cache.h"
#include "jit/lower.h"
#include "jit/runtime.h"

/* ---- lower_ops.c ---- */

/* The label of a C function, and one of the code's names. */
int lower_function(struct lower *lower, const void *function);
PyObject *lower_name(const struct lower *lower, uint32_t number);

/* Pop, free the register for the result, load arguments: what most operations begin with.
 * Each returns the mask of operands that are owned (RUNTIME_OWNS_A, _B). */
uint32_t lower_take_one(struct lower *lower);
uint32_t lower_take_two(struct lower *lower);

/* A C function does the instruction on the frame's stack; `target` is the label where it
 * jumps, if it does. */
void lower_call_helper(
	struct lower *lower, enum stencils id, runtime_op *work, int target);
/* Makes the abstract stack `depth` deep, all in slots. */
void lower_set_depth(struct lower *lower, int depth);
/* Signals and the like, before the op `number`. */
void lower_poll(struct lower *lower, int number);

void lower_store_fast(struct lower *lower);
void lower_pop_top(struct lower *lower);

/* ---- lower_cache.c ---- */

/* A cache's place: what is compiled in line from the interpreter's cache, or a jump to the
 * newest stub. The cache is the code object's. `seed` is compiled in line where there is
 * one; `miss` calls the C function that does the work. */
struct cache *lower_cache_begin(struct lower *lower, enum cache_kind kind, PyObject *name,
	uint32_t owned, uint32_t slot);
void lower_cache_end(struct lower *lower, struct cache *cache, enum stencils miss,
	struct cache_seed *seed);
/* Both, for operands, with a stencil for those that are the most common (-1: none). */
void lower_operands(struct lower *lower, enum cache_kind kind, uint32_t owned,
	int stencil, struct emit_holes holes, enum stencils miss);

void lower_load_global(struct lower *lower);
void lower_load_attr(struct lower *lower);
void lower_store_attr(struct lower *lower);
void lower_load_method(struct lower *lower);
void lower_call(struct lower *lower);

/* ---- lower_operate.c ---- */

void lower_binary_op(struct lower *lower);
void lower_binary_subscr(struct lower *lower);
void lower_store_subscr(struct lower *lower);

/* ---- lower_flow.c ---- */

/* Everything goes into its slot but the top, which is taken with a reference of its own. */
void lower_take_owned(struct lower *lower);

void lower_compare_op(struct lower *lower);
void lower_contains_op(struct lower *lower);
void lower_is_op(struct lower *lower);
void lower_unary_not(struct lower *lower);
void lower_pop_jump(struct lower *lower);
void lower_pop_jump_none(struct lower *lower);
void lower_jump_or_pop(struct lower *lower);
void lower_jump(struct lower *lower);
void lower_for_iter(struct lower *lower);
void lower_send(struct lower *lower);

/* ---- lower_end.c ---- */

void lower_resume(struct lower *lower);
void lower_return_value(struct lower *lower);
void lower_yield_value(struct lower *lower);
void lower_return_generator(struct lower *lower);
void lower_reraise_op(struct lower *lower);
void lower_end_async_for(struct lower *lower);

#endif
