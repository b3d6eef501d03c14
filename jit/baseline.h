/* The baseline: intermediate code to native code by stencils, every value an object. */
#ifndef JIT_BASELINE_H
#define JIT_BASELINE_H

#include "jit/compiled.h"
#include "jit/emit.h"
#include "jit/ir.h"

/* Emits the code of `ir` into `emit` and fills in `compiled`, whose `code` is set.
 * Returns 0, or -1: nothing was emitted. */
int baseline_compile(struct ir *ir, struct emit *emit, struct compiled *compiled);

/* Inline caches that a code object may need, at most. */
int baseline_count_caches(const struct ir *ir);

#endif
