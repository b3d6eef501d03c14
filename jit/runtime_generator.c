/* Resuming compiled generators straight from compiled code: gen_send_ex2() of
 * Objects/genobject.c and the trip through the evaluation hook in one. */
#include "jit/runtime_generator.h"

#include "jit/cache.h"
#include "jit/enter.h"
#include "jit/hook.h"
#include "jit/jit.h"
#include "jit/runtime_stack.h"
#include "jit/table.h"

/* Where a suspended generator goes on, or NULL where that is not for native code. */
static void *resume_address(
	PyThreadState *thread, PyGenObject *generator, struct compiled **compiled)
{
	_PyInterpreterFrame *frame = (_PyInterpreterFrame *)generator->gi_iframe;
	uint32_t address;

	if (generator->gi_frame_state >= FRAME_EXECUTING || thread->cframe->use_tracing ||
		thread->recursion_remaining <= 1 ||
		(char *)__builtin_frame_address(0) < hook_stack_floor())
		return NULL;
	*compiled = table_compiled(frame->f_code);
	if (!*compiled)
		return NULL;
	address = (*compiled)->entries[_PyInterpreterFrame_LASTI(frame) + 1];
	return (void *)(uintptr_t)address;
}

/* A generator that has ended or raised: its frame goes. */
static void finish(PyGenObject *generator, _PyInterpreterFrame *frame)
{
	_PyErr_ClearExcState(&generator->gi_exc_state);
	generator->gi_frame_state = FRAME_CLEARED;
	_PyFrame_Clear(frame);
}

static void stop_iteration_raised(PyGenObject *generator)
{
	if (PyErr_ExceptionMatches(PyExc_StopIteration))
		_PyErr_FormatFromCause(PyExc_RuntimeError, "%s raised StopIteration",
			PyCoro_CheckExact(generator) ? "coroutine" : "generator");
}

void runtime_generator_over(PyGenObject *generator, PyObject *result, bool drop)
{
	if (!result)
		stop_iteration_raised(generator);
	finish(generator, (_PyInterpreterFrame *)generator->gi_iframe);
	if (result && drop)
		Py_DECREF(result);
}

int runtime_generator_sent(PyObject **at, PyObject *result, PyObject *value)
{
	PyObject *generator = *at;

	runtime_generator_over((PyGenObject *)generator, result, false);
	Py_DECREF(value);
	if (!result)
		return -1;
	*at = result;
	Py_DECREF(generator);
	return 0;
}

static PySendResult resume(PyThreadState *thread, PyGenObject *generator, PyObject *value,
	const struct compiled *compiled, void *address, PyObject **result)
{
	_PyInterpreterFrame *frame = (_PyInterpreterFrame *)generator->gi_iframe;

	_PyFrame_StackPush(frame, Py_NewRef(value));
	frame->previous = thread->cframe->current_frame;
	generator->gi_exc_state.previous_item = thread->exc_info;
	thread->exc_info = &generator->gi_exc_state;
	generator->gi_frame_state = FRAME_EXECUTING;
	thread->cframe->current_frame = frame;
	thread->recursion_remaining--;
	frame->is_entry = true;
	frame->stacktop = -1;
	*result = enter_native(thread, frame, compiled->resume, address);
	thread->exc_info = generator->gi_exc_state.previous_item;
	generator->gi_exc_state.previous_item = NULL;
	frame->previous = NULL;
	if (*result && generator->gi_frame_state == FRAME_SUSPENDED)
		return PYGEN_NEXT;
	runtime_generator_over(generator, *result, false);
	return *result ? PYGEN_RETURN : PYGEN_ERROR;
}

bool runtime_generator_send(PyThreadState *thread, PyObject *receiver, PyObject *value,
	PyObject **result, PySendResult *status)
{
	PyGenObject *generator = (PyGenObject *)receiver;
	struct compiled *compiled;
	void *address;

	if (!PyGen_CheckExact(receiver) && !PyCoro_CheckExact(receiver))
		return false;
	if (generator->gi_frame_state == FRAME_CREATED && value != Py_None)
		return false;
	address = resume_address(thread, generator, &compiled);
	if (!address)
		return false;
	*status = resume(thread, generator, value, compiled, address, result);
	return true;
}

PyObject *runtime_iterate_miss(
	PyThreadState *thread, PyObject *iterator, struct cache *cache)
{
	PyObject *result;
	PySendResult status;

	if (cache_learns(cache))
		cache_learn_iterate(cache, iterator);
	if (!runtime_generator_send(thread, iterator, Py_None, &result, &status))
		return Py_TYPE(iterator)->tp_iternext(iterator);
	if (status != PYGEN_RETURN)
		return result;
	/* A value that is returned is lost to a loop; None is what gen_iternext() makes
	 * nothing of. */
	Py_DECREF(result);
	return NULL;
}

int runtime_send_miss(PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **sp,
	struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_iterate(cache, sp[-2]);
	return runtime_send(thread, frame, sp, 0);
}
