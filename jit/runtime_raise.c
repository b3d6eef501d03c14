/* Instructions that raise and handle exceptions, and `with`. */
#include "jit/errors.h"
#include "jit/runtime_stack.h"

#include "internal/pycore_exceptions.h"

RUNTIME_OP(runtime_push_exc_info)
{
	_PyErr_StackItem *current = thread->exc_info;
	PyObject *value = sp[-1];

	sp[-1] = current->exc_value ? current->exc_value : Py_NewRef(Py_None);
	sp[0] = Py_NewRef(value);
	current->exc_value = value;
	return 0;
}

RUNTIME_OP(runtime_pop_except)
{
	_PyErr_StackItem *current = thread->exc_info;
	PyObject *old = current->exc_value;

	current->exc_value = runtime_take(sp, 1);
	Py_XDECREF(old);
	return 0;
}

RUNTIME_OP(runtime_check_exc_match)
{
	PyObject *type = runtime_take(sp, 1);
	int result = errors_check_except(thread, type);

	if (result < 0) {
		Py_DECREF(type);
		return -1;
	}
	result = PyErr_GivenExceptionMatches(sp[-2], type);
	Py_DECREF(type);
	sp[-1] = Py_NewRef(result ? Py_True : Py_False);
	return 0;
}

static PyObject *wrap_in_group(PyObject *exception)
{
	PyObject *list = PyTuple_Pack(1, exception);
	PyObject *group = list ? _PyExc_CreateExceptionGroup("", list) : NULL;

	Py_XDECREF(list);
	return group;
}

/* Splits an exception into what an except* clause takes and the rest. */
static int match_group(
	PyObject *exception, PyObject *type, PyObject **match, PyObject **rest)
{
	PyObject *pair;

	if (!Py_IsNone(exception) && PyErr_GivenExceptionMatches(exception, type)) {
		*match = _PyBaseExceptionGroup_Check(exception)
				 ? Py_NewRef(exception)
				 : wrap_in_group(exception);
		*rest = *match ? Py_NewRef(Py_None) : NULL;
		return *match ? 0 : -1;
	}
	if (Py_IsNone(exception) || !_PyBaseExceptionGroup_Check(exception)) {
		*match = Py_NewRef(Py_None);
		*rest = Py_NewRef(Py_None);
		return 0;
	}
	pair = PyObject_CallMethod(exception, "split", "(O)", type);
	if (!pair)
		return -1;
	*match = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
	*rest = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
	Py_DECREF(pair);
	return 0;
}

RUNTIME_OP(runtime_check_eg_match)
{
	PyObject *type = runtime_take(sp, 1);
	PyObject *exception = sp[-2];
	PyObject *match = NULL;
	PyObject *rest = NULL;
	int result = errors_check_except_star(thread, type);

	if (!result)
		result = match_group(exception, type, &match, &rest);
	Py_DECREF(type);
	if (result < 0)
		return -1;
	sp[-1] = match;
	if (Py_IsNone(match)) {
		Py_DECREF(rest);
		return 0;
	}
	sp[-2] = rest;
	PyErr_SetExcInfo(NULL, Py_NewRef(match), NULL);
	Py_DECREF(exception);
	return 0;
}

RUNTIME_OP(runtime_prep_reraise_star)
{
	PyObject *list = runtime_take(sp, 1);
	PyObject *original = runtime_take(sp, 2);
	PyObject *value = _PyExc_PrepReraiseStar(original, list);

	Py_DECREF(list);
	Py_DECREF(original);
	sp[-2] = value;
	return value ? 0 : -1;
}

/* Sets an exception that was caught before, owned, with its traceback. */
static void restore(PyThreadState *thread, PyObject *value)
{
	PyObject *type = Py_NewRef(PyExceptionInstance_Class(value));

	_PyErr_Restore(thread, type, value, PyException_GetTraceback(value));
}

/* 1: the exception goes on as it is; -1: another one. */
RUNTIME_OP(runtime_reraise_op)
{
	if (oparg) {
		PyObject *lasti = sp[-1 - (int)oparg];

		if (!PyLong_Check(lasti)) {
			_PyErr_SetString(
				thread, PyExc_SystemError, "lasti is not an int");
			return -1;
		}
		frame->prev_instr = _PyCode_CODE(frame->f_code) + PyLong_AsLong(lasti);
	}
	restore(thread, runtime_take(sp, 1));
	return 1;
}

static int raise_again(PyThreadState *thread)
{
	PyObject *value = _PyErr_GetTopmostException(thread)->exc_value;

	if (!value || Py_IsNone(value)) {
		_PyErr_SetString(
			thread, PyExc_RuntimeError, "No active exception to reraise");
		return -1;
	}
	restore(thread, Py_NewRef(value));
	return 1;
}

/* An instance from what was raised: the class is called. Takes `what`. */
static PyObject *instantiate(PyThreadState *thread, PyObject *what)
{
	PyObject *value;

	if (PyExceptionInstance_Check(what))
		return what;
	if (!PyExceptionClass_Check(what)) {
		_PyErr_SetString(thread, PyExc_TypeError,
			"exceptions must derive from BaseException");
		Py_DECREF(what);
		return NULL;
	}
	value = _PyObject_CallNoArgs(what);
	if (value && !PyExceptionInstance_Check(value)) {
		_PyErr_Format(thread, PyExc_TypeError,
			"calling %R should have returned an instance of BaseException, "
			"not %R",
			what, Py_TYPE(value));
		Py_CLEAR(value);
	}
	Py_DECREF(what);
	return value;
}

/* Takes `cause`. */
static int set_cause(PyThreadState *thread, PyObject *value, PyObject *cause)
{
	if (PyExceptionClass_Check(cause)) {
		PyObject *instance = _PyObject_CallNoArgs(cause);

		Py_DECREF(cause);
		if (!instance)
			return -1;
		PyException_SetCause(value, instance);
	} else if (PyExceptionInstance_Check(cause)) {
		PyException_SetCause(value, cause);
	} else if (Py_IsNone(cause)) {
		Py_DECREF(cause);
		PyException_SetCause(value, NULL);
	} else {
		_PyErr_SetString(thread, PyExc_TypeError,
			"exception causes must derive from BaseException");
		Py_DECREF(cause);
		return -1;
	}
	return 0;
}

RUNTIME_OP(runtime_raise)
{
	PyObject *cause = NULL;
	PyObject *what;
	PyObject *type;
	PyObject *value;

	if (oparg == 0)
		return raise_again(thread);
	if (oparg > 2) {
		_PyErr_SetString(thread, PyExc_SystemError, "bad RAISE_VARARGS oparg");
		return -1;
	}
	if (oparg == 2)
		cause = runtime_take(sp--, 1);
	what = runtime_take(sp, 1);
	/* A class stands for itself even where calling it gives a subclass's instance. */
	type = PyExceptionClass_Check(what) ? Py_NewRef(what) : NULL;
	value = instantiate(thread, what);
	if (!value) {
		Py_XDECREF(cause);
	} else if (!cause || !set_cause(thread, value, cause)) {
		_PyErr_SetObject(thread, type ? type : (PyObject *)Py_TYPE(value), value);
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	return -1;
}

RUNTIME_OP(runtime_with_except)
{
	PyObject *value = sp[-1];
	PyObject *traceback = PyException_GetTraceback(value);
	PyObject *arguments[] = {
		NULL, PyExceptionInstance_Class(value), value, traceback};

	/* The exception keeps it. */
	Py_XDECREF(traceback);
	sp[0] = PyObject_Vectorcall(
		sp[-4], arguments + 1, 3 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
	return sp[0] ? 0 : -1;
}

static PyObject *find_special(PyThreadState *thread, PyObject *manager, PyObject *name,
	const char *protocol, const char *missed)
{
	PyObject *method = _PyObject_LookupSpecial(manager, name);

	if (!method && !_PyErr_Occurred(thread))
		_PyErr_Format(thread, PyExc_TypeError,
			"'%.200s' object does not support the %scontext manager "
			"protocol%s",
			Py_TYPE(manager)->tp_name, protocol, missed);
	return method;
}

/* __enter__() without a bound method between, where it is a Python function. */
static PyObject *find_enter(PyThreadState *thread, PyObject *manager, PyObject *name,
	const char *protocol, bool *bound)
{
	PyObject *method = _PyType_Lookup(Py_TYPE(manager), name);

	*bound = !method || !Py_IS_TYPE(method, &PyFunction_Type);
	return *bound ? find_special(thread, manager, name, protocol, "")
		      : Py_NewRef(method);
}

static int before_with(PyThreadState *thread, PyObject **sp, PyObject *enter_name,
	PyObject *exit_name, const char *protocol, const char *missed)
{
	PyObject *manager = sp[-1];
	bool bound;
	PyObject *enter = find_enter(thread, manager, enter_name, protocol, &bound);
	PyObject *exit;

	if (!enter)
		return -1;
	exit = find_special(thread, manager, exit_name, protocol, missed);
	if (!exit) {
		Py_DECREF(enter);
		return -1;
	}
	sp[-1] = exit;
	sp[0] = bound ? _PyObject_CallNoArgs(enter)
		      : runtime_call_one(thread, enter, manager);
	Py_DECREF(manager);
	Py_DECREF(enter);
	return sp[0] ? 0 : -1;
}

RUNTIME_OP(runtime_before_with)
{
	return before_with(thread, sp, &_Py_ID(__enter__), &_Py_ID(__exit__), "",
		" (missed __exit__ method)");
}

RUNTIME_OP(runtime_before_async_with)
{
	return before_with(thread, sp, &_Py_ID(__aenter__), &_Py_ID(__aexit__),
		"asynchronous ", " (missed __aexit__ method)");
}

/* 0: the loop has ended; 1: the exception goes on. */
RUNTIME_OP(runtime_end_async_for)
{
	PyObject *value = runtime_take(sp, 1);

	if (!PyErr_GivenExceptionMatches(value, PyExc_StopAsyncIteration)) {
		restore(thread, value);
		return 1;
	}
	Py_DECREF(value);
	Py_DECREF(runtime_take(sp, 2));
	return 0;
}
