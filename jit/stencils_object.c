/* Stencils for operations on objects of any type. A is the operands owned (and the
 * operation), see runtime.h. */
#include "jit/stencils.h"

/* B is 1 for `not in`. */
void op_CONTAINS(PyObject *a, PyObject *b)
{
	int truth;

	SET_INSTRUCTION();
	truth = runtime_contains(a, b, HOLE_ARGUMENT(HOLE_A));
	if (UNLIKELY(truth < 0)) {
		ERROR();
		return;
	}
	top = Py_NewRef((truth ^ (int)HOLE32(HOLE_B)) ? Py_True : Py_False);
	CONT();
}

void op_CONTAINS_JUMP_TRUE(PyObject *a, PyObject *b)
{
	int truth;

	SET_INSTRUCTION();
	truth = runtime_contains(a, b, HOLE_ARGUMENT(HOLE_A));
	if (UNLIKELY(truth < 0)) {
		ERROR();
		return;
	}
	if (truth)
		TARGET();
	else
		CONT();
}

void op_CONTAINS_JUMP_FALSE(PyObject *a, PyObject *b)
{
	int truth;

	SET_INSTRUCTION();
	truth = runtime_contains(a, b, HOLE_ARGUMENT(HOLE_A));
	if (UNLIKELY(truth < 0)) {
		ERROR();
		return;
	}
	if (!truth)
		TARGET();
	else
		CONT();
}

/* Those of two operands that are owned, mask C, go. */
#define DROP()                                                              \
	do {                                                                \
		if (HOLE_ARGUMENT(HOLE_C) == RUNTIME_OWNS_A) {              \
			RELEASE(a);                                         \
		} else if (HOLE_ARGUMENT(HOLE_C)) {                         \
			SET_INSTRUCTION();                                  \
			runtime_drop_operands(a, b, HOLE_ARGUMENT(HOLE_C)); \
		}                                                           \
	} while (0)

/* Identity; A is 1 for `is not`. */
void op_IS(PyObject *a, PyObject *b)
{
	top = Py_NewRef(((a == b) ^ (int)HOLE32(HOLE_A)) ? Py_True : Py_False);
	DROP();
	CONT();
}

void op_IS_JUMP_TRUE(PyObject *a, PyObject *b)
{
	if (a == b) {
		DROP();
		TARGET();
	} else {
		DROP();
		CONT();
	}
}

void op_IS_JUMP_FALSE(PyObject *a, PyObject *b)
{
	if (a != b) {
		DROP();
		TARGET();
	} else {
		DROP();
		CONT();
	}
}

void op_NOT(PyObject *a)
{
	int truth;

	SET_INSTRUCTION();
	truth = runtime_truth(a, (int)HOLE32(HOLE_A));
	if (UNLIKELY(truth < 0)) {
		ERROR();
		return;
	}
	top = Py_NewRef(truth ? Py_False : Py_True);
	CONT();
}

/* Whether a local is a string to append to. */
void op_CHECK_STRING(void)
{
	if (UNLIKELY(SLOT(HOLE_A)->ob_type == &PyUnicode_Type)) {
		EXIT();
		return;
	}
	CONT();
}

void op_APPEND_STRING(PyObject *a)
{
	SET_INSTRUCTION();
	if (UNLIKELY(runtime_append_string(SLOT_AT(HOLE_B), a, HOLE_ARGUMENT(HOLE_A)) <
		     0)) {
		ERROR();
		return;
	}
	CONT();
}
