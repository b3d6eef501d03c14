/* Resuming compiled generators straight from compiled code. */
#ifndef JIT_RUNTIME_GENERATOR_H
#define JIT_RUNTIME_GENERATOR_H

#include "jit/python.h"

/* Sends `value` to a generator or coroutine that is suspended in compiled code; false:
 * it is none, and nothing has happened. */
bool runtime_generator_send(PyThreadState *thread, PyObject *receiver, PyObject *value,
	PyObject **result, PySendResult *status);

/* A generator or coroutine has run to its end: `result` is what it returned, owned, or NULL
 * where it has raised. Drops the result where that is nobody's. */
void runtime_generator_over(PyGenObject *generator, PyObject *result, bool drop);

/* The same for SEND: the stack entry of the generator becomes the result, `value` is
 * dropped. 0 or -1. */
int runtime_generator_sent(PyObject **at, PyObject *result, PyObject *value);

struct cache;

/* Misses: the next value of any iterator for a loop; NULL at its end or with an exception.
 * SEND, as runtime_send(). */
PyObject *runtime_iterate_miss(
	PyThreadState *thread, PyObject *iterator, struct cache *cache);
int runtime_send_miss(PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **sp,
	struct cache *cache);

#endif
