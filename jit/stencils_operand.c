/* Stencils of caches on operands that are borrowed, or owned where HOLE_A has their bit: other
 * types than numbers in operators and comparisons. EXIT is where the types are others. */
#include "jit/stencils.h"

#define GUARD(condition) GUARD_OR(condition, exit2(a, b))

/* Those of the operands that are owned go. */
#define DROP()                                                                      \
	do {                                                                        \
		SET_INSTRUCTION();                                                  \
		runtime_drop_operands(a, b,                                         \
			HOLE_ARGUMENT(HOLE_A) & (RUNTIME_OWNS_A | RUNTIME_OWNS_B)); \
	} while (0)

void op_BINARY_MISS(PyObject *a, PyObject *b)
{
	SET_INSTRUCTION();
	top = runtime_binary_miss(a, b, (struct cache *)HOLE64(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

/* Ints of any size. */
void op_BINARY_INTEGERS(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == &PyLong_Type && Py_TYPE(b) == &PyLong_Type);
	SET_INSTRUCTION();
	top = runtime_binary(a, b, HOLE_ARGUMENT(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

void op_BINARY_STRINGS(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == &PyUnicode_Type && Py_TYPE(b) == &PyUnicode_Type);
	SET_INSTRUCTION();
	top = runtime_concatenate(a, b, HOLE_ARGUMENT(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

/* Operands of the builtin classes D and E, whose operation is the function C. */
void op_BINARY_FUNCTION(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a) == (PyTypeObject *)HOLE64(HOLE_D));
	GUARD(Py_TYPE(b) == (PyTypeObject *)HOLE64(HOLE_E));
	SET_INSTRUCTION();
	top = runtime_apply((binaryfunc)HOLE64(HOLE_C), a, b, HOLE_ARGUMENT(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

/* A Python method of the left operand's class, which has version D; the right one's class
 * is E. G is the method with the code B. The operands wait in the slots from C on. */
void op_OPERATOR_METHOD(PyObject *a, PyObject *b)
{
	GUARD(Py_TYPE(a)->tp_version_tag == (unsigned)HOLE32(HOLE_D));
	GUARD(Py_TYPE(b) == (PyTypeObject *)HOLE64(HOLE_E));
	GUARD(((PyFunctionObject *)HOLE64(HOLE_G))->func_code == HOLE_OBJECT(HOLE_B));
	SLOT(HOLE_C) = a;
	SLOT_AT(HOLE_C)[1] = b;
	cont2(Py_NewRef(HOLE_OBJECT(HOLE_G)), (PyObject *)thread->datastack_top);
}

/* It has returned; A is as for runtime_binary(). */
void op_OPERATOR_END(void)
{
	if (UNLIKELY(top == Py_NotImplemented || HOLE_ARGUMENT(HOLE_A) & 3)) {
		SET_INSTRUCTION();
		top = runtime_operator_end(top, SLOT_AT(HOLE_C), HOLE_ARGUMENT(HOLE_A));
		GUARD_OR(top, ERROR());
	}
	CONT();
}

/* It has raised. */
void op_OPERATOR_ERROR(void)
{
	SET_INSTRUCTION();
	runtime_operator_end(NULL, SLOT_AT(HOLE_C), HOLE_ARGUMENT(HOLE_A));
	ERROR();
}

/* Equality of strings: -1 where the bytes must be looked at. */
static inline __attribute__((always_inline)) int is_same(PyObject *a, PyObject *b)
{
	PyASCIIObject *x = (PyASCIIObject *)a;
	PyASCIIObject *y = (PyASCIIObject *)b;

	if (a == b)
		return 1;
	if (x->length != y->length)
		return 0;
	if (PyUnicode_IS_COMPACT_ASCII(a) && PyUnicode_IS_COMPACT_ASCII(b) &&
		*(char *)(x + 1) != *(char *)(y + 1))
		return 0;
	return -1;
}

/* Whether the strings are equal, xor B: B is 1 for `!=`, or where being unequal jumps. */
#define COMPARE_STRINGS(yes, no)                                                       \
	do {                                                                           \
		GUARD(Py_TYPE(a) == &PyUnicode_Type && Py_TYPE(b) == &PyUnicode_Type); \
		int equal = is_same(a, b);                                             \
		if (equal < 0)                                                         \
			equal = runtime_equal(a, b);                                   \
		if (OWNS(RUNTIME_OWNS_A | RUNTIME_OWNS_B)) {                           \
			top = (PyObject *)(uintptr_t)(unsigned)equal;                  \
			DROP();                                                        \
			equal = (int)(uintptr_t)top;                                   \
		}                                                                      \
		if (equal != (int)HOLE_ARGUMENT(HOLE_B))                               \
			yes;                                                           \
		else                                                                   \
			no;                                                            \
	} while (0)

#define PUSH_BOOL(value)                \
	do {                            \
		top = Py_NewRef(value); \
		CONT();                 \
	} while (0)

void op_COMPARE_STRINGS(PyObject *a, PyObject *b)
{
	COMPARE_STRINGS(PUSH_BOOL(Py_True), PUSH_BOOL(Py_False));
}

void op_COMPARE_STRINGS_JUMP(PyObject *a, PyObject *b)
{
	COMPARE_STRINGS(TARGET(), CONT());
}

/* Two objects of the builtin class D, compared by the function C for the operation E: the
 * result is on top, or NULL is. */
#define COMPARE_FUNCTION()                                                             \
	do {                                                                           \
		GUARD(Py_TYPE(a) == (PyTypeObject *)HOLE64(HOLE_D));                   \
		GUARD(Py_TYPE(b) == (PyTypeObject *)HOLE64(HOLE_D));                   \
		SET_INSTRUCTION();                                                     \
		top = ((richcmpfunc)HOLE64(HOLE_C))(a, b, (int)HOLE_ARGUMENT(HOLE_E)); \
		if (OWNS(RUNTIME_OWNS_A | RUNTIME_OWNS_B))                             \
			DROP();                                                        \
	} while (0)

void op_COMPARE_FUNCTION(PyObject *a, PyObject *b)
{
	COMPARE_FUNCTION();
	CONT_UNLESS_ERROR(top);
}

/* B is the outcome that jumps. */
void op_COMPARE_FUNCTION_JUMP(PyObject *a, PyObject *b)
{
	COMPARE_FUNCTION();
	GUARD_OR(top, ERROR());
	top->ob_refcnt--;
	JUMP_IF(top == HOLE_OBJECT(HOLE_B));
}

void op_COMPARE_MISS(PyObject *a, PyObject *b)
{
	SET_INSTRUCTION();
	top = runtime_compare_miss(a, b, (struct cache *)HOLE64(HOLE_A));
	CONT_UNLESS_ERROR(top);
}

void op_COMPARE_MISS_JUMP(PyObject *a, PyObject *b)
{
	int jumps;

	SET_INSTRUCTION();
	jumps = runtime_compare_jump_miss(a, b, (struct cache *)HOLE64(HOLE_A));
	GUARD_OR(jumps >= 0, ERROR());
	JUMP_IF(jumps);
}
