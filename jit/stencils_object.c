/* Stencils for operations on objects of any type. A is the operands owned (and the
 * operation), see runtime.h. */
#include "jit/stencils.h"

/* B is 1 for `not in`. */
void op_CONTAINS(PyObject *a, PyObject *b)
{
	int truth;

	SET_INSTRUCTION();
	truth = runtime_contains(a, b, HOLE_ARGUMENT(HOLE_A));
	GUARD_OR(truth >= 0, ERROR());
	top = Py_NewRef((truth ^ (int)HOLE32(HOLE_B)) ? Py_True : Py_False);
	CONT();
}

#define CONTAINS_JUMP(name, jumps)                                     \
	void op_CONTAINS_JUMP_##name(PyObject *a, PyObject *b)         \
	{                                                              \
		int truth;                                             \
		SET_INSTRUCTION();                                     \
		truth = runtime_contains(a, b, HOLE_ARGUMENT(HOLE_A)); \
		GUARD_OR(truth >= 0, ERROR());                         \
		JUMP_IF(jumps);                                        \
	}

CONTAINS_JUMP(TRUE, truth)
CONTAINS_JUMP(FALSE, !truth)

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

#define IS_JUMP(name, operator)                          \
	void op_IS_JUMP_##name(PyObject *a, PyObject *b) \
	{                                                \
		if (a operator b) {                      \
			DROP();                          \
			TARGET();                        \
		} else {                                 \
			DROP();                          \
			CONT();                          \
		}                                        \
	}

IS_JUMP(TRUE, ==)
IS_JUMP(FALSE, !=)

void op_NOT(PyObject *a)
{
	int truth;

	SET_INSTRUCTION();
	truth = runtime_truth(a, (int)HOLE32(HOLE_A));
	GUARD_OR(truth >= 0, ERROR());
	top = Py_NewRef(truth ? Py_False : Py_True);
	CONT();
}

/* Whether a local is a string to append to. */
void op_CHECK_STRING(void)
{
	GUARD_OR(SLOT(HOLE_A)->ob_type != &PyUnicode_Type, EXIT());
	CONT();
}

void op_APPEND_STRING(PyObject *a)
{
	SET_INSTRUCTION();
	CONT_UNLESS_ERROR(
		runtime_append_string(SLOT_AT(HOLE_B), a, HOLE_ARGUMENT(HOLE_A)) >= 0);
}
