/* The frame evaluation function (PEP 523): decides whether a frame runs natively. */
#ifndef JIT_HOOK_H
#define JIT_HOOK_H

#include <stdbool.h>

#include "jit/compiled.h"
#include "jit/python.h"

/* Makes it the interpreter's, or takes it away again. */
void hook_install(PyInterpreterState *interpreter);
void hook_remove(PyInterpreterState *interpreter);

/* The function itself. */
PyObject *hook_evaluate(PyThreadState *thread, _PyInterpreterFrame *frame, int throwing);

/* The compiled form of a code object that is about to be called, compiled now where it
 * is time to; NULL: interpret. */
struct compiled *hook_compiled(PyCodeObject *code);

/* Runs a new frame of compiled code and pops it: what hook_evaluate() comes down to where
 * nothing is traced and the C stack has room. */
PyObject *hook_run(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled);

/* Counts an activation that the interpreter runs, for -s. */
void hook_count_interpreted(PyCodeObject *code);

/* Entries of a caller's stack that go once the frame of `function` is about to run: the
 * frame has references of its own. */
struct hook_moved {
	PyObject *function;
	PyObject **base; /* NULL: gone */
	uint32_t count;
	bool stand_in; /* None takes their places: the interpreter drops them again */
	struct hook_moved *outer;
};
extern struct hook_moved *hook_moved;
void hook_drop(struct hook_moved *moved);

/* The lowest address that native code may let the thread's C stack grow to. */
char *hook_stack_floor(void);

#endif
