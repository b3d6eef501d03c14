/* What native code calls for exits, attention and the end of values. */
#include "jit/runtime.h"

#include "jit/except.h"
#include "jit/frame.h"
#include "jit/jit.h"

int runtime_stress = 1;

/* Another distance each time, so that every guard has its turn. */
void runtime_stress_again(void)
{
	static uint32_t state = 1;

	state = state * 1103515245u + 12345u;
	runtime_stress = (int)(state >> 16) % 64 + 1;
	jit.timers.deopts_stress++;
}

void runtime_stress_guard(void)
{
	runtime_stress_again();
	jit.stress_missed = true;
}

void runtime_dealloc(PyObject *object)
{
	_Py_Dealloc(object);
}

void runtime_clear_and_pop(PyThreadState *thread, _PyInterpreterFrame *frame)
{
	frame_clear_and_pop(thread, frame);
}

void runtime_drop_locals(_PyInterpreterFrame *frame, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		Py_XDECREF(frame->localsplus[i]);
}

PyObject *runtime_leaving(void)
{
	return jit.leaving;
}

void *runtime_unwind(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct compiled *compiled, uint32_t number, PyObject *top)
{
	return except_unwind(thread, frame, compiled, number, top);
}

void *runtime_reraise(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct compiled *compiled, uint32_t number, PyObject *top)
{
	return except_reraise(thread, frame, compiled, number, top);
}

PyObject *runtime_deopt(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct compiled *compiled, uint32_t number, PyObject *top)
{
	if (thread->cframe->use_tracing)
		jit.timers.deopts_tracing++;
	else if (!jit.stress_deopt)
		jit.timers.deopts_opcode++;
	return frame_deopt(thread, frame, compiled, number, top);
}

/* COMPUTE_EVAL_BREAKER in ceval.c. */
static void compute_eval_breaker(PyInterpreterState *interpreter)
{
	struct _ceval_runtime_state *runtime = &_PyRuntime.ceval;
	struct _ceval_state *state = &interpreter->ceval;
	bool main_thread = _Py_IsMainThread();

	_Py_atomic_store_relaxed(&state->eval_breaker,
		_Py_atomic_load_relaxed(&state->gil_drop_request) |
			(_Py_atomic_load_relaxed(&runtime->signals_pending) &&
				_Py_ThreadCanHandleSignals(interpreter)) |
			(_Py_atomic_load_relaxed(&state->pending.calls_to_do) &&
				main_thread) |
			state->pending.async_exc);
}

int runtime_handle_pending(PyThreadState *thread)
{
	struct _ceval_state *state = &thread->interp->ceval;

	if (_Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending) ||
		_Py_atomic_load_relaxed(&state->pending.calls_to_do)) {
		if (Py_MakePendingCalls())
			return -1;
	}
	if (_Py_atomic_load_relaxed(&state->gil_drop_request))
		PyEval_RestoreThread(PyEval_SaveThread());
	if (thread->async_exc) {
		PyObject *exception = thread->async_exc;

		thread->async_exc = NULL;
		state->pending.async_exc = 0;
		compute_eval_breaker(thread->interp);
		_PyErr_SetNone(thread, exception);
		Py_DECREF(exception);
		return -1;
	}
	return 0;
}

int runtime_truth(PyObject *object, int owned)
{
	int truth = PyObject_IsTrue(object);

	if (owned)
		Py_DECREF(object);
	return truth;
}

int runtime_iterator_end(
	PyThreadState *thread, _PyInterpreterFrame *frame, PyObject *iterator)
{
	(void)frame;
	if (_PyErr_Occurred(thread)) {
		if (!_PyErr_ExceptionMatches(thread, PyExc_StopIteration))
			return -1;
		_PyErr_Clear(thread);
	}
	Py_DECREF(iterator);
	return 0;
}
