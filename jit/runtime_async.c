/* Instructions of generators, coroutines and iteration. */
#include "jit/errors.h"
#include "jit/runtime_generator.h"
#include "jit/runtime_stack.h"

RUNTIME_OP(runtime_get_iter)
{
	return runtime_replace(sp, 1, PyObject_GetIter(sp[-1]));
}

RUNTIME_OP(runtime_get_yield_from)
{
	PyObject *iterable = sp[-1];

	if (PyCoro_CheckExact(iterable)) {
		if (frame->f_code->co_flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE))
			return 0;
		Py_DECREF(runtime_take(sp, 1));
		_PyErr_SetString(thread, PyExc_TypeError,
			"cannot 'yield from' a coroutine object "
			"in a non-coroutine generator");
		return -1;
	}
	if (PyGen_CheckExact(iterable))
		return 0;
	return runtime_replace(sp, 1, PyObject_GetIter(iterable));
}

static bool has_anext(PyObject *object)
{
	PyAsyncMethods *methods = Py_TYPE(object)->tp_as_async;

	return methods && methods->am_anext;
}

RUNTIME_OP(runtime_get_aiter)
{
	PyObject *object = runtime_take(sp, 1);
	PyTypeObject *type = Py_TYPE(object);
	PyObject *iterator;

	if (!type->tp_as_async || !type->tp_as_async->am_aiter) {
		_PyErr_Format(thread, PyExc_TypeError,
			"'async for' requires an object with __aiter__ method, got "
			"%.100s",
			type->tp_name);
		Py_DECREF(object);
		return -1;
	}
	iterator = type->tp_as_async->am_aiter(object);
	Py_DECREF(object);
	if (iterator && !has_anext(iterator)) {
		_PyErr_Format(thread, PyExc_TypeError,
			"'async for' received an object from __aiter__ "
			"that does not implement __anext__: %.100s",
			Py_TYPE(iterator)->tp_name);
		Py_CLEAR(iterator);
	}
	sp[-1] = iterator;
	return iterator ? 0 : -1;
}

RUNTIME_OP(runtime_get_anext)
{
	PyObject *iterator = sp[-1];
	PyObject *next;
	PyObject *awaitable;

	if (!has_anext(iterator)) {
		_PyErr_Format(thread, PyExc_TypeError,
			"'async for' requires an iterator with __anext__ method, got "
			"%.100s",
			Py_TYPE(iterator)->tp_name);
		return -1;
	}
	next = Py_TYPE(iterator)->tp_as_async->am_anext(iterator);
	if (!next || PyAsyncGen_CheckExact(iterator)) {
		sp[0] = next;
		return next ? 0 : -1;
	}
	awaitable = _PyCoro_GetAwaitableIter(next);
	if (!awaitable)
		_PyErr_FormatFromCause(PyExc_TypeError,
			"'async for' received an invalid object from __anext__: %.100s",
			Py_TYPE(next)->tp_name);
	Py_DECREF(next);
	sp[0] = awaitable;
	return awaitable ? 0 : -1;
}

RUNTIME_OP(runtime_get_awaitable)
{
	PyObject *iterable = runtime_take(sp, 1);
	PyObject *iterator = _PyCoro_GetAwaitableIter(iterable);

	if (!iterator)
		errors_awaitable(thread, Py_TYPE(iterable), oparg);
	Py_DECREF(iterable);
	if (iterator && PyCoro_CheckExact(iterator)) {
		PyObject *awaited = _PyGen_yf((PyGenObject *)iterator);

		if (awaited) {
			Py_DECREF(awaited);
			Py_CLEAR(iterator);
			_PyErr_SetString(thread, PyExc_RuntimeError,
				"coroutine is being awaited already");
		}
	}
	sp[-1] = iterator;
	return iterator ? 0 : -1;
}

RUNTIME_OP(runtime_async_gen_wrap)
{
	PyObject *wrapped = _PyAsyncGenValueWrapperNew(sp[-1]);

	return wrapped ? runtime_replace(sp, 1, wrapped) : -1;
}

/* 0: the receiver has yielded; 1: it has returned. */
RUNTIME_OP(runtime_send)
{
	PyObject *value = runtime_take(sp, 1);
	PyObject *receiver = sp[-2];
	PyObject *result = NULL;
	PySendResult status;

	if (!runtime_generator_send(thread, receiver, value, &result, &status))
		status = PyIter_Send(receiver, value, &result);
	Py_DECREF(value);
	if (status == PYGEN_ERROR)
		return -1;
	if (status == PYGEN_NEXT) {
		sp[-1] = result;
		return 0;
	}
	sp[-2] = result;
	Py_DECREF(receiver);
	return 1;
}

PyObject *runtime_return_generator(
	PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **sp, uint32_t oparg)
{
	PyGenObject *generator = (PyGenObject *)_Py_MakeCoro(frame->f_func);
	_PyInterpreterFrame *copy;

	(void)sp;
	(void)oparg;
	if (!generator)
		return NULL;
	frame->stacktop = frame->f_code->co_nlocalsplus;
	copy = (_PyInterpreterFrame *)generator->gi_iframe;
	_PyFrame_Copy(frame, copy);
	generator->gi_frame_state = FRAME_CREATED;
	copy->owner = FRAME_OWNED_BY_GENERATOR;
	_Py_LeaveRecursiveCallTstate(thread);
	thread->cframe->current_frame = frame->previous;
	if (!frame->is_entry) {
		_PyThreadState_PopFrame(thread, frame);
		return (PyObject *)generator;
	}
	/* The caller clears the frame, whose contents are the generator's now. */
	frame->stacktop = 0;
	frame->f_locals = NULL;
	Py_INCREF(frame->f_func);
	Py_INCREF(frame->f_code);
	return (PyObject *)generator;
}
