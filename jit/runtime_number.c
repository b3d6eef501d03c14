/* Numbers for native code. */
#include "jit/runtime.h"

#include "internal/pycore_floatobject.h"

/* Ints of one digit that nobody has any more, as floats have their list in CPython. The
 * type is what links them. */
enum { FREE_INTS = 100 };

static PyObject *free_ints;
static int free_int_count;
static destructor int_dealloc;

static void keep_int(PyObject *object)
{
	if (free_int_count == FREE_INTS || (size_t)(Py_SIZE(object) + 1) > 2) {
		PyObject_Free(object);
		return;
	}
	free_int_count++;
	object->ob_type = (PyTypeObject *)free_ints;
	free_ints = object;
}

static void on_int_dealloc(PyObject *object)
{
	if (PyLong_CheckExact(object))
		keep_int(object);
	else
		int_dealloc(object);
}

void runtime_number_start(void)
{
	int_dealloc = PyLong_Type.tp_dealloc;
	PyLong_Type.tp_dealloc = on_int_dealloc;
}

static PyObject *allocate_int(void)
{
	PyObject *object = free_ints;

	if (!object) {
		object = PyObject_Malloc(sizeof(PyLongObject));
		return object ? object : PyErr_NoMemory();
	}
	free_int_count--;
	free_ints = (PyObject *)object->ob_type;
	return object;
}

PyObject *runtime_new_int(long value)
{
	PyLongObject *object;
	unsigned long size;

	if (value >= -_PY_NSMALLNEGINTS && value < _PY_NSMALLPOSINTS)
		return Py_NewRef(&_PyLong_SMALL_INTS[_PY_NSMALLNEGINTS + value]);
	size = value < 0 ? -(unsigned long)value : (unsigned long)value;
	if (size > PyLong_MASK)
		return PyLong_FromLong(value);
	object = (PyLongObject *)allocate_int();
	if (!object)
		return NULL;
	object->ob_base.ob_size = value < 0 ? -1 : 1;
	object->ob_digit[0] = (digit)size;
	object->ob_base.ob_base.ob_type = &PyLong_Type;
	object->ob_base.ob_base.ob_refcnt = 1;
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
			keep_int(b);
		return a;
	}
	if (reuse(b, value, size)) {
		if (a)
			a->ob_refcnt--;
		return b;
	}
	if (a && --a->ob_refcnt == 0)
		keep_int(a);
	if (b && --b->ob_refcnt == 0)
		keep_int(b);
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
		keep_int(object);
}

void runtime_free_numbers(PyObject *a, PyObject *b)
{
	if (!a->ob_refcnt)
		runtime_free_number(a);
	if (!b->ob_refcnt && a != b)
		runtime_free_number(b);
}

int runtime_compare_jump(PyObject *a, PyObject *b, uint32_t what)
{
	int truth = runtime_compare_truth(a, b, what & ~(uint32_t)RUNTIME_WHEN);

	return truth < 0 ? -1 : truth == !!(what & RUNTIME_WHEN);
}
