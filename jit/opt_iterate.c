/* Iterators and strings for stencils: no Python code runs in any of these. */
#include "jit/iterators.h"
#include "jit/opt.h"

extern PyTypeObject _PyUnicodeASCIIIter_Type;

/* Objects/enumobject.c, Python/bltinmodule.c. */
struct enumerate {
	PyObject ob_base;
	Py_ssize_t index;
	PyObject *iterator, *result, *long_index, *one;
};

struct zip {
	PyObject ob_base;
	Py_ssize_t size;
	PyObject *iterators, *result;
	int strict;
};

PyObject *opt_character(PyObject *string, long index)
{
	Py_ssize_t length;

	if (!string || !PyUnicode_CheckExact(string) || PyUnicode_READY(string))
		return NULL;
	length = PyUnicode_GET_LENGTH(string);
	if (index < 0)
		index += length;
	if (index < 0 || index >= length)
		return NULL;
	return PyUnicode_FromOrdinal((int)PyUnicode_READ_CHAR(string, index));
}

long opt_same_string(PyObject *a, PyObject *b)
{
	return _PyUnicode_EQ(a, b) != 0;
}

void opt_append(PyListObject *list, PyObject *item)
{
	if (PyList_Append((PyObject *)list, item))
		Py_FatalError("out of memory where compiled code needs a list");
	Py_DECREF(item);
}

/* The next element of a list's, tuple's or string's iterator: 1; 0: none is left; -1: it is
 * another iterator. `peek`: the iterator does not move. */
static int next_of(PyObject *object, PyObject **item, bool peek)
{
	struct sequence_iterator *iterator = (struct sequence_iterator *)object;
	PyObject *sequence;

	if (!Py_IS_TYPE(object, &PyListIter_Type) &&
		!Py_IS_TYPE(object, &PyTupleIter_Type) &&
		!Py_IS_TYPE(object, &PyUnicodeIter_Type) &&
		!Py_IS_TYPE(object, &_PyUnicodeASCIIIter_Type))
		return -1;
	sequence = iterator->sequence;
	if (!sequence)
		return 0;
	if (PyUnicode_Check(sequence)) {
		if (iterator->index >= PyUnicode_GET_LENGTH(sequence))
			return 0;
		if (!peek)
			*item = PyUnicode_FromOrdinal(
				(int)PyUnicode_READ_CHAR(sequence, iterator->index));
		if (!peek && !*item)
			Py_FatalError("out of memory for a character");
	} else {
		if (iterator->index >= Py_SIZE(sequence))
			return 0;
		if (!peek)
			*item = Py_NewRef(
				PySequence_Fast_GET_ITEM(sequence, iterator->index));
	}
	iterator->index += !peek;
	return 1;
}

int opt_enumerate_next(PyObject *object, PyObject **item, long *index)
{
	struct enumerate *own = (struct enumerate *)object;
	int more;

	if (!own || !Py_IS_TYPE(object, &PyEnum_Type) || own->long_index ||
		own->index == PY_SSIZE_T_MAX)
		return -1;
	more = next_of(own->iterator, item, false);
	if (more > 0)
		*index = own->index++;
	return more;
}

int opt_zip_next(PyObject *object, PyObject **first, PyObject **second)
{
	struct zip *own = (struct zip *)object;
	PyObject *a, *b;
	int more;

	if (!own || !Py_IS_TYPE(object, &PyZip_Type) || own->size != 2 || own->strict)
		return -1;
	a = PyTuple_GET_ITEM(own->iterators, 0);
	b = PyTuple_GET_ITEM(own->iterators, 1);
	if (next_of(b, NULL, true) < 0)
		return -1;
	more = next_of(a, NULL, true);
	if (more <= 0)
		return more;
	/* At its end the second has already taken one of the first. */
	if (!next_of(b, NULL, true) && a != b)
		return -1;
	if (a == b)
		return -1;
	next_of(a, first, false);
	next_of(b, second, false);
	return 1;
}

PyObject *opt_pair(PyObject *first, PyObject *second)
{
	/* A collection might run Python code. */
	int enabled = PyGC_Disable();
	PyObject *pair = PyTuple_New(2);

	if (enabled)
		PyGC_Enable();
	if (!pair)
		Py_FatalError("out of memory where compiled code is left");
	PyTuple_SET_ITEM(pair, 0, first);
	PyTuple_SET_ITEM(pair, 1, second);
	return pair;
}
