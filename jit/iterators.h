/* Objects whose insides CPython keeps to itself: iterators and properties. */
#ifndef JIT_ITERATORS_H
#define JIT_ITERATORS_H

#include "jit/python.h"

/* Of a range of machine words (Objects/rangeobject.c). */
struct range_iterator {
	PyObject ob_base;
	long index;
	long start;
	long step;
	long length;
};

/* Of a list (Objects/listobject.c). */
struct list_iterator {
	PyObject ob_base;
	Py_ssize_t index;
	PyListObject *list; /* NULL: at its end */
};

/* Of a tuple (Objects/tupleobject.c). */
struct tuple_iterator {
	PyObject ob_base;
	Py_ssize_t index;
	PyTupleObject *tuple; /* NULL: at its end */
};

/* Any of these two, or of a string (Objects/unicodeobject.c). */
struct sequence_iterator {
	PyObject ob_base;
	Py_ssize_t index;
	PyObject *sequence; /* NULL: at its end */
};

/* The head of a property (Objects/descrobject.c). */
struct property {
	PyObject ob_base;
	PyObject *reader;
};

#endif
