/* Exceptions that instructions raise themselves, with CPython's texts. */
#ifndef JIT_ERRORS_H
#define JIT_ERRORS_H

#include "jit/python.h"

/* NameError with its name, so that Python can suggest another one. */
void errors_name(PyThreadState *thread, PyObject *name);
/* An unbound local, or a cell without a value. */
void errors_unbound_local(PyThreadState *thread, PyCodeObject *code, uint32_t local);
void errors_unbound_cell(PyThreadState *thread, PyCodeObject *code, uint32_t local);
/* After a failed merge of ** arguments. */
void errors_keywords(PyThreadState *thread, PyObject *function, PyObject *keywords);
/* -1 with TypeError where `arguments` cannot be iterated over. */
int errors_check_arguments(
	PyThreadState *thread, PyObject *function, PyObject *arguments);
/* -1 with TypeError where an except clause names no exception class. */
int errors_check_except(PyThreadState *thread, PyObject *type);
int errors_check_except_star(PyThreadState *thread, PyObject *type);
void errors_awaitable(PyThreadState *thread, PyTypeObject *type, uint32_t where);

#endif
