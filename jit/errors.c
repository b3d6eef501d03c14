/* Exceptions that instructions raise themselves, with CPython's texts (ceval.c). */
#include "jit/errors.h"

/* Raises with the name in the text; a NameError keeps the name, too. */
static void raise_with_name(
	PyThreadState *thread, PyObject *type, const char *format, PyObject *name)
{
	const char *text = name ? PyUnicode_AsUTF8(name) : NULL;
	PyObject *kind;
	PyObject *value;
	PyObject *traceback;

	if (!text)
		return;
	_PyErr_Format(thread, type, format, text);
	if (type != PyExc_NameError)
		return;
	_PyErr_Fetch(thread, &kind, &value, &traceback);
	_PyErr_NormalizeException(thread, &kind, &value, &traceback);
	if (PyErr_GivenExceptionMatches(value, PyExc_NameError) &&
		!((PyNameErrorObject *)value)->name)
		(void)PyObject_SetAttr(value, &_Py_ID(name), name);
	_PyErr_Restore(thread, kind, value, traceback);
}

void errors_name(PyThreadState *thread, PyObject *name)
{
	raise_with_name(thread, PyExc_NameError, "name '%.200s' is not defined", name);
}

void errors_unbound_local(PyThreadState *thread, PyCodeObject *code, uint32_t local)
{
	raise_with_name(thread, PyExc_UnboundLocalError,
		"cannot access local variable '%s' where it is not associated with a "
		"value",
		PyTuple_GetItem(code->co_localsplusnames, local));
}

void errors_unbound_cell(PyThreadState *thread, PyCodeObject *code, uint32_t local)
{
	if (_PyErr_Occurred(thread))
		return;
	if ((int)local < code->co_nplaincellvars + code->co_nlocals) {
		errors_unbound_local(thread, code, local);
		return;
	}
	raise_with_name(thread, PyExc_NameError,
		"cannot access free variable '%s' where it is not associated with a value"
		" in enclosing scope",
		PyTuple_GET_ITEM(code->co_localsplusnames, local));
}

void errors_keywords(PyThreadState *thread, PyObject *function, PyObject *keywords)
{
	PyObject *type;
	PyObject *value;
	PyObject *traceback;
	PyObject *name;

	if (_PyErr_ExceptionMatches(thread, PyExc_AttributeError)) {
		_PyErr_Clear(thread);
		name = _PyObject_FunctionStr(function);
		if (name)
			_PyErr_Format(thread, PyExc_TypeError,
				"%U argument after ** must be a mapping, not %.200s",
				name, Py_TYPE(keywords)->tp_name);
		Py_XDECREF(name);
		return;
	}
	if (!_PyErr_ExceptionMatches(thread, PyExc_KeyError))
		return;
	_PyErr_Fetch(thread, &type, &value, &traceback);
	if (!value || !PyTuple_Check(value) || PyTuple_GET_SIZE(value) != 1) {
		_PyErr_Restore(thread, type, value, traceback);
		return;
	}
	_PyErr_Clear(thread);
	name = _PyObject_FunctionStr(function);
	if (name)
		_PyErr_Format(thread, PyExc_TypeError,
			"%U got multiple values for keyword argument '%S'", name,
			PyTuple_GET_ITEM(value, 0));
	Py_XDECREF(name);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
}

int errors_check_arguments(PyThreadState *thread, PyObject *function, PyObject *arguments)
{
	PyObject *name;

	if (Py_TYPE(arguments)->tp_iter || PySequence_Check(arguments))
		return 0;
	_PyErr_Clear(thread);
	name = _PyObject_FunctionStr(function);
	if (name)
		_PyErr_Format(thread, PyExc_TypeError,
			"%U argument after * must be an iterable, not %.200s", name,
			Py_TYPE(arguments)->tp_name);
	Py_XDECREF(name);
	return -1;
}

static bool is_exception_class(PyObject *type)
{
	if (!PyTuple_Check(type))
		return PyExceptionClass_Check(type);
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(type); i++)
		if (!PyExceptionClass_Check(PyTuple_GET_ITEM(type, i)))
			return false;
	return true;
}

int errors_check_except(PyThreadState *thread, PyObject *type)
{
	if (is_exception_class(type))
		return 0;
	_PyErr_SetString(thread, PyExc_TypeError,
		"catching classes that do not inherit from BaseException is not allowed");
	return -1;
}

/* 1 where a class, or one of a tuple, is an exception group's; -1: exception. */
static int names_group(PyObject *type)
{
	int result = 0;

	if (!PyTuple_Check(type))
		return PyObject_IsSubclass(type, PyExc_BaseExceptionGroup);
	for (Py_ssize_t i = 0; !result && i < PyTuple_GET_SIZE(type); i++)
		result = PyObject_IsSubclass(
			PyTuple_GET_ITEM(type, i), PyExc_BaseExceptionGroup);
	return result;
}

int errors_check_except_star(PyThreadState *thread, PyObject *type)
{
	int group;

	if (errors_check_except(thread, type) < 0)
		return -1;
	group = names_group(type);
	if (group > 0)
		_PyErr_SetString(thread, PyExc_TypeError,
			"catching ExceptionGroup with except* is not allowed."
			" Use except instead.");
	return group ? -1 : 0;
}

void errors_awaitable(PyThreadState *thread, PyTypeObject *type, uint32_t where)
{
	static const char *const origins[] = {NULL, "__aenter__", "__aexit__"};

	if (type->tp_as_async && type->tp_as_async->am_await)
		return;
	if (where == 1 || where == 2)
		_PyErr_Format(thread, PyExc_TypeError,
			"'async with' received an object from %s "
			"that does not implement __await__: %.100s",
			origins[where], type->tp_name);
}
