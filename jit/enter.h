/* Into native code and out of it. */
#ifndef JIT_ENTER_H
#define JIT_ENTER_H

#include "jit/python.h"

/* Calls the native code at `prologue` (a compiled code's `start` or `resume`), the latter
 * going on at `target`. The frame is the current one. Returns its value (owned) or NULL
 * with an exception; a frame that is no entry frame is gone then. */
PyObject *enter_native(
	PyThreadState *thread, _PyInterpreterFrame *frame, void *prologue, void *target);

/* The C structure of an activation that was entered from C. Native code finds it through
 * the thread's cframe. */
struct activation {
	_PyCFrame cframe;
	char *floor; /* below this the C stack is about to run out */
};

#endif
