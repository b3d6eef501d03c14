/* Resuming compiled generators straight from compiled code. */
#ifndef JIT_RUNTIME_GENERATOR_H
#define JIT_RUNTIME_GENERATOR_H

#include "jit/python.h"

/* Sends `value` to a generator or coroutine that is suspended in compiled code; false:
 * it is none, and nothing has happened. */
bool runtime_generator_send(PyThreadState *thread, PyObject *receiver, PyObject *value,
	PyObject **result, PySendResult *status);

/* The next value of any iterator for a loop; NULL at its end or with an exception. */
PyObject *runtime_generator_next(PyThreadState *thread, PyObject *iterator);

#endif
