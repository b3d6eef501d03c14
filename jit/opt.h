/* The optimising tier: loops over numbers, with ints and floats unboxed.
 *
 * A loop that is hot in the baseline is compiled again on its own, for the types that its
 * locals have just then. This fragment is jumped to at the head of the loop and keeps ints
 * and floats in slots of 8 bytes under rbp. It runs no Python code: whatever it cannot do
 * (another type, an overflow, an exception, a signal) it leaves to the baseline or to the
 * interpreter *before* that instruction, with frame and stack rebuilt from a record of the
 * exit. So it raises nothing itself, and nobody can look at the frame while it runs. */
#ifndef JIT_OPT_H
#define JIT_OPT_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/compiled.h"
#include "jit/python.h"

struct ir;
struct opt_fragment;

enum { OPT_AVOID = 8 };

/* One for each head of a loop; the baseline's code holds its address. */
struct opt_loop {
	void *native;  /* where to go at the head, or NULL; first, for the stencil */
	int32_t turns; /* left until it counts as hot */
	uint32_t head; /* code unit */
	void *go_on;   /* the baseline's loop, behind the count */
	struct compiled *compiled;
	struct opt_fragment *fragment; /* owned */
	uint32_t misses;	       /* entries refused in a row */
	bool warms;    /* its turns are those that the interpreter quickens code after */
	uint8_t tries; /* compilations so far */
	uint8_t avoid_count;
	uint32_t avoid[OPT_AVOID]; /* code units whose assumption failed too often */
};

/* Called by the baseline when a loop is hot. Returns where to go on. */
void *opt_hot(PyThreadState *thread, _PyInterpreterFrame *frame, struct opt_loop *loop);

/* Called by a fragment: moves the frame's numbers into the slots under `base`. 0: their
 * types are not those it was compiled for, and nothing has changed. */
int opt_enter(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct opt_fragment *fragment, char *base);

/* Called by a fragment: rebuilds the frame as the exit's record says. Returns the address to
 * go on at, or NULL: the activation is over, and its value is in the first slot. */
void *opt_exit(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct opt_fragment *fragment, uint32_t number, char *base);

/* Frees a compiled code object's loops and their fragments. */
void opt_free(struct compiled *compiled);

/* What stencils call. A new object, or NULL without an exception. */
PyObject *opt_range_iterator(long start, long stop, long step);
PyObject *opt_list_iterator(PyObject *list);
PyObject *opt_new_int(long value);
PyObject *opt_new_float(double value);
/* The same; a frame that cannot be rebuilt ends the program. */
PyObject *opt_box_int(long value);
PyObject *opt_box_float(double value);
/* An object whose count is 0 goes; a larger count becomes one less. */
void opt_drop(PyObject *object);
/* Character `index` of what should be a string: a new reference; NULL: it is none or has
 * none such. Whether two strings are equal. */
PyObject *opt_character(PyObject *string, long index);
long opt_same_string(PyObject *a, PyObject *b);
/* Takes the reference to the item. */
void opt_append(PyListObject *list, PyObject *item);
/* The next of enumerate() or zip() of two over lists, tuples and strings: 1 and new
 * references; 0: no more; -1: it is something else, or about to end in its own way. Nothing
 * has changed but with 1. */
int opt_enumerate_next(PyObject *object, PyObject **item, long *index);
int opt_zip_next(PyObject *object, PyObject **first, PyObject **second);
/* A slice of what should be a list; NULL: it is none. Another list in a slice's place, of
 * the same length: 1, and `values` has been taken; 0: it is another case. */
PyObject *opt_slice(PyObject *object, long start, long stop, long step);
int opt_put_slice(PyObject *object, long start, long stop, PyObject *values);
/* A tuple of two; takes both references. */
PyObject *opt_pair(PyObject *first, PyObject *second);
/* What the three do once registers are put away (opt_keep.c). */
void opt_work_drop(PyObject *object);
PyObject *opt_work_new_int(long value);
PyObject *opt_work_new_float(double value);
double opt_power(double a, double b);

#endif
