/* Numbers for native code. */
#include "jit/runtime.h"

#include "internal/pycore_floatobject.h"

PyObject *runtime_new_int(long value)
{
	PyLongObject *object;
	unsigned long size;

	if (value >= -_PY_NSMALLNEGINTS && value < _PY_NSMALLPOSINTS)
		return Py_NewRef(&_PyLong_SMALL_INTS[_PY_NSMALLNEGINTS + value]);
	size = value < 0 ? -(unsigned long)value : (unsigned long)value;
	if (size > PyLong_MASK)
		return PyLong_FromLong(value);
	object = PyObject_Malloc(sizeof(*object));
	if (!object)
		return PyErr_NoMemory();
	object->ob_base.ob_size = value < 0 ? -1 : 1;
	object->ob_digit[0] = (digit)size;
	_PyObject_Init((PyObject *)object, &PyLong_Type);
	return (PyObject *)object;
}

static bool reuse(PyObject *object, long value, unsigned long size)
{
	if (!object || object->ob_refcnt != 1 || size > PyLong_MASK ||
		(value >= -_PY_NSMALLNEGINTS && value < _PY_NSMALLPOSINTS))
		return false;
	((PyLongObject *)object)->ob_base.ob_size = value < 0 ? -1 : 1;
	((PyLongObject *)object)->ob_digit[0] = (digit)size;
	return true;
}

PyObject *runtime_int_result(long value, PyObject *a, PyObject *b)
{
	unsigned long size = value < 0 ? -(unsigned long)value : (unsigned long)value;

	if (reuse(a, value, size)) {
		if (b && --b->ob_refcnt == 0)
			PyObject_Free(b);
		return a;
	}
	if (reuse(b, value, size)) {
		if (a)
			a->ob_refcnt--;
		return b;
	}
	if (a && --a->ob_refcnt == 0)
		PyObject_Free(a);
	if (b && --b->ob_refcnt == 0)
		PyObject_Free(b);
	return runtime_new_int(value);
}

PyObject *runtime_new_float(double value)
{
	return PyFloat_FromDouble(value);
}

void runtime_free_number(PyObject *object)
{
	if (object->ob_type == &PyFloat_Type)
		_PyFloat_ExactDealloc(object);
	else
		PyObject_Free(object);
}

void runtime_free_numbers(PyObject *a, PyObject *b)
{
	if (!a->ob_refcnt)
		runtime_free_number(a);
	if (!b->ob_refcnt && a != b)
		runtime_free_number(b);
}

PyObject *runtime_binary_cold(PyObject *a, PyObject *b, uint32_t what)
{
	return runtime_binary(a, b, what);
}

PyObject *runtime_compare_cold(PyObject *a, PyObject *b, uint32_t what)
{
	return runtime_compare(a, b, what);
}

int runtime_compare_jump(PyObject *a, PyObject *b, uint32_t what)
{
	int truth = runtime_compare_truth(a, b, what & ~(uint32_t)RUNTIME_WHEN);

	return truth < 0 ? -1 : truth == !!(what & RUNTIME_WHEN);
}
