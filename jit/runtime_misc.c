/* Unary operations, pattern matching, star calls, printing. */
#include "jit/errors.h"
#include "jit/runtime_stack.h"

RUNTIME_OP(runtime_positive)
{
	return runtime_replace(sp, 1, PyNumber_Positive(sp[-1]));
}

RUNTIME_OP(runtime_negative)
{
	return runtime_replace(sp, 1, PyNumber_Negative(sp[-1]));
}

RUNTIME_OP(runtime_invert)
{
	return runtime_replace(sp, 1, PyNumber_Invert(sp[-1]));
}

RUNTIME_OP(runtime_is)
{
	PyObject *right = sp[-1];
	PyObject *left = sp[-2];

	sp[-2] = Py_NewRef(((left == right) ^ (int)oparg) ? Py_True : Py_False);
	Py_DECREF(left);
	Py_DECREF(right);
	return 0;
}

RUNTIME_OP(runtime_print)
{
	PyObject *value = runtime_take(sp, 1);
	PyObject *hook = _PySys_GetAttr(thread, &_Py_ID(displayhook));
	PyObject *result = NULL;

	if (hook)
		result = PyObject_CallOneArg(hook, value);
	else
		_PyErr_SetString(thread, PyExc_RuntimeError, "lost sys.displayhook");
	Py_DECREF(value);
	Py_XDECREF(result);
	return result ? 0 : -1;
}

RUNTIME_OP(runtime_get_len)
{
	Py_ssize_t length = PyObject_Length(sp[-1]);

	sp[0] = length < 0 ? NULL : PyLong_FromSsize_t(length);
	return sp[0] ? 0 : -1;
}

RUNTIME_OP(runtime_match_mapping)
{
	sp[0] = Py_NewRef(
		Py_TYPE(sp[-1])->tp_flags & Py_TPFLAGS_MAPPING ? Py_True : Py_False);
	return 0;
}

RUNTIME_OP(runtime_match_sequence)
{
	sp[0] = Py_NewRef(
		Py_TYPE(sp[-1])->tp_flags & Py_TPFLAGS_SEQUENCE ? Py_True : Py_False);
	return 0;
}

/* The value of one key, or `missing`, owned; NULL: exception. */
static PyObject *match_key(PyThreadState *thread, PyObject *map, PyObject *get,
	bool unbound, PyObject *key, PyObject *seen, PyObject *missing)
{
	PyObject *arguments[] = {map, key, missing};

	if (PySet_Contains(seen, key) || PySet_Add(seen, key)) {
		if (!_PyErr_Occurred(thread))
			_PyErr_Format(thread, PyExc_ValueError,
				"mapping pattern checks duplicate key (%R)", key);
		return NULL;
	}
	return unbound ? PyObject_Vectorcall(get, arguments, 3, NULL)
		       : PyObject_Vectorcall(get, arguments + 1, 2, NULL);
}

static PyObject *match_values(PyThreadState *thread, PyObject *map, PyObject *keys,
	PyObject *get, bool unbound, PyObject *seen, PyObject *missing)
{
	Py_ssize_t count = PyTuple_GET_SIZE(keys);
	PyObject *values = PyTuple_New(count);

	for (Py_ssize_t i = 0; values && i < count; i++) {
		PyObject *value = match_key(thread, map, get, unbound,
			PyTuple_GET_ITEM(keys, i), seen, missing);

		if (value && value != missing) {
			PyTuple_SET_ITEM(values, i, value);
			continue;
		}
		Py_DECREF(values);
		if (!value)
			return NULL;
		Py_DECREF(value);
		return Py_NewRef(Py_None);
	}
	return values;
}

static PyObject *match_keys(PyThreadState *thread, PyObject *map, PyObject *keys)
{
	PyObject *get = NULL;
	PyObject *seen;
	PyObject *missing;
	PyObject *values = NULL;
	int unbound;

	if (!PyTuple_GET_SIZE(keys))
		return PyTuple_New(0);
	/* get() with a default neither creates keys nor needs KeyError to be cleared. */
	unbound = _PyObject_GetMethod(map, &_Py_ID(get), &get);
	if (!get)
		return NULL;
	seen = PySet_New(NULL);
	missing = _PyObject_CallNoArgs((PyObject *)&PyBaseObject_Type);
	if (seen && missing)
		values = match_values(thread, map, keys, get, unbound, seen, missing);
	Py_DECREF(get);
	Py_XDECREF(seen);
	Py_XDECREF(missing);
	return values;
}

RUNTIME_OP(runtime_match_keys)
{
	sp[0] = match_keys(thread, sp[-2], sp[-1]);
	return sp[0] ? 0 : -1;
}

/* An attribute for a class pattern. NULL: no match, or an exception. */
static int match_attribute(PyThreadState *thread, PyObject *subject, PyObject *type,
	PyObject *name, PyObject *seen, PyObject *found)
{
	PyObject *value;

	if (PySet_Contains(seen, name) || PySet_Add(seen, name)) {
		if (!_PyErr_Occurred(thread))
			_PyErr_Format(thread, PyExc_TypeError,
				"%s() got multiple sub-patterns for attribute %R",
				((PyTypeObject *)type)->tp_name, name);
		return -1;
	}
	value = PyObject_GetAttr(subject, name);
	if (!value) {
		if (_PyErr_ExceptionMatches(thread, PyExc_AttributeError))
			_PyErr_Clear(thread);
		return -1;
	}
	PyList_Append(found, value);
	Py_DECREF(value);
	return 0;
}

/* __match_args__, or an empty tuple; *self: the subject itself is the one position. */
static PyObject *match_names(PyThreadState *thread, PyObject *type, bool *self)
{
	PyObject *names = PyObject_GetAttrString(type, "__match_args__");

	*self = false;
	if (names && !PyTuple_CheckExact(names)) {
		_PyErr_Format(thread, PyExc_TypeError,
			"%s.__match_args__ must be a tuple (got %s)",
			((PyTypeObject *)type)->tp_name, Py_TYPE(names)->tp_name);
		Py_CLEAR(names);
	} else if (!names && _PyErr_ExceptionMatches(thread, PyExc_AttributeError)) {
		_PyErr_Clear(thread);
		names = PyTuple_New(0);
		*self = PyType_HasFeature((PyTypeObject *)type, _Py_TPFLAGS_MATCH_SELF);
	}
	return names;
}

static int match_positions(PyThreadState *thread, PyObject *subject, PyObject *type,
	Py_ssize_t count, PyObject *seen, PyObject *found)
{
	bool self;
	PyObject *names = match_names(thread, type, &self);
	Py_ssize_t allowed;
	int result = 0;

	if (!names)
		return -1;
	allowed = self ? 1 : PyTuple_GET_SIZE(names);
	if (allowed < count) {
		_PyErr_Format(thread, PyExc_TypeError,
			"%s() accepts %d positional sub-pattern%s (%d given)",
			((PyTypeObject *)type)->tp_name, (int)allowed,
			allowed == 1 ? "" : "s", (int)count);
		result = -1;
	} else if (self) {
		PyList_Append(found, subject);
		count = 0;
	}
	for (Py_ssize_t i = 0; !result && i < count; i++) {
		PyObject *name = PyTuple_GET_ITEM(names, i);

		if (!PyUnicode_CheckExact(name)) {
			_PyErr_Format(thread, PyExc_TypeError,
				"__match_args__ elements must be strings (got %s)",
				Py_TYPE(name)->tp_name);
			result = -1;
			break;
		}
		result = match_attribute(thread, subject, type, name, seen, found);
	}
	Py_DECREF(names);
	return result;
}

static PyObject *match_class(PyThreadState *thread, PyObject *subject, PyObject *type,
	Py_ssize_t positions, PyObject *names)
{
	PyObject *seen;
	PyObject *found;
	PyObject *tuple = NULL;
	int result = 0;

	if (!PyType_Check(type)) {
		_PyErr_Format(
			thread, PyExc_TypeError, "called match pattern must be a type");
		return NULL;
	}
	if (PyObject_IsInstance(subject, type) <= 0)
		return NULL;
	seen = PySet_New(NULL);
	found = PyList_New(0);
	if (!seen || !found)
		result = -1;
	else if (positions)
		result = match_positions(thread, subject, type, positions, seen, found);
	for (Py_ssize_t i = 0; !result && i < PyTuple_GET_SIZE(names); i++)
		result = match_attribute(
			thread, subject, type, PyTuple_GET_ITEM(names, i), seen, found);
	if (!result)
		tuple = PyList_AsTuple(found);
	Py_XDECREF(seen);
	Py_XDECREF(found);
	return tuple;
}

RUNTIME_OP(runtime_match_class)
{
	PyObject *names = runtime_take(sp, 1);
	PyObject *type = runtime_take(sp, 2);
	PyObject *subject = sp[-3];
	PyObject *found = match_class(thread, subject, type, oparg, names);

	Py_DECREF(names);
	Py_DECREF(type);
	if (!found) {
		if (_PyErr_Occurred(thread))
			return -1;
		found = Py_NewRef(Py_None);
	}
	sp[-3] = found;
	Py_DECREF(subject);
	return 0;
}

/* ** arguments as a dictionary; takes `keywords`. */
static PyObject *as_dictionary(
	PyThreadState *thread, PyObject *function, PyObject *keywords)
{
	PyObject *copy;

	if (PyDict_CheckExact(keywords))
		return keywords;
	copy = PyDict_New();
	if (copy && _PyDict_MergeEx(copy, keywords, 2) < 0) {
		Py_CLEAR(copy);
		errors_keywords(thread, function, keywords);
	}
	Py_DECREF(keywords);
	return copy;
}

RUNTIME_OP(runtime_call_ex)
{
	PyObject *keywords = NULL;
	PyObject *arguments;
	PyObject *function;
	PyObject *result;

	if (oparg & 1) {
		keywords = as_dictionary(thread, sp[-3], runtime_take(sp, 1));
		if (!keywords)
			return -1;
		sp--;
	}
	arguments = runtime_take(sp, 1);
	function = sp[-2];
	if (!PyTuple_CheckExact(arguments)) {
		PyObject *given = arguments;

		arguments = errors_check_arguments(thread, function, given) < 0
				    ? NULL
				    : PySequence_Tuple(given);
		Py_DECREF(given);
		if (!arguments) {
			Py_XDECREF(keywords);
			return -1;
		}
	}
	if (!runtime_call_spread(thread, function, arguments, keywords, &result))
		result = PyObject_Call(function, arguments, keywords);
	runtime_take(sp, 2);
	Py_DECREF(function);
	Py_DECREF(arguments);
	Py_XDECREF(keywords);
	sp[-3] = result;
	return result ? 0 : -1;
}
