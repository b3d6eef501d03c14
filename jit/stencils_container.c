/* Stencils on lists, tuples and ranges: subscripts, loops, unpacking. Other types are left
 * to C functions. Mask A is which operands are owned. */
#include "jit/stencils.h"

#define OWNS(bit) (HOLE32(HOLE_A) & (bit))

static inline __attribute__((always_inline)) bool is_index(PyObject *object)
{
	return object->ob_type == &PyLong_Type && (size_t)Py_SIZE(object) <= 1;
}

static inline __attribute__((always_inline)) size_t index_value(PyObject *object)
{
	return ((PyLongObject *)object)->ob_digit[0];
}

/* a[b]; owned operands are dropped by a C function, they are rare here. */
void op_SUBSCRIPT_ANY(PyObject *a, PyObject *b)
{
	PyObject *value;

	if (is_index(b)) {
		size_t index = index_value(b);

		if (a->ob_type == &PyList_Type) {
			if (LIKELY(index < (size_t)PyList_GET_SIZE(a))) {
				value = PyList_GET_ITEM(a, index);
				goto found;
			}
		} else if (a->ob_type == &PyTuple_Type) {
			if (LIKELY(index < (size_t)PyTuple_GET_SIZE(a))) {
				value = PyTuple_GET_ITEM(a, index);
				goto found;
			}
		}
	}
	SET_INSTRUCTION();
	top = runtime_subscript(a, b, HOLE_ARGUMENT(HOLE_A));
	if (UNLIKELY(!top)) {
		ERROR();
		return;
	}
	CONT();
	return;
found:
	value->ob_refcnt++;
	top = value;
	if (OWNS(RUNTIME_OWNS_A | RUNTIME_OWNS_B)) {
		SET_INSTRUCTION();
		runtime_drop_operands(a, b, HOLE_ARGUMENT(HOLE_A));
	}
	CONT();
}

void op_STORE_SUBSCRIPT_ANY(PyObject *a, PyObject *b, PyObject *value)
{
	if (LIKELY(a->ob_type == &PyList_Type && is_index(b))) {
		size_t index = index_value(b);

		if (LIKELY(index < (size_t)PyList_GET_SIZE(a))) {
			PyObject *old = PyList_GET_ITEM(a, index);

			if (!OWNS(RUNTIME_OWNS_C))
				value->ob_refcnt++;
			PyList_SET_ITEM(a, index, value);
			if (OWNS(RUNTIME_OWNS_A | RUNTIME_OWNS_B)) {
				SET_INSTRUCTION();
				runtime_drop_stored(old, a, b, HOLE_ARGUMENT(HOLE_A));
			} else {
				RELEASE(old);
			}
			CONT();
			return;
		}
	}
	SET_INSTRUCTION();
	if (UNLIKELY(runtime_store_subscript(a, b, value, HOLE_ARGUMENT(HOLE_A)) < 0)) {
		ERROR();
		return;
	}
	CONT();
}

/* Unpacks into C slots from A on, the first value highest; B is whether `a` is owned. */
void op_UNPACK(PyObject *a)
{
	if (LIKELY(a->ob_type == &PyTuple_Type &&
		    PyTuple_GET_SIZE(a) == (Py_ssize_t)HOLE32(HOLE_C))) {
		PyObject **at = SLOT_AT(HOLE_A) + (HOLE_INT(HOLE_C) - 1);
		PyObject **from = ((PyTupleObject *)a)->ob_item;

		for (; at >= SLOT_AT(HOLE_A); at--) {
			PyObject *value = *from++;

			value->ob_refcnt++;
			*at = value;
		}
		if (HOLE_ARGUMENT(HOLE_B))
			RELEASE(a);
		CONT();
		return;
	}
	SET_INSTRUCTION();
	if (UNLIKELY(runtime_unpack_value(thread, a, SLOT_AT(HOLE_A),
			     HOLE_ARGUMENT(HOLE_C), HOLE_ARGUMENT(HOLE_B)) < 0)) {
		ERROR();
		return;
	}
	CONT();
}
