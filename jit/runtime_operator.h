/* Binary operators that are methods written in Python. */
#ifndef JIT_RUNTIME_OPERATOR_H
#define JIT_RUNTIME_OPERATOR_H

#include "jit/python.h"

/* Does the operation (NB_ADD, …) on borrowed operands where the left one's class defines
 * it in Python and the right one is plain; false: it does not, nothing has happened. */
bool runtime_operator(PyObject *a, PyObject *b, uint32_t operation, PyObject **result);

/* The method that does it, borrowed, or NULL. */
PyObject *runtime_operator_method(PyObject *a, PyObject *b, uint32_t operation);

#endif
