/* Calls from native code. */
#include "jit/cache.h"
#include "jit/enter.h"
#include "jit/frame.h"
#include "jit/hook.h"
#include "jit/iterators.h"
#include "jit/jit.h"
#include "jit/runtime.h"
#include "jit/runtime_bind.h"
#include "jit/table.h"

void runtime_drop_entries(PyObject **base, uint32_t count)
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

/* Runs a new frame natively or by the interpreter, and pops it. */
static PyObject *evaluate(PyThreadState *thread, _PyInterpreterFrame *callee,
	const struct compiled *compiled)
{
	PyObject *value;

	if ((char *)__builtin_frame_address(0) > hook_stack_floor() &&
		!thread->cframe->use_tracing) {
		if (compiled)
			return call_native(thread, callee, compiled);
		if (jit.statistics)
			hook_count_interpreted(callee->f_code);
		value = _PyEval_EvalFrameDefault(thread, callee, 0);
	} else {
		value = _PyEval_EvalFrame(thread, callee, 0);
	}
	frame_clear_and_pop(thread, callee);
	return value;
}

/* Calls a function with its arguments moved from `from`; takes the reference to it. */
static PyObject *call_function(
	PyThreadState *thread, PyFunctionObject *function, PyObject **from, int given)
{
	PyCodeObject *code = (PyCodeObject *)function->func_code;
	struct compiled *compiled = hook_compiled(code);
	_PyInterpreterFrame *callee = frame_push(thread, function);

	if (!callee) {
		for (int i = 0; i < given; i++)
			Py_DECREF(from[i]);
		Py_DECREF(function);
		return NULL;
	}
	fill_locals(callee, code, function, from, given);
	return evaluate(thread, callee, compiled);
}

/* The same with the arguments as runtime_bind() has them, the defaults included. */
static PyObject *call_bound(
	PyThreadState *thread, PyFunctionObject *function, PyObject **bound)
{
	PyCodeObject *code = (PyCodeObject *)function->func_code;
	int count = bind_count(code);
	struct compiled *compiled = hook_compiled(code);
	_PyInterpreterFrame *callee = frame_push(thread, function);
	int i = 0;

	if (!callee) {
		for (; i < count; i++)
			Py_DECREF(bound[i]);
		Py_DECREF(function);
		return NULL;
	}
	for (; i < count; i++)
		callee->localsplus[i] = bound[i];
	for (; i < code->co_nlocalsplus; i++)
		callee->localsplus[i] = NULL;
	return evaluate(thread, callee, compiled);
}

/* Any other Python function: the interpreter sorts the arguments out. Once its frame is
 * there, the references of the stack go, as if they had been moved. */
static PyObject *call_vector(PyThreadState *thread, PyObject *callable, PyObject **base,
	uint32_t count, PyObject **arguments, size_t given, PyObject *names)
{
	struct hook_moved moved = {
		.function = callable, .base = base, .count = count, .outer = hook_moved};
	PyObject *value;

	(void)thread;
	if (Py_IS_TYPE(callable, &PyFunction_Type))
		hook_moved = &moved;
	value = PyObject_Vectorcall(
		callable, arguments, given | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
	hook_moved = moved.outer;
	if (moved.base)
		hook_drop(&moved);
	return value;
}

PyObject *runtime_vectorcall(
	PyObject *callable, PyObject **arguments, size_t given, PyObject *names)
{
	return PyObject_Vectorcall(callable, arguments, given, names);
}

PyObject *runtime_length(PyObject *object)
{
	Py_ssize_t length = PyObject_Length(object);

	return length < 0 ? NULL : runtime_new_int(length);
}

PyObject *runtime_is_instance(PyObject *object, PyObject *type)
{
	int yes = PyObject_IsInstance(object, type);

	return yes < 0 ? NULL : Py_NewRef(yes ? Py_True : Py_False);
}

PyObject *runtime_append(PyListObject *list, PyObject *value)
{
	return _PyList_AppendTakeRefListResize(list, value) ? NULL : Py_NewRef(Py_None);
}

int runtime_append_item(PyListObject *list, PyObject *value)
{
	return _PyList_AppendTakeRefListResize(list, value);
}

/* What CPython's specialized calls do in line: NULL, and the stack as it was, where it is
 * none of them; *failed where it raised. */
static PyObject *call_builtin(PyThreadState *thread, PyObject *callable,
	PyObject **arguments, size_t given, bool *failed)
{
	struct callable_cache *known = &thread->interp->callable_cache;
	PyObject *result = NULL;

	*failed = false;
	if (callable == known->len && given == 1) {
		result = runtime_length(arguments[0]);
	} else if (callable == known->isinstance && given == 2) {
		result = runtime_is_instance(arguments[0], arguments[1]);
	} else if (callable == known->list_append && given == 2 &&
		   PyList_Check(arguments[0])) {
		result = PyList_Append(arguments[0], arguments[1]) ? NULL
								   : Py_NewRef(Py_None);
	} else if (callable == (PyObject *)&PyType_Type && given == 1) {
		result = Py_NewRef(Py_TYPE(arguments[0]));
	} else {
		return NULL;
	}
	*failed = !result;
	return result;
}

PyObject *runtime_call_miss(PyThreadState *thread, _PyInterpreterFrame *frame,
	PyObject **base, struct cache *cache)
{
	if (cache_learns(cache) && !thread->cframe->use_tracing)
		cache_learn_call(cache, base);
	return runtime_call(thread, frame, base, cache->oparg, cache->name);
}

/* A bound method becomes function and self. */
static void unbind(PyObject **base)
{
	PyObject *method = base[1];

	base[0] = Py_NewRef(((PyMethodObject *)method)->im_func);
	base[1] = Py_NewRef(((PyMethodObject *)method)->im_self);
	Py_DECREF(method);
}

/* A Python function where the arguments are easy to place; false: they are not. */
static bool call_easy(PyThreadState *thread, PyFunctionObject *function,
	PyObject **arguments, int given, PyObject *names, PyObject **value)
{
	PyCodeObject *code = (PyCodeObject *)function->func_code;
	struct bind_arguments all = {arguments, given, NULL, 0};
	PyObject *bound[BIND_MAX + 2];

	if (!names && is_simple(function, code, given)) {
		*value = call_function(thread, function, arguments, given);
		return true;
	}
	if (names) {
		all.names = ((PyTupleObject *)names)->ob_item;
		all.named = (int)PyTuple_GET_SIZE(names);
	}
	if (!runtime_bind(function, &all, bound))
		return false;
	*value = call_bound(thread, function, bound);
	return true;
}

PyObject *runtime_new_instance(PyTypeObject *type)
{
	PyObject *object = type->tp_alloc(type, 0);

	if (object && _PyObject_InitializeDict(object))
		Py_CLEAR(object);
	return object;
}

void runtime_init_failed(PyObject *result, PyObject *object, PyObject *type)
{
	if (result) {
		PyErr_Format(PyExc_TypeError,
			"__init__() should return None, not '%.200s'",
			Py_TYPE(result)->tp_name);
		Py_DECREF(result);
	}
	Py_DECREF(object);
	Py_DECREF(type);
}

/* An instance of a class whose only say in the matter is a Python __init__(): what
 * type_call() does for it. False: not such a class. */
static bool construct(
	PyThreadState *thread, PyObject **base, uint32_t oparg, PyObject **value)
{
	PyTypeObject *type = (PyTypeObject *)base[1];
	PyObject *init;
	PyObject *object;
	PyObject *none;
	PyCodeObject *code;

	if (Py_TYPE(type) != &PyType_Type || type->tp_new != PyBaseObject_Type.tp_new ||
		!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) ||
		type->tp_flags & Py_TPFLAGS_IS_ABSTRACT)
		return false;
	init = _PyType_Lookup(type, &_Py_ID(__init__));
	if (!init || !Py_IS_TYPE(init, &PyFunction_Type))
		return false;
	code = (PyCodeObject *)((PyFunctionObject *)init)->func_code;
	if (!is_simple((PyFunctionObject *)init, code, (int)oparg + 1))
		return false;
	*value = NULL;
	/* As _PyObject_MakeTpCall() has it. */
	if (_Py_EnterRecursiveCallTstate(thread, " while calling a Python object")) {
		runtime_drop_entries(base, oparg + 2);
		return true;
	}
	object = runtime_new_instance(type);
	if (!object) {
		_Py_LeaveRecursiveCallTstate(thread);
		runtime_drop_entries(base, oparg + 2);
		return true;
	}
	/* The class's place becomes self's; the class lives on in the instance. */
	base[1] = Py_NewRef(object);
	none = call_function(
		thread, (PyFunctionObject *)Py_NewRef(init), base + 1, (int)oparg + 1);
	_Py_LeaveRecursiveCallTstate(thread);
	if (none != Py_None) {
		runtime_init_failed(none, object, (PyObject *)type);
		return true;
	}
	Py_DECREF(none);
	Py_DECREF(type);
	*value = object;
	return true;
}

bool runtime_call_spread(PyThreadState *thread, PyObject *callable, PyObject *tuple,
	PyObject *keywords, PyObject **value)
{
	PyFunctionObject *function = (PyFunctionObject *)callable;
	PyObject *values[BIND_MAX];
	PyObject *names[BIND_MAX];
	PyObject *bound[BIND_MAX + 2];
	Py_ssize_t places = PyTuple_GET_SIZE(tuple);
	Py_ssize_t named = keywords ? PyDict_GET_SIZE(keywords) : 0;
	struct bind_arguments all = {values, (int)(places + named), names, (int)named};
	Py_ssize_t at = 0;

	if (!Py_IS_TYPE(callable, &PyFunction_Type) || places + named > BIND_MAX)
		return false;
	for (Py_ssize_t i = 0; i < places; i++)
		values[i] = PyTuple_GET_ITEM(tuple, i);
	for (Py_ssize_t i = 0; i < named; i++)
		PyDict_Next(keywords, &at, &names[i], &values[places + i]);
	for (int i = 0; i < all.given; i++)
		Py_INCREF(values[i]);
	if (!runtime_bind(function, &all, bound)) {
		for (int i = 0; i < all.given; i++)
			Py_DECREF(values[i]);
		return false;
	}
	Py_INCREF(callable);
	*value = call_bound(thread, function, bound);
	return true;
}

PyObject *runtime_call_one(PyThreadState *thread, PyObject *callable, PyObject *a)
{
	PyFunctionObject *function = (PyFunctionObject *)callable;

	if (!is_simple(function, (PyCodeObject *)function->func_code, 1))
		return PyObject_Vectorcall(callable, &a, 1, NULL);
	Py_INCREF(a);
	Py_INCREF(function);
	return call_function(thread, function, &a, 1);
}

PyObject *runtime_call_two(
	PyThreadState *thread, PyObject *callable, PyObject *a, PyObject *b)
{
	PyFunctionObject *function = (PyFunctionObject *)callable;
	PyObject *arguments[] = {a, b};

	if (!is_simple(function, (PyCodeObject *)function->func_code, 2))
		return PyObject_Vectorcall(callable, arguments, 2, NULL);
	Py_INCREF(a);
	Py_INCREF(b);
	Py_INCREF(function);
	return call_function(thread, function, arguments, 2);
}

PyObject *runtime_call_getter(
	PyThreadState *thread, PyObject *property, PyObject *self, uint32_t owned)
{
	PyFunctionObject *function =
		(PyFunctionObject *)((struct property *)property)->reader;
	PyObject *argument = self;
	PyObject *value;

	if (!function || !Py_IS_TYPE(function, &PyFunction_Type) ||
		!is_simple(function, (PyCodeObject *)function->func_code, 1)) {
		value = Py_TYPE(property)->tp_descr_get(
			property, self, (PyObject *)Py_TYPE(self));
		if (owned)
			Py_DECREF(self);
		return value;
	}
	if (!owned)
		Py_INCREF(self);
	Py_INCREF(function);
	return call_function(thread, function, &argument, 1);
}

PyObject *runtime_call(PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **base,
	uint32_t oparg, PyObject *names)
{
	PyObject *callable;
	PyObject **arguments;
	PyObject *value = NULL;
	size_t given;
	size_t named = names ? (size_t)PyTuple_GET_SIZE(names) : 0;
	bool failed;

	(void)frame;
	if (!base[0] && Py_IS_TYPE(base[1], &PyMethod_Type))
		unbind(base);
	callable = base[0] ? base[0] : base[1];
	arguments = base[0] ? base + 1 : base + 2;
	given = base[0] ? oparg + 1 : oparg;
	if (Py_IS_TYPE(callable, &PyFunction_Type)) {
		if (call_easy(thread, (PyFunctionObject *)callable, arguments, (int)given,
			    names, &value))
			return value;
	} else if (PyType_Check(callable) && !names && !base[0]) {
		if (construct(thread, base, oparg, &value))
			return value;
	}
	if (!named) {
		value = call_builtin(thread, callable, arguments, given, &failed);
		if (value || failed) {
			runtime_drop_entries(base, oparg + 2);
			return value;
		}
	}
	return call_vector(
		thread, callable, base, oparg + 2, arguments, given - named, names);
}
