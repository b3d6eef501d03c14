/* Operations on objects of any type, for native code: the work of ceval.c's instructions
 * without their stack. */
#include <string.h>

#include "jit/cache.h"
#include "jit/errors.h"
#include "jit/runtime.h"
#include "jit/runtime_operator.h"

static void release(PyObject *object, uint32_t owned, uint32_t bit)
{
	if (owned & bit)
		Py_DECREF(object);
}

static PyObject *power(PyObject *a, PyObject *b)
{
	return PyNumber_Power(a, b, Py_None);
}

static PyObject *power_in_place(PyObject *a, PyObject *b)
{
	return PyNumber_InPlacePower(a, b, Py_None);
}

static const binaryfunc operations[] = {
	[NB_ADD] = PyNumber_Add,
	[NB_AND] = PyNumber_And,
	[NB_FLOOR_DIVIDE] = PyNumber_FloorDivide,
	[NB_LSHIFT] = PyNumber_Lshift,
	[NB_MATRIX_MULTIPLY] = PyNumber_MatrixMultiply,
	[NB_MULTIPLY] = PyNumber_Multiply,
	[NB_REMAINDER] = PyNumber_Remainder,
	[NB_OR] = PyNumber_Or,
	[NB_POWER] = power,
	[NB_RSHIFT] = PyNumber_Rshift,
	[NB_SUBTRACT] = PyNumber_Subtract,
	[NB_TRUE_DIVIDE] = PyNumber_TrueDivide,
	[NB_XOR] = PyNumber_Xor,
	[NB_INPLACE_ADD] = PyNumber_InPlaceAdd,
	[NB_INPLACE_AND] = PyNumber_InPlaceAnd,
	[NB_INPLACE_FLOOR_DIVIDE] = PyNumber_InPlaceFloorDivide,
	[NB_INPLACE_LSHIFT] = PyNumber_InPlaceLshift,
	[NB_INPLACE_MATRIX_MULTIPLY] = PyNumber_InPlaceMatrixMultiply,
	[NB_INPLACE_MULTIPLY] = PyNumber_InPlaceMultiply,
	[NB_INPLACE_REMAINDER] = PyNumber_InPlaceRemainder,
	[NB_INPLACE_OR] = PyNumber_InPlaceOr,
	[NB_INPLACE_POWER] = power_in_place,
	[NB_INPLACE_RSHIFT] = PyNumber_InPlaceRshift,
	[NB_INPLACE_SUBTRACT] = PyNumber_InPlaceSubtract,
	[NB_INPLACE_TRUE_DIVIDE] = PyNumber_InPlaceTrueDivide,
	[NB_INPLACE_XOR] = PyNumber_InPlaceXor,
};

/* The value of an int of at most two digits, 60 bits; false: it is none. */
static bool get_word(PyObject *object, long *value)
{
	Py_ssize_t size;
	const digit *digits = ((PyLongObject *)object)->ob_digit;

	if (object->ob_type != &PyLong_Type)
		return false;
	size = Py_SIZE(object);
	if ((size_t)(size + 2) > 4)
		return false;
	if (size == 2 || size == -2)
		*value = (size / 2) *
			 (long)(digits[0] | (unsigned long)digits[1] << PyLong_SHIFT);
	else
		*value = size * (long)digits[0];
	return true;
}

static PyObject *shift_left(long x, long y)
{
	long result;

	if (y < 0 || y > 60 || __builtin_mul_overflow(x, 1L << y, &result))
		return NULL;
	return runtime_new_int(result);
}

static PyObject *multiply(long x, long y)
{
	long result;

	return __builtin_mul_overflow(x, y, &result) ? NULL : runtime_new_int(result);
}

/* Operations on two ints of a word, with Python's rounding: towards minus infinity.
 * NULL without exception: not one of them. */
static PyObject *word_operation(uint32_t operation, long x, long y)
{
	switch (operation) {
	case NB_ADD:
	case NB_INPLACE_ADD: return runtime_new_int(x + y);
	case NB_SUBTRACT:
	case NB_INPLACE_SUBTRACT: return runtime_new_int(x - y);
	case NB_MULTIPLY:
	case NB_INPLACE_MULTIPLY: return multiply(x, y);
	case NB_FLOOR_DIVIDE:
	case NB_INPLACE_FLOOR_DIVIDE:
		if (!y)
			return NULL;
		return runtime_new_int(x / y - (x % y && (x < 0) != (y < 0)));
	case NB_REMAINDER:
	case NB_INPLACE_REMAINDER:
		if (!y)
			return NULL;
		return runtime_new_int(x % y + (x % y && (x < 0) != (y < 0) ? y : 0));
	case NB_AND:
	case NB_INPLACE_AND: return runtime_new_int(x & y);
	case NB_OR:
	case NB_INPLACE_OR: return runtime_new_int(x | y);
	case NB_XOR:
	case NB_INPLACE_XOR: return runtime_new_int(x ^ y);
	case NB_RSHIFT:
	case NB_INPLACE_RSHIFT:
		return y < 0 ? NULL : runtime_new_int(x >> (y > 62 ? 62 : y));
	case NB_LSHIFT:
	case NB_INPLACE_LSHIFT: return shift_left(x, y);
	default: return NULL;
	}
}

PyObject *runtime_binary(PyObject *a, PyObject *b, uint32_t what)
{
	uint32_t operation = what >> RUNTIME_OWNS_BITS;
	PyObject *result = NULL;
	long x;
	long y;

	if (get_word(a, &x) && get_word(b, &y))
		result = word_operation(operation, x, y);
	if (!result && !PyErr_Occurred() && !runtime_operator(a, b, operation, &result))
		result = operations[operation](a, b);
	release(a, what, RUNTIME_OWNS_A);
	release(b, what, RUNTIME_OWNS_B);
	return result;
}

PyObject *runtime_compare(PyObject *a, PyObject *b, uint32_t what)
{
	int operation = (int)(what >> RUNTIME_OWNS_BITS);
	PyObject *result;

	if (PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b) &&
		(operation == Py_EQ || operation == Py_NE)) {
		int equal = _PyUnicode_Equal(a, b);

		result = equal < 0 ? NULL
				   : Py_NewRef(equal == (operation == Py_EQ) ? Py_True
									     : Py_False);
	} else {
		result = PyObject_RichCompare(a, b, operation);
	}
	release(a, what, RUNTIME_OWNS_A);
	release(b, what, RUNTIME_OWNS_B);
	return result;
}

int runtime_compare_truth(PyObject *a, PyObject *b, uint32_t what)
{
	PyObject *result = runtime_compare(a, b, what);

	if (result == Py_True || result == Py_False) {
		Py_DECREF(result);
		return result == Py_True;
	}
	return result ? runtime_truth(result, 1) : -1;
}

int runtime_contains(PyObject *a, PyObject *b, uint32_t owned)
{
	int result = PySequence_Contains(b, a);

	release(a, owned, RUNTIME_OWNS_A);
	release(b, owned, RUNTIME_OWNS_B);
	return result;
}

PyObject *runtime_subscript(PyObject *a, PyObject *b, uint32_t owned)
{
	PyObject *result;

	if (PyDict_CheckExact(a)) {
		result = Py_XNewRef(PyDict_GetItemWithError(a, b));
		if (!result && !PyErr_Occurred())
			_PyErr_SetKeyError(b);
	} else {
		result = PyObject_GetItem(a, b);
	}
	release(a, owned, RUNTIME_OWNS_A);
	release(b, owned, RUNTIME_OWNS_B);
	return result;
}

int runtime_store_subscript(
	PyObject *container, PyObject *key, PyObject *value, uint32_t owned)
{
	int result = PyObject_SetItem(container, key, value);

	release(value, owned, RUNTIME_OWNS_C);
	release(container, owned, RUNTIME_OWNS_A);
	release(key, owned, RUNTIME_OWNS_B);
	return result;
}

PyObject *runtime_load_attribute(PyObject *a, PyObject *name, uint32_t owned)
{
	PyObject *result = PyObject_GetAttr(a, name);

	release(a, owned, RUNTIME_OWNS_A);
	return result;
}

int runtime_store_attribute(
	PyObject *owner, PyObject *name, PyObject *value, uint32_t owned)
{
	int result = PyObject_SetAttr(owner, name, value);

	release(value, owned, RUNTIME_OWNS_B);
	release(owner, owned, RUNTIME_OWNS_A);
	return result;
}

int runtime_load_method(PyObject *a, PyObject *name, PyObject **at, uint32_t owned)
{
	PyObject *method = NULL;
	int unbound = _PyObject_GetMethod(a, name, &method);

	if (!method) {
		release(a, owned, RUNTIME_OWNS_A);
		return -1;
	}
	if (unbound) {
		at[0] = method;
		at[1] = owned & RUNTIME_OWNS_A ? a : Py_NewRef(a);
		return 0;
	}
	at[0] = NULL;
	at[1] = method;
	release(a, owned, RUNTIME_OWNS_A);
	return 0;
}

/* From a namespace that is no dictionary. NULL without exception: not there. */
static PyObject *load_item(PyThreadState *thread, PyObject *space, PyObject *name)
{
	PyObject *value = PyObject_GetItem(space, name);

	if (!value && _PyErr_ExceptionMatches(thread, PyExc_KeyError))
		_PyErr_Clear(thread);
	return value;
}

PyObject *runtime_load_global(
	PyThreadState *thread, _PyInterpreterFrame *frame, PyObject *name)
{
	PyObject *value;

	if (PyDict_CheckExact(frame->f_globals) && PyDict_CheckExact(frame->f_builtins)) {
		value = _PyDict_LoadGlobal((PyDictObject *)frame->f_globals,
			(PyDictObject *)frame->f_builtins, name);
		Py_XINCREF(value);
	} else {
		value = load_item(thread, frame->f_globals, name);
		if (!value && !_PyErr_Occurred(thread))
			value = load_item(thread, frame->f_builtins, name);
	}
	if (!value && !_PyErr_Occurred(thread))
		errors_name(thread, name);
	return value;
}

int runtime_append_string(PyObject **local, PyObject *right, uint32_t what)
{
	PyObject *left = *local;
	PyObject *sum;

	if (PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right)) {
		PyUnicode_Append(local, right);
		release(right, what, RUNTIME_OWNS_B);
		return *local ? 0 : -1;
	}
	sum = runtime_binary(left, right, what);
	if (!sum)
		return -1;
	*local = sum;
	Py_DECREF(left);
	return 0;
}

void runtime_unbound_local(_PyInterpreterFrame *frame, uintptr_t local)
{
	errors_unbound_local(_PyThreadState_GET(), frame->f_code, (uint32_t)local);
}

void runtime_unbound_cell(_PyInterpreterFrame *frame, uintptr_t local)
{
	errors_unbound_cell(_PyThreadState_GET(), frame->f_code, (uint32_t)local);
}

PyObject *runtime_apply(binaryfunc function, PyObject *a, PyObject *b, uint32_t what)
{
	PyObject *result = function(a, b);

	/* Operands of these very classes, whose other operands may know better. */
	if (result == Py_NotImplemented) {
		Py_DECREF(result);
		return runtime_binary(a, b, what);
	}
	release(a, what, RUNTIME_OWNS_A);
	release(b, what, RUNTIME_OWNS_B);
	return result;
}

PyObject *runtime_concatenate(PyObject *a, PyObject *b, uint32_t what)
{
	/* A string that nobody else has is appended to. */
	if (what & RUNTIME_OWNS_A)
		PyUnicode_Append(&a, b);
	else
		a = PyUnicode_Concat(a, b);
	release(b, what, RUNTIME_OWNS_B);
	return a;
}

int runtime_equal(PyObject *a, PyObject *b)
{
	int kind = PyUnicode_KIND(a);

	return kind == (int)PyUnicode_KIND(b) &&
	       !memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b),
		       (size_t)(PyUnicode_GET_LENGTH(a) * kind));
}

int runtime_store_by(objobjargproc function, PyObject *container, PyObject *key,
	PyObject *value, uint32_t owned)
{
	int result = function(container, key, value);

	release(value, owned, RUNTIME_OWNS_C);
	release(container, owned, RUNTIME_OWNS_A);
	release(key, owned, RUNTIME_OWNS_B);
	return result;
}

PyObject *runtime_binary_miss(PyObject *a, PyObject *b, struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_operands(cache, a, b);
	return runtime_binary(a, b, cache->oparg << RUNTIME_OWNS_BITS | cache->owned);
}

PyObject *runtime_compare_miss(PyObject *a, PyObject *b, struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_operands(cache, a, b);
	return runtime_compare(a, b, cache->oparg << RUNTIME_OWNS_BITS | cache->owned);
}

int runtime_compare_jump_miss(PyObject *a, PyObject *b, struct cache *cache)
{
	uint32_t when = cache->oparg & RUNTIME_WHEN;
	uint32_t what = (cache->oparg ^ when) << RUNTIME_OWNS_BITS | cache->owned;

	if (cache_learns(cache))
		cache_learn_operands(cache, a, b);
	return runtime_compare_jump(a, b, what | when);
}

PyObject *runtime_subscript_miss(PyObject *a, PyObject *b, struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_operands(cache, a, b);
	return runtime_subscript(a, b, cache->owned);
}

int runtime_store_subscript_miss(
	PyObject *a, PyObject *b, PyObject *value, struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_operands(cache, a, b);
	return runtime_store_subscript(a, b, value, cache->owned);
}

PyObject *runtime_attribute_miss(PyObject *a, struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_attribute(cache, a);
	return runtime_load_attribute(a, cache->name, cache->owned);
}

int runtime_method_miss(PyObject *a, struct cache *cache, PyObject **at)
{
	if (cache_learns(cache))
		cache_learn_method(cache, a);
	return runtime_load_method(a, cache->name, at, cache->owned);
}

int runtime_store_miss(PyObject *a, PyObject *value, struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_store(cache, a);
	return runtime_store_attribute(a, cache->name, value, cache->owned);
}

PyObject *runtime_global_miss(
	PyThreadState *thread, _PyInterpreterFrame *frame, struct cache *cache)
{
	if (cache_learns(cache))
		cache_learn_global(cache, frame);
	return runtime_load_global(thread, frame, cache->name);
}

void runtime_drop_two(PyObject *a, PyObject *b)
{
	Py_XDECREF(a);
	Py_DECREF(b);
}

void runtime_drop_operands(PyObject *a, PyObject *b, uint32_t owned)
{
	release(b, owned, RUNTIME_OWNS_B);
	release(a, owned, RUNTIME_OWNS_A);
}

void runtime_drop_stored(PyObject *old, PyObject *a, PyObject *b, uint32_t owned)
{
	Py_DECREF(old);
	release(b, owned, RUNTIME_OWNS_B);
	release(a, owned, RUNTIME_OWNS_A);
}

int runtime_unpack_value(
	PyThreadState *thread, PyObject *a, PyObject **at, uint32_t count, uint32_t owned)
{
	int result = 0;

	if (PyList_CheckExact(a) && PyList_GET_SIZE(a) == (Py_ssize_t)count) {
		for (uint32_t i = 0; i < count; i++)
			at[count - 1 - i] = Py_NewRef(PyList_GET_ITEM(a, i));
	} else {
		result = runtime_unpack_iterable(thread, a, (int)count, -1, at + count);
	}
	if (owned)
		Py_DECREF(a);
	return result;
}
