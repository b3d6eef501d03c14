/* Sorting a call's arguments into the order of a Python function's parameters. */
#ifndef JIT_RUNTIME_BIND_H
#define JIT_RUNTIME_BIND_H

#include "jit/python.h"

enum { BIND_MAX = 24 }; /* parameters of a function that this is done for */

struct bind_arguments {
	PyObject **values; /* first the ones by place, then those with names */
	int given;	   /* all of them */
	PyObject *const *names;
	int named;
};

/* The locals that parameters are: * and ** parameters count as one each. */
int bind_count(const PyCodeObject *code);

/* Sorts the arguments into `bound`, which has room for BIND_MAX + 2, with defaults, the
 * tuple and the dictionary of the rest; takes their references. False: not a plain case, or
 * a mistake; nothing has changed then, and no exception is set. */
bool runtime_bind(const PyFunctionObject *function,
	const struct bind_arguments *arguments, PyObject **bound);

#endif
