/* Instructions that build and fill containers, strings and functions. */
#include "jit/errors.h"
#include "jit/runtime_stack.h"

RUNTIME_OP(runtime_build_tuple)
{
	PyObject **items = sp - oparg;
	PyObject *tuple = PyTuple_New(oparg);

	if (!tuple)
		return -1;
	for (uint32_t i = 0; i < oparg; i++)
		PyTuple_SET_ITEM(tuple, i, items[i]);
	items[0] = tuple;
	return 0;
}

RUNTIME_OP(runtime_build_list)
{
	PyObject **items = sp - oparg;
	PyObject *list = PyList_New(oparg);

	if (!list)
		return -1;
	for (uint32_t i = 0; i < oparg; i++)
		PyList_SET_ITEM(list, i, items[i]);
	items[0] = list;
	return 0;
}

/* Drops the topmost `count` entries, from the top down, and leaves `result` in the place
 * of the lowest one. */
static void drop_for(PyObject **sp, uint32_t count, PyObject *result)
{
	for (uint32_t i = 1; i <= count; i++)
		Py_DECREF(runtime_take(sp, (int)i));
	*(sp - count) = result;
}

RUNTIME_OP(runtime_build_set)
{
	PyObject *set = PySet_New(NULL);
	int failed = 0;

	if (!set)
		return -1;
	for (int i = (int)oparg; i > 0; i--) {
		PyObject *item = runtime_take(sp, i);

		if (!failed)
			failed = PySet_Add(set, item);
		Py_DECREF(item);
	}
	if (failed) {
		Py_DECREF(set);
		return -1;
	}
	*(sp - oparg) = set;
	return 0;
}

RUNTIME_OP(runtime_build_map)
{
	PyObject **items = sp - 2 * oparg;
	PyObject *map = _PyDict_FromItems(items, 2, items + 1, 2, oparg);

	if (!map)
		return -1;
	drop_for(sp, 2 * oparg, map);
	return 0;
}

RUNTIME_OP(runtime_build_const_map)
{
	PyObject *keys = sp[-1];
	PyObject *map;

	if (!PyTuple_CheckExact(keys) || PyTuple_GET_SIZE(keys) != (Py_ssize_t)oparg) {
		_PyErr_SetString(thread, PyExc_SystemError,
			"bad BUILD_CONST_KEY_MAP keys argument");
		return -1;
	}
	map = _PyDict_FromItems(
		&PyTuple_GET_ITEM(keys, 0), 1, sp - (oparg + 1), 1, oparg);
	if (!map)
		return -1;
	drop_for(sp, oparg + 1, map);
	return 0;
}

RUNTIME_OP(runtime_build_string)
{
	PyObject *string = _PyUnicode_JoinArray(&_Py_STR(empty), sp - oparg, oparg);

	if (!string)
		return -1;
	drop_for(sp, oparg, string);
	return 0;
}

RUNTIME_OP(runtime_build_slice)
{
	PyObject *step = oparg == 3 ? runtime_take(sp, 1) : NULL;
	PyObject *stop;

	if (oparg == 3)
		sp--;
	stop = runtime_take(sp, 1);
	PyObject *slice = PySlice_New(sp[-2], stop, step);
	PyObject *start = sp[-2];

	sp[-2] = slice;
	Py_DECREF(start);
	Py_DECREF(stop);
	Py_XDECREF(step);
	return slice ? 0 : -1;
}

static PyObject *convert(PyThreadState *thread, PyObject *value, uint32_t conversion)
{
	switch (conversion) {
	case FVC_NONE: return Py_NewRef(value);
	case FVC_STR: return PyObject_Str(value);
	case FVC_REPR: return PyObject_Repr(value);
	case FVC_ASCII: return PyObject_ASCII(value);
	default:
		_PyErr_Format(thread, PyExc_SystemError, "unexpected conversion flag %d",
			(int)conversion);
		return NULL;
	}
}

RUNTIME_OP(runtime_format)
{
	bool with_format = (oparg & FVS_MASK) == FVS_HAVE_SPEC;
	PyObject *format = with_format ? runtime_take(sp, 1) : NULL;
	PyObject *value;
	PyObject *text;

	if (with_format)
		sp--;
	value = runtime_take(sp, 1);
	text = convert(thread, value, oparg & FVC_MASK);
	Py_DECREF(value);
	if (text && (!PyUnicode_CheckExact(text) || format)) {
		PyObject *converted = text;

		text = PyObject_Format(converted, format);
		Py_DECREF(converted);
	}
	Py_XDECREF(format);
	sp[-1] = text;
	return text ? 0 : -1;
}

RUNTIME_OP(runtime_list_to_tuple)
{
	PyObject *list = runtime_take(sp, 1);
	PyObject *tuple = PyList_AsTuple(list);

	Py_DECREF(list);
	sp[-1] = tuple;
	return tuple ? 0 : -1;
}

RUNTIME_OP(runtime_list_append)
{
	PyObject *value = runtime_take(sp, 1);

	return _PyList_AppendTakeRef((PyListObject *)sp[-1 - (int)oparg], value);
}

RUNTIME_OP(runtime_set_add)
{
	PyObject *value = runtime_take(sp, 1);
	int result = PySet_Add(sp[-1 - (int)oparg], value);

	Py_DECREF(value);
	return result ? -1 : 0;
}

RUNTIME_OP(runtime_map_add)
{
	PyObject *value = runtime_take(sp, 1);
	PyObject *key = runtime_take(sp, 2);

	return _PyDict_SetItem_Take2((PyDictObject *)sp[-2 - (int)oparg], key, value) ? -1
										      : 0;
}

RUNTIME_OP(runtime_list_extend)
{
	PyObject *iterable = runtime_take(sp, 1);
	PyObject *none = _PyList_Extend((PyListObject *)sp[-1 - (int)oparg], iterable);

	if (!none && _PyErr_ExceptionMatches(thread, PyExc_TypeError) &&
		!Py_TYPE(iterable)->tp_iter && !PySequence_Check(iterable)) {
		_PyErr_Clear(thread);
		_PyErr_Format(thread, PyExc_TypeError,
			"Value after * must be an iterable, not %.200s",
			Py_TYPE(iterable)->tp_name);
	}
	Py_XDECREF(none);
	Py_DECREF(iterable);
	return none ? 0 : -1;
}

RUNTIME_OP(runtime_set_update)
{
	PyObject *iterable = runtime_take(sp, 1);
	int result = _PySet_Update(sp[-1 - (int)oparg], iterable);

	Py_DECREF(iterable);
	return result < 0 ? -1 : 0;
}

RUNTIME_OP(runtime_dict_update)
{
	PyObject *update = runtime_take(sp, 1);
	int result = PyDict_Update(sp[-1 - (int)oparg], update);

	if (result < 0 && _PyErr_ExceptionMatches(thread, PyExc_AttributeError))
		_PyErr_Format(thread, PyExc_TypeError, "'%.200s' object is not a mapping",
			Py_TYPE(update)->tp_name);
	Py_DECREF(update);
	return result < 0 ? -1 : 0;
}

RUNTIME_OP(runtime_dict_merge)
{
	PyObject *update = runtime_take(sp, 1);
	int result = _PyDict_MergeEx(sp[-1 - (int)oparg], update, 2);

	if (result < 0)
		errors_keywords(thread, sp[-3 - (int)oparg], update);
	Py_DECREF(update);
	return result < 0 ? -1 : 0;
}

RUNTIME_OP(runtime_make_function)
{
	PyObject *code = runtime_take(sp, 1);
	PyFunctionObject *function =
		(PyFunctionObject *)PyFunction_New(code, frame->f_globals);

	Py_DECREF(code);
	if (!function)
		return -1;
	sp--;
	if (oparg & 8)
		function->func_closure = runtime_take(sp--, 1);
	if (oparg & 4)
		function->func_annotations = runtime_take(sp--, 1);
	if (oparg & 2)
		function->func_kwdefaults = runtime_take(sp--, 1);
	if (oparg & 1)
		function->func_defaults = runtime_take(sp--, 1);
	*sp = (PyObject *)function;
	return 0;
}

RUNTIME_OP(runtime_unpack)
{
	PyObject *sequence = runtime_take(sp, 1);
	int result = 0;
	PyObject **items = NULL;

	if (PyTuple_CheckExact(sequence) &&
		PyTuple_GET_SIZE(sequence) == (Py_ssize_t)oparg)
		items = _PyTuple_ITEMS(sequence);
	else if (PyList_CheckExact(sequence) &&
		 PyList_GET_SIZE(sequence) == (Py_ssize_t)oparg)
		items = _PyList_ITEMS(sequence);
	if (items) {
		for (uint32_t i = 0; i < oparg; i++)
			sp[(int)oparg - 2 - (int)i] = Py_NewRef(items[i]);
	} else {
		result = runtime_unpack_iterable(
			thread, sequence, (int)oparg, -1, sp - 1 + oparg);
	}
	Py_DECREF(sequence);
	return result;
}

RUNTIME_OP(runtime_unpack_ex)
{
	int before = (int)(oparg & 0xff);
	int after = (int)(oparg >> 8);
	PyObject *sequence = runtime_take(sp, 1);
	int result = runtime_unpack_iterable(
		thread, sequence, before, after, sp + before + after);

	Py_DECREF(sequence);
	return result;
}

static void too_few(PyThreadState *thread, int before, int after, Py_ssize_t got)
{
	if (after < 0)
		_PyErr_Format(thread, PyExc_ValueError,
			"not enough values to unpack (expected %d, got %zd)", before,
			got);
	else
		_PyErr_Format(thread, PyExc_ValueError,
			"not enough values to unpack (expected at least %d, got %zd)",
			before + after, got);
}

/* The values that come after the starred one leave the list's end. */
static int split_list(
	PyThreadState *thread, PyObject *list, int before, int after, PyObject **top)
{
	Py_ssize_t size = PyList_GET_SIZE(list);

	if (size < after) {
		too_few(thread, before, after, before + size);
		return -1;
	}
	for (int i = after; i > 0; i--)
		*--top = PyList_GET_ITEM(list, size - i);
	Py_SET_SIZE(list, size - after);
	return 0;
}

static int unpack_rest(
	PyThreadState *thread, PyObject *iterator, int before, int after, PyObject **top)
{
	PyObject *rest;

	if (after < 0) {
		rest = PyIter_Next(iterator);
		if (!rest)
			return _PyErr_Occurred(thread) ? -1 : 0;
		Py_DECREF(rest);
		_PyErr_Format(thread, PyExc_ValueError,
			"too many values to unpack (expected %d)", before);
		return -1;
	}
	rest = PySequence_List(iterator);
	if (!rest)
		return -1;
	if (split_list(thread, rest, before, after, top - 1)) {
		Py_DECREF(rest);
		return -1;
	}
	top[-1] = rest;
	return 0;
}

int runtime_unpack_iterable(
	PyThreadState *thread, PyObject *iterable, int before, int after, PyObject **top)
{
	PyObject *iterator = PyObject_GetIter(iterable);
	int count = 0;
	int result = 0;

	if (!iterator) {
		if (_PyErr_ExceptionMatches(thread, PyExc_TypeError) &&
			!Py_TYPE(iterable)->tp_iter && !PySequence_Check(iterable))
			_PyErr_Format(thread, PyExc_TypeError,
				"cannot unpack non-iterable %.200s object",
				Py_TYPE(iterable)->tp_name);
		return -1;
	}
	for (; count < before && !result; count++) {
		PyObject *value = PyIter_Next(iterator);

		if (!value) {
			if (!_PyErr_Occurred(thread))
				too_few(thread, before, after, count);
			result = -1;
			break;
		}
		*--top = value;
	}
	if (!result)
		result = unpack_rest(thread, iterator, before, after, top);
	if (result) {
		for (; count > 0; count--) {
			PyObject *value = *top;

			*top++ = NULL;
			Py_DECREF(value);
		}
	}
	Py_DECREF(iterator);
	return result;
}
