/* What the stencils of the optimising tier share. Slots are at offsets from rbp, which
 * stencils read only. Every check leaves by DEOPT before anything has changed. */
#ifndef JIT_STENCILS_OPT_H
#define JIT_STENCILS_OPT_H

#include "jit/opt.h"
#include "jit/stencils.h"

register char *base __asm__("rbp");

#define INT(hole)   (*(long *)(base + (intptr_t) & (hole)))
#define FLOAT(hole) (*(double *)(base + (intptr_t) & (hole)))

#define GUARD(condition) GUARD_OR(condition, DEOPT())

/* The end of a stencil with a new object for the frame, or NULL. */
#define SLOT_OR_DEOPT(hole, object)        \
	do {                               \
		PyObject *new_ = (object); \
		GUARD(new_);               \
		SLOT(hole) = new_;         \
		CONT();                    \
	} while (0)

/* Objects are FLOAT, INT or BOOL where they become numbers in slots, and FRAME where they
 * stay objects, of any type, in the frame. Whether an item is of a kind, and how a borrowed
 * one goes to its place: */
#define IS_FLOAT(item)	       ((item)->ob_type == &PyFloat_Type)
#define IS_INT(item)	       is_small_int(item)
#define IS_BOOL(item)	       ((item) == Py_True || (item) == Py_False)
#define IS_FRAME(item)	       true
#define TAKE_FLOAT(hole, item) (FLOAT(hole) = ((PyFloatObject *)(item))->ob_fval)
#define TAKE_INT(hole, item)   (INT(hole) = small_int(item))
#define TAKE_BOOL(hole, item)  (INT(hole) = (item) == Py_True)
#define TAKE_FRAME(hole, item) (SLOT(hole) = Py_NewRef(item))

/* The number in a slot as a new object. */
#define BOX_FLOAT(hole) opt_box_float(FLOAT(hole))
#define BOX_INT(hole)	opt_box_int(INT(hole))
#define BOX_BOOL(hole)	Py_NewRef(INT(hole) ? Py_True : Py_False)

/* One reference to what nobody would notice the end of goes. */
static inline __attribute__((always_inline)) void drop(PyObject *object)
{
	if (--object->ob_refcnt == 0)
		opt_drop(object);
}

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
