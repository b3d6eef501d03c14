/* Exceptions in native code. */
#ifndef JIT_EXCEPT_H
#define JIT_EXCEPT_H

#include "jit/compiled.h"
#include "jit/python.h"

/* Calls and turns of loops until the interpreter quickens code. */
enum { EXCEPT_WARM = 8 };

/* An instruction has raised: adds the traceback entry, finds the handler, sets up the
 * stack for it. Returns the native address to go on at: the handler's, or the place that
 * leaves with NULL (the frame has been left then). */
void *except_unwind(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top);

/* The same for an exception thrown into a suspended frame, whose stack is in its slots up
 * to its stacktop. */
void *except_throw(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled);

/* Like except_unwind(), but for RERAISE and its kin: the exception has its traceback.
 * The frame's prev_instr is what the handler is told. */
void *except_reraise(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top);

#endif
