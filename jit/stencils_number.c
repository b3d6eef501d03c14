/* Arithmetic and comparisons of exact ints and floats; EXIT is for any other operands.
 *
 * An int counts as small where it has at most one digit of 30 bits: sums and products of
 * two fit a machine word. The variants are by ownership of the operands (BB, OB, BO, OO:
 * borrowed or owned): an owned operand that nobody else has takes the result in. */
#include "jit/stencils.h"

#include "internal/pycore_floatobject.h"

#define FLOATS (_PyRuntime._main_interpreter.float_state)

static inline __attribute__((always_inline)) bool is_float(PyObject *object)
{
	return object->ob_type == &PyFloat_Type;
}

static inline __attribute__((always_inline)) bool is_small(PyObject *object)
{
	return object->ob_type == &PyLong_Type && (size_t)(Py_SIZE(object) + 1) <= 2;
}

static inline __attribute__((always_inline)) long small_value(PyObject *object)
{
	return Py_SIZE(object) * (long)((PyLongObject *)object)->ob_digit[0];
}

static inline __attribute__((always_inline)) double float_value(PyObject *object)
{
	return ((PyFloatObject *)object)->ob_fval;
}

static inline __attribute__((always_inline)) PyObject *new_float(double value)
{
	PyFloatObject *object = FLOATS.free_list;

	if (UNLIKELY(!object))
		return runtime_new_float(value);
	FLOATS.free_list = (PyFloatObject *)Py_TYPE(object);
	FLOATS.numfree--;
	object->ob_base.ob_type = &PyFloat_Type;
	object->ob_base.ob_refcnt = 1;
	object->ob_fval = value;
	return (PyObject *)object;
}

static inline __attribute__((always_inline)) void drop_number(PyObject *object)
{
	if (--object->ob_refcnt == 0)
		runtime_free_number(object);
}

/* The result in one of the operands' objects, or in a new one; NULL without memory. */
#define FLOAT_RESULT(own_a, own_b, result)                               \
	do {                                                             \
		double result_ = (result);                               \
		if (own_a && a->ob_refcnt == 1) {                        \
			((PyFloatObject *)a)->ob_fval = result_;         \
			top = a;                                         \
			if (own_b)                                       \
				drop_number(b);                          \
		} else if (own_b && b->ob_refcnt == 1) {                 \
			((PyFloatObject *)b)->ob_fval = result_;         \
			top = b;                                         \
			if (own_a)                                       \
				a->ob_refcnt--;                          \
		} else {                                                 \
			if (own_a)                                       \
				a->ob_refcnt--;                          \
			if (own_b)                                       \
				b->ob_refcnt--;                          \
			if (own_a && own_b && a == b && !a->ob_refcnt)   \
				a->ob_refcnt = 1, top = a,               \
				((PyFloatObject *)a)->ob_fval = result_; \
			else                                             \
				top = new_float(result_);                \
		}                                                        \
	} while (0)

#define INT_RESULT(own_a, own_b, result)                                             \
	do {                                                                         \
		long result_ = (result);                                             \
		top = own_a || own_b ? runtime_int_result(result_, own_a ? a : NULL, \
					       own_b ? b : NULL)                     \
				     : runtime_new_int(result_);                     \
	} while (0)

/* A macro's stencils, one for each ownership of the operands. */
#define VARIANTS(VARIANT, ...)         \
	VARIANT(BB, 0, 0, __VA_ARGS__) \
	VARIANT(OB, 1, 0, __VA_ARGS__) \
	VARIANT(BO, 0, 1, __VA_ARGS__) \
	VARIANT(OO, 1, 1, __VA_ARGS__)

#define ARITHMETIC_VARIANT(suffix, own_a, own_b, name, operator)                       \
	void op_##name##_##suffix(PyObject *a, PyObject *b)                            \
	{                                                                              \
		if (is_float(a) && is_float(b)) {                                      \
			FLOAT_RESULT(                                                  \
				own_a, own_b, float_value(a) operator float_value(b)); \
		} else if (LIKELY(is_small(a) && is_small(b))) {                       \
			INT_RESULT(                                                    \
				own_a, own_b, small_value(a) operator small_value(b)); \
		} else {                                                               \
			exit2(a, b);                                                   \
			return;                                                        \
		}                                                                      \
		CONT_UNLESS_ERROR(top);                                                \
	}

#define ARITHMETIC(name, operator) VARIANTS(ARITHMETIC_VARIANT, name, operator)

ARITHMETIC(ADD, +)
ARITHMETIC(SUBTRACT, -)
ARITHMETIC(MULTIPLY, *)

#define DIVIDE_VARIANT(suffix, own_a, own_b, name)                                   \
	void op_##name##_##suffix(PyObject *a, PyObject *b)                          \
	{                                                                            \
		if (LIKELY(is_float(a) && is_float(b) && float_value(b) != 0.0)) {   \
			FLOAT_RESULT(own_a, own_b, float_value(a) / float_value(b)); \
		} else {                                                             \
			exit2(a, b);                                                 \
			return;                                                      \
		}                                                                    \
		CONT_UNLESS_ERROR(top);                                              \
	}

VARIANTS(DIVIDE_VARIANT, DIVIDE)

/* Operations that floats have not, or not often. */
#define INTEGER_VARIANT(suffix, own_a, own_b, name, fits, expression) \
	void op_##name##_##suffix(PyObject *a, PyObject *b)           \
	{                                                             \
		if (LIKELY(is_small(a) && is_small(b))) {             \
			long x = small_value(a);                      \
			long y = small_value(b);                      \
			if (LIKELY(fits)) {                           \
				INT_RESULT(own_a, own_b, expression); \
				CONT_UNLESS_ERROR(top);               \
				return;                               \
			}                                             \
		}                                                     \
		exit2(a, b);                                          \
	}

#define INTEGER(name, fits, expression) VARIANTS(INTEGER_VARIANT, name, fits, expression)

INTEGER(AND, true, x &y)
INTEGER(OR, true, x | y)
INTEGER(XOR, true, x ^ y)
INTEGER(SHIFT_LEFT, y >= 0 && y < 32, x *(1L << y))
INTEGER(SHIFT_RIGHT, y >= 0 && y < 64, x >> y)
INTEGER(FLOOR_DIVIDE, x >= 0 && y > 0, (uint32_t)x / (uint32_t)y)
INTEGER(REMAINDER, x >= 0 && y > 0, (uint32_t)x % (uint32_t)y)

#define DROP_BOTH(own_a, own_b)                             \
	do {                                                \
		if (own_a && own_b) {                       \
			a->ob_refcnt--;                     \
			b->ob_refcnt--;                     \
			if (!a->ob_refcnt || !b->ob_refcnt) \
				runtime_free_numbers(a, b); \
		} else if (own_a) {                         \
			drop_number(a);                     \
		} else if (own_b) {                         \
			drop_number(b);                     \
		}                                           \
	} while (0)

/* Comparisons; those of floats are false where one is no number, but for `!=`. */
#define COMPARE_NUMBERS(operator, then)                               \
	do {                                                          \
		bool yes;                                             \
		if (LIKELY(is_small(a) && is_small(b)))               \
			yes = small_value(a) operator small_value(b); \
		else if (LIKELY(is_float(a) && is_float(b)))          \
			yes = float_value(a) operator float_value(b); \
		else                                                  \
			goto slow;                                    \
		then;                                                 \
		return;                                               \
	} while (0)

#define COMPARE_VARIANT(suffix, own_a, own_b, name, operator)       \
	void op_COMPARE_##name##_##suffix(PyObject *a, PyObject *b) \
	{                                                           \
		COMPARE_NUMBERS(operator, {                         \
			top = yes ? Py_True : Py_False;             \
			top->ob_refcnt++;                           \
			DROP_BOTH(own_a, own_b);                    \
			CONT();                                     \
		});                                                 \
	slow:                                                       \
		exit2(a, b);                                        \
	}

/* Jumps where the outcome is `when`. */
#define JUMP_VARIANT(suffix, own_a, own_b, name, operator, when) \
	void op_##name##_##suffix(PyObject *a, PyObject *b)      \
	{                                                        \
		COMPARE_NUMBERS(operator, {                      \
			if (yes == when) {                       \
				DROP_BOTH(own_a, own_b);         \
				TARGET();                        \
			} else {                                 \
				DROP_BOTH(own_a, own_b);         \
				CONT();                          \
			}                                        \
		});                                              \
	slow:                                                    \
		exit2(a, b);                                     \
	}

#define COMPARE(name, operator)		   VARIANTS(COMPARE_VARIANT, name, operator)
#define COMPARE_JUMP(name, operator, when) VARIANTS(JUMP_VARIANT, name, operator, when)

/* In the order of Py_LT and its kin. */
COMPARE(LESS, <)
COMPARE(LESS_EQUAL, <=)
COMPARE(EQUAL, ==)
COMPARE(NOT_EQUAL, !=)
COMPARE(GREATER, >)
COMPARE(GREATER_EQUAL, >=)

COMPARE_JUMP(JUMP_IF_LESS, <, true)
COMPARE_JUMP(JUMP_IF_LESS_EQUAL, <=, true)
COMPARE_JUMP(JUMP_IF_EQUAL, ==, true)
COMPARE_JUMP(JUMP_IF_NOT_EQUAL, !=, true)
COMPARE_JUMP(JUMP_IF_GREATER, >, true)
COMPARE_JUMP(JUMP_IF_GREATER_EQUAL, >=, true)

COMPARE_JUMP(JUMP_UNLESS_LESS, <, false)
COMPARE_JUMP(JUMP_UNLESS_LESS_EQUAL, <=, false)
COMPARE_JUMP(JUMP_UNLESS_EQUAL, ==, false)
COMPARE_JUMP(JUMP_UNLESS_NOT_EQUAL, !=, false)
COMPARE_JUMP(JUMP_UNLESS_GREATER, >, false)
COMPARE_JUMP(JUMP_UNLESS_GREATER_EQUAL, >=, false)
