/* What the stencils of the optimising tier share. Slots are at offsets from rbp, which
 * stencils read only. Every check leaves by DEOPT before anything has changed. */
#ifndef JIT_STENCILS_OPT_H
#define JIT_STENCILS_OPT_H

#include "jit/stencils.h"

register char *base __asm__("rbp");

#define INT(hole)   (*(long *)(base + (intptr_t) & (hole)))
#define FLOAT(hole) (*(double *)(base + (intptr_t) & (hole)))

/* Whether an object goes without anybody noticing, where one reference to it goes. */
static inline __attribute__((always_inline)) bool is_free(PyObject *old)
{
	return !old || old->ob_refcnt > 1 || old->ob_type == &PyFloat_Type ||
	       old->ob_type == &PyLong_Type || old->ob_type == &PyUnicode_Type;
}

/* Ints of at most two digits of 30 bits. */
static inline __attribute__((always_inline)) bool is_small_int(PyObject *item)
{
	return item->ob_type == &PyLong_Type && (size_t)(Py_SIZE(item) + 2) <= 4;
}

static inline __attribute__((always_inline)) long small_int(PyObject *item)
{
	const PyLongObject *number = (const PyLongObject *)item;
	long size = Py_SIZE(item);
	long value;

	if (LIKELY((size_t)(size + 1) <= 2))
		return size * (long)number->ob_digit[0];
	value = (long)number->ob_digit[0] | (long)number->ob_digit[1] << PyLong_SHIFT;
	return size < 0 ? -value : value;
}

#endif
