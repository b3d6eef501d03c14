/* Stencils on lists, tuples, strings and dictionaries: subscripts, unpacking. Mask A is
 * which operands are owned; EXIT is where the types are others. */
#include "jit/stencils.h"

#define GUARD(condition) GUARD_OR(condition, exit2(a, b))

#define IS_INDEX(object) \
	(Py_TYPE(object) == &PyLong_Type && (size_t)(Py_SIZE(object) + 1) <= 2)

/* Of an int of at most one digit, in something of `size` items. */
static inline __attribute__((always_inline)) Py_ssize_t index_of(
	PyObject *object, Py_ssize_t size)
{
	Py_ssize_t index =
		Py_SIZE(object) * (Py_ssize_t)((PyLongObject *)object)->ob_digit[0];

	return index < 0 ? index + size : index;
}

#define GUARD_INDEX(size)                     \
	Py_ssize_t index = index_of(b, size); \
	GUARD((size_t)index < (size_t)(size))

/* An item that was borrowed goes on top. */
#define FINISH(item)                                                        \
	do {                                                                \
		top = Py_NewRef(item);                                      \
		if (OWNS(RUNTIME_OWNS_A)) {                                 \
			SET_INSTRUCTION();                                  \
			runtime_drop_operands(a, b, HOLE_ARGUMENT(HOLE_A)); \
		} else if (OWNS(RUNTIME_OWNS_B)) {                          \
			if (--b->ob_refcnt == 0)                            \
				runtime_free_number(b);                     \
		}                                                           \
		CONT();                                                     \
	} while (0)

void op_SUBSCRIPT_LIST(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == &PyList_Type && IS_INDEX(b));
	GUARD_INDEX(PyList_GET_SIZE(a));
	FINISH(PyList_GET_ITEM(a, index));
}

void op_SUBSCRIPT_TUPLE(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == &PyTuple_Type && IS_INDEX(b));
	GUARD_INDEX(PyTuple_GET_SIZE(a));
	FINISH(PyTuple_GET_ITEM(a, index));
}

/* Of ASCII only: the strings of one character are there already. */
void op_SUBSCRIPT_STRING(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == &PyUnicode_Type && IS_INDEX(b));
	GUARD(PyUnicode_IS_COMPACT_ASCII(a));
	GUARD_INDEX(((PyASCIIObject *)a)->length);
	unsigned char letter = ((unsigned char *)((PyASCIIObject *)a + 1))[index];
	FINISH((PyObject *)&_PyRuntime.global_objects.singletons.strings.ascii[letter]);
}

void op_SUBSCRIPT_BYTES(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == &PyBytes_Type && IS_INDEX(b));
	GUARD_INDEX(PyBytes_GET_SIZE(a));
	unsigned char byte = (unsigned char)PyBytes_AS_STRING(a)[index];
	FINISH((PyObject *)&_PyLong_SMALL_INTS[_PY_NSMALLNEGINTS + byte]);
}

void op_SUBSCRIPT_DICT(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == &PyDict_Type);
	SET_INSTRUCTION();
	top = runtime_subscript(a, b, HOLE_ARGUMENT(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

/* The builtin class D, by the function C. */
void op_SUBSCRIPT_FUNCTION(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == (PyTypeObject *)HOLE64(HOLE_D));
	SET_INSTRUCTION();
	top = runtime_apply((binaryfunc)HOLE64(HOLE_C), a, b, HOLE_ARGUMENT(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

void op_SUBSCRIPT_MISS(PyObject *a, PyObject *b)
{
	SET_INSTRUCTION();
	top = runtime_subscript_miss(a, b, (struct cache *)HOLE64(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

#undef GUARD
#define GUARD(condition) GUARD_OR(condition, exit3(a, b, value))

void op_STORE_SUBSCRIPT_LIST(PyObject *a, PyObject *b, PyObject *value)
{
	GUARD(Py_TYPE(a) == &PyList_Type && IS_INDEX(b));
	GUARD_INDEX(PyList_GET_SIZE(a));
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
}

/* The builtin class D, by the function C. */
void op_STORE_SUBSCRIPT_FUNCTION(PyObject *a, PyObject *b, PyObject *value)
{
	GUARD(Py_TYPE(a) == (PyTypeObject *)HOLE64(HOLE_D));
	SET_INSTRUCTION();
	CONT_UNLESS_ERROR(runtime_store_by((objobjargproc)HOLE64(HOLE_C), a, b, value,
				  HOLE_ARGUMENT(HOLE_A)) >= 0);
}

void op_STORE_SUBSCRIPT_MISS(PyObject *a, PyObject *b, PyObject *value)
{
	SET_INSTRUCTION();
	CONT_UNLESS_ERROR(runtime_store_subscript_miss(
				  a, b, value, (struct cache *)HOLE64(HOLE_A)) >= 0);
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
	CONT_UNLESS_ERROR(runtime_unpack_value(thread, a, SLOT_AT(HOLE_A),
				  HOLE_ARGUMENT(HOLE_C), HOLE_ARGUMENT(HOLE_B)) >= 0);
}

/* Appends an owned value to the list in slot A. */
void op_LIST_APPEND(PyObject *value)
{
	PyListObject *list = (PyListObject *)SLOT(HOLE_A);
	Py_ssize_t size = Py_SIZE(list);

	if (LIKELY(size < list->allocated)) {
		PyList_SET_ITEM(list, size, value);
		Py_SET_SIZE(list, size + 1);
		CONT();
		return;
	}
	CONT_UNLESS_ERROR(runtime_append_item(list, value) >= 0);
}

/* A free variable's cell, at offset B of the function's closure, into its local. */
void op_COPY_FREE(void)
{
	PyObject *closure = frame->f_func->func_closure;

	SLOT(HOLE_A) = Py_NewRef(*(PyObject **)((char *)closure + HOLE_INT(HOLE_B)));
	CONT();
}
