/* Calls from native code. */
#include "jit/cache.h"
#include "jit/enter.h"
#include "jit/frame.h"
#include "jit/hook.h"
#include "jit/jit.h"
#include "jit/runtime.h"
#include "jit/table.h"

static void drop_arguments(PyObject **base, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		PyObject *value = base[i];

		base[i] = NULL;
		Py_XDECREF(value);
	}
}

/* Whether the arguments can be put into a new frame as they come: positional ones, the
 * missing ones with defaults. Everything else, mistakes included, goes through
 * _PyFunction_Vectorcall(). */
static bool is_simple(
	const PyFunctionObject *function, const PyCodeObject *code, int given)
{
	PyObject *defaults = function->func_defaults;
	int missing = code->co_argcount - given;

	if (code->co_flags & (CO_VARARGS | CO_VARKEYWORDS) || code->co_kwonlyargcount ||
		!(code->co_flags & CO_OPTIMIZED) || missing < 0)
		return false;
	return !missing || (defaults && PyTuple_GET_SIZE(defaults) >= missing);
}

/* Moves `given` arguments from `from` into the locals of a new frame. */
static void fill_locals(_PyInterpreterFrame *callee, PyCodeObject *code,
	PyFunctionObject *function, PyObject **from, int given)
{
	PyObject **locals = callee->localsplus;
	int i = 0;

	for (; i < given; i++) {
		locals[i] = from[i];
		from[i] = NULL;
	}
	if (i < code->co_argcount) {
		PyObject *defaults = function->func_defaults;
		Py_ssize_t shift = PyTuple_GET_SIZE(defaults) - code->co_argcount;

		for (; i < code->co_argcount; i++)
			locals[i] = Py_NewRef(PyTuple_GET_ITEM(defaults, i + shift));
	}
	for (; i < code->co_nlocalsplus; i++)
		locals[i] = NULL;
}

/* Straight into the native code of a Python function, without a C structure between. */
static PyObject *call_native(PyThreadState *thread, _PyInterpreterFrame *callee,
	const struct compiled *compiled)
{
	_PyInterpreterFrame *caller = thread->cframe->current_frame;

	callee->previous = caller;
	thread->cframe->current_frame = callee;
	if (_Py_EnterRecursiveCallTstate(thread, "")) {
		thread->cframe->current_frame = caller;
		frame_clear_and_pop(thread, callee);
		return NULL;
	}
	callee->stacktop = -1;
	jit.timers.direct_calls++;
	return enter_native(thread, callee, compiled->start, NULL);
}

/* Calls a function with its arguments moved from `from`; takes the reference to it. */
static PyObject *call_function(
	PyThreadState *thread, PyFunctionObject *function, PyObject **from, int given)
{
	PyCodeObject *code = (PyCodeObject *)function->func_code;
	struct compiled *compiled = hook_compiled(code);
	_PyInterpreterFrame *callee = frame_push(thread, function);
	PyObject *value;

	if (!callee) {
		Py_DECREF(function);
		return NULL;
	}
	fill_locals(callee, code, function, from, given);
	if ((char *)__builtin_frame_address(0) > hook_stack_floor() &&
		!thread->cframe->use_tracing) {
		if (compiled)
			return call_native(thread, callee, compiled);
		value = _PyEval_EvalFrameDefault(thread, callee, 0);
	} else {
		value = _PyEval_EvalFrame(thread, callee, 0);
	}
	frame_clear_and_pop(thread, callee);
	return value;
}

/* A stub for the next call of the same function, where it is compiled and gets exactly
 * the arguments that it takes. */
static void learn(struct cache *cache, PyObject **base)
{
	PyObject *callable = base[0] ? base[0] : base[1];
	bool bound = !base[0] && Py_IS_TYPE(callable, &PyMethod_Type);
	PyCodeObject *code;
	struct compiled *compiled;
	int given = (int)cache->oparg + (base[0] || bound);

	if (bound)
		callable = ((PyMethodObject *)callable)->im_func;
	if (cache->name || !Py_IS_TYPE(callable, &PyFunction_Type))
		return;
	code = (PyCodeObject *)((PyFunctionObject *)callable)->func_code;
	compiled = table_compiled(code);
	if (!compiled || code->co_argcount != given ||
		!is_simple((PyFunctionObject *)callable, code, given))
		return;
	cache_learn_call(
		cache, (PyFunctionObject *)callable, compiled, base[0] != NULL, bound);
}

PyObject *runtime_call_miss(PyThreadState *thread, _PyInterpreterFrame *frame,
	PyObject **base, struct cache *cache)
{
	if (cache_learns(cache) && !thread->cframe->use_tracing)
		learn(cache, base);
	return runtime_call(thread, frame, base, cache->oparg, cache->name);
}

PyObject *runtime_call(PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **base,
	uint32_t oparg, PyObject *names)
{
	PyObject *callable;
	PyObject **arguments;
	PyObject *value;
	size_t given;
	size_t named = names ? (size_t)PyTuple_GET_SIZE(names) : 0;

	(void)frame;
	if (!base[0] && Py_IS_TYPE(base[1], &PyMethod_Type)) {
		PyObject *method = base[1];

		base[0] = Py_NewRef(((PyMethodObject *)method)->im_func);
		base[1] = Py_NewRef(((PyMethodObject *)method)->im_self);
		Py_DECREF(method);
	}
	callable = base[0] ? base[0] : base[1];
	arguments = base[0] ? base + 1 : base + 2;
	given = base[0] ? oparg + 1 : oparg;
	if (Py_IS_TYPE(callable, &PyFunction_Type) && !names &&
		is_simple((PyFunctionObject *)callable,
			(PyCodeObject *)((PyFunctionObject *)callable)->func_code,
			(int)given)) {
		base[0] = NULL;
		return call_function(
			thread, (PyFunctionObject *)callable, arguments, (int)given);
	}
	value = PyObject_Vectorcall(callable, arguments,
		(given - named) | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
	drop_arguments(base, oparg + 2);
	return value;
}
