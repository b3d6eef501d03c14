/* Sorting a call's arguments: initialize_locals() of Python/ceval.c for what goes well. */
#include "jit/runtime_bind.h"

int bind_count(const PyCodeObject *code)
{
	return code->co_argcount + code->co_kwonlyargcount +
	       !!(code->co_flags & CO_VARARGS) + !!(code->co_flags & CO_VARKEYWORDS);
}

enum { NOT_FOUND = -1, NO_STRING = -2 };

/* Place of a parameter by its name, which is the very object as a rule. */
static int find_parameter(const PyCodeObject *code, PyObject *name)
{
	PyObject **names = ((PyTupleObject *)code->co_localsplusnames)->ob_item;
	int count = code->co_argcount + code->co_kwonlyargcount;

	for (int i = code->co_posonlyargcount; i < count; i++)
		if (names[i] == name)
			return i;
	if (!PyUnicode_CheckExact(name))
		return NO_STRING;
	if (PyUnicode_CHECK_INTERNED(name))
		return NOT_FOUND;
	for (int i = code->co_posonlyargcount; i < count; i++)
		if (_PyUnicode_Equal(names[i], name) > 0)
			return i;
	return NOT_FOUND;
}

/* What was not given: borrowed defaults; false: something is missing. */
static bool find_defaults(const PyFunctionObject *function, const PyCodeObject *code,
	PyObject **bound, PyObject **fresh)
{
	PyObject *defaults = function->func_defaults;
	Py_ssize_t first =
		code->co_argcount - (defaults ? PyTuple_GET_SIZE(defaults) : 0);
	int count = code->co_argcount + code->co_kwonlyargcount;

	for (int i = 0; i < count; i++) {
		fresh[i] = NULL;
		if (bound[i])
			continue;
		if (i < code->co_argcount && i >= first)
			fresh[i] = PyTuple_GET_ITEM(defaults, i - first);
		else if (i >= code->co_argcount && function->func_kwdefaults)
			fresh[i] = PyDict_GetItemWithError(function->func_kwdefaults,
				PyTuple_GET_ITEM(code->co_localsplusnames, i));
		if (!fresh[i]) {
			PyErr_Clear();
			return false;
		}
	}
	return true;
}

/* Places the arguments that have a parameter of their own; the others with names stay in
 * `rest` by their numbers. */
static bool place(const PyCodeObject *code, const struct bind_arguments *arguments,
	PyObject **bound, int *rest, int *rest_count)
{
	int count = code->co_argcount + code->co_kwonlyargcount;
	int places = arguments->given - arguments->named;

	for (int i = 0; i < count; i++)
		bound[i] =
			i < places && i < code->co_argcount ? arguments->values[i] : NULL;
	*rest_count = 0;
	for (int i = 0; i < arguments->named; i++) {
		int at = find_parameter(code, arguments->names[i]);

		if (at == NO_STRING || (at >= 0 && bound[at]) ||
			(at < 0 && !(code->co_flags & CO_VARKEYWORDS)))
			return false;
		if (at >= 0)
			bound[at] = arguments->values[places + i];
		else
			rest[(*rest_count)++] = i;
	}
	return true;
}

/* The dictionary for **; its values are borrowed still. NULL without an exception where
 * memory is short. */
static PyObject *make_dictionary(
	const struct bind_arguments *arguments, const int *rest, int rest_count)
{
	PyObject *dictionary = PyDict_New();
	int places = arguments->given - arguments->named;

	for (int i = 0; dictionary && i < rest_count; i++)
		if (PyDict_SetItem(dictionary, arguments->names[rest[i]],
			    arguments->values[places + rest[i]]))
			Py_CLEAR(dictionary);
	if (!dictionary)
		PyErr_Clear();
	return dictionary;
}

/* The * and ** parameters. False: nothing has changed. */
static bool pack(const PyCodeObject *code, const struct bind_arguments *arguments,
	PyObject **bound, const int *rest, int rest_count)
{
	int at = code->co_argcount + code->co_kwonlyargcount;
	int places = arguments->given - arguments->named;
	int more = places - code->co_argcount;
	PyObject *tuple = NULL;
	PyObject *dictionary;

	if (code->co_flags & CO_VARARGS) {
		tuple = PyTuple_New(more > 0 ? more : 0);
		if (!tuple) {
			PyErr_Clear();
			return false;
		}
		bound[at++] = tuple;
	}
	if (code->co_flags & CO_VARKEYWORDS) {
		dictionary = make_dictionary(arguments, rest, rest_count);
		if (!dictionary) {
			Py_XDECREF(tuple);
			return false;
		}
		bound[at] = dictionary;
		for (int i = 0; i < rest_count; i++)
			Py_DECREF(arguments->values[places + rest[i]]);
	}
	for (int i = 0; i < more; i++)
		PyTuple_SET_ITEM(tuple, i, arguments->values[code->co_argcount + i]);
	return true;
}

bool runtime_bind(const PyFunctionObject *function,
	const struct bind_arguments *arguments, PyObject **bound)
{
	const PyCodeObject *code = (const PyCodeObject *)function->func_code;
	int count = code->co_argcount + code->co_kwonlyargcount;
	int places = arguments->given - arguments->named;
	PyObject *fresh[BIND_MAX];
	int rest[BIND_MAX];
	int rest_count;

	if (count > BIND_MAX || arguments->named > BIND_MAX ||
		!(code->co_flags & CO_OPTIMIZED) ||
		(places > code->co_argcount && !(code->co_flags & CO_VARARGS)) ||
		!place(code, arguments, bound, rest, &rest_count) ||
		!find_defaults(function, code, bound, fresh) ||
		(code->co_flags & (CO_VARARGS | CO_VARKEYWORDS) &&
			!pack(code, arguments, bound, rest, rest_count)))
		return false;
	for (int i = 0; i < count; i++)
		if (fresh[i])
			bound[i] = Py_NewRef(fresh[i]);
	return true;
}
