/* Stencils that move values between locals, the value stack and argument registers. */
#include "jit/stencils.h"

/* Arguments for the stencil that follows, borrowed from where they are. */
void op_ARG0_SLOT(void)
{
	cont1(SLOT(HOLE_A));
}

void op_ARG0_CONST(void)
{
	cont1(HOLE_OBJECT(HOLE_A));
}

void op_ARG0_CONST32(void)
{
	cont1((PyObject *)HOLE32(HOLE_A));
}

void op_ARG0_TOP(void)
{
	cont1(top);
}

void op_ARG1_SLOT(PyObject *a)
{
	cont2(a, SLOT(HOLE_A));
}

void op_ARG1_CONST(PyObject *a)
{
	cont2(a, HOLE_OBJECT(HOLE_A));
}

void op_ARG1_CONST32(PyObject *a)
{
	cont2(a, (PyObject *)HOLE32(HOLE_A));
}

void op_ARG1_TOP(PyObject *a)
{
	cont2(a, top);
}

void op_ARG2_SLOT(PyObject *a, PyObject *b)
{
	cont3(a, b, SLOT(HOLE_A));
}

void op_ARG2_CONST(PyObject *a, PyObject *b)
{
	cont3(a, b, HOLE_OBJECT(HOLE_A));
}

void op_ARG2_CONST32(PyObject *a, PyObject *b)
{
	cont3(a, b, (PyObject *)HOLE32(HOLE_A));
}

void op_ARG2_TOP(PyObject *a, PyObject *b)
{
	cont3(a, b, top);
}

/* A new reference to what was fetched. */
void op_OWN0(PyObject *a)
{
	Py_INCREF(a);
	cont1(a);
}

/* The top of the stack into its slot; the register is free then. */
void op_SPILL(void)
{
	SLOT(HOLE_A) = top;
	CONT();
}

void op_PUT(PyObject *a)
{
	SLOT(HOLE_A) = a;
	CONT();
}

void op_PUT_NEW(PyObject *a)
{
	Py_INCREF(a);
	SLOT(HOLE_A) = a;
	CONT();
}

void op_PUT_NULL(void)
{
	SLOT(HOLE_A) = NULL;
	CONT();
}

void op_TOP(PyObject *a)
{
	top = a;
	CONT();
}

void op_TOP_NEW(PyObject *a)
{
	Py_INCREF(a);
	top = a;
	CONT();
}

/* Exchanges two slots. */
void op_SWAP(void)
{
	PyObject *a = SLOT(HOLE_A);

	SLOT(HOLE_A) = SLOT(HOLE_B);
	SLOT(HOLE_B) = a;
	CONT();
}

void op_DROP(PyObject *a)
{
	RELEASE(a);
	CONT();
}

void op_DROP_MAYBE(PyObject *a)
{
	XRELEASE(a);
	CONT();
}

/* Into a local; the old value goes after the new one is there (ceval.c: SETLOCAL). */
void op_STORE_LOCAL(PyObject *a)
{
	PyObject *old = SLOT(HOLE_A);

	SLOT(HOLE_A) = a;
	XRELEASE(old);
	CONT();
}

void op_STORE_LOCAL_NEW(PyObject *a)
{
	PyObject *old = SLOT(HOLE_A);

	Py_INCREF(a);
	SLOT(HOLE_A) = a;
	XRELEASE(old);
	CONT();
}

void op_CHECK_LOCAL(void)
{
	if (UNLIKELY(!SLOT(HOLE_A))) {
		runtime_unbound_local(frame, HOLE32(HOLE_B));
		ERROR();
		return;
	}
	CONT();
}

void op_DELETE_LOCAL(void)
{
	PyObject *old = SLOT(HOLE_A);

	SLOT(HOLE_A) = NULL;
	RELEASE(old);
	CONT();
}

void op_LOAD_CELL(void)
{
	PyObject *value = PyCell_GET(SLOT(HOLE_A));

	if (UNLIKELY(!value)) {
		runtime_unbound_cell(frame, HOLE32(HOLE_B));
		ERROR();
		return;
	}
	Py_INCREF(value);
	top = value;
	CONT();
}

void op_STORE_CELL(PyObject *a)
{
	PyObject *cell = SLOT(HOLE_A);
	PyObject *old = PyCell_GET(cell);

	PyCell_SET(cell, a);
	XRELEASE(old);
	CONT();
}

void op_STORE_CELL_NEW(PyObject *a)
{
	PyObject *cell = SLOT(HOLE_A);
	PyObject *old = PyCell_GET(cell);

	Py_INCREF(a);
	PyCell_SET(cell, a);
	XRELEASE(old);
	CONT();
}
