/* Stencils of the optimising tier. Slots are at offsets from rbp, which stencils read only.
 * Every check leaves by DEOPT before anything has changed. */
#include "jit/opt.h"
#include "jit/stencils.h"

#include <math.h>

register char *base __asm__("rbp");

#define INT(hole)   (*(long *)(base + (intptr_t) & (hole)))
#define FLOAT(hole) (*(double *)(base + (intptr_t) & (hole)))

typedef void code(void);

/* The head of a loop in the baseline: into the fragment where there is one. */
void op_LOOP_HEAD(void)
{
	struct opt_loop *loop = (struct opt_loop *)HOLE64(HOLE_A);

	code *native = (code *)loop->native;

	if (native) {
		if (LIKELY(!runtime_eval_breaker)) {
			native();
			return;
		}
	} else if (UNLIKELY(--loop->turns == 0)) {
		code *next = (code *)opt_hot(thread, frame, loop);

		next();
		return;
	}
	CONT();
}

void op_OPT_ENTER(void)
{
	if (UNLIKELY(!opt_enter(
		    thread, frame, (struct opt_fragment *)HOLE64(HOLE_A), base))) {
		EXIT();
		return;
	}
	CONT();
}

extern void exit_address(void *) __asm__("TARGET");

void op_OPT_EXIT(uintptr_t number)
{
	void *next = opt_exit(thread, frame, (struct opt_fragment *)HOLE64(HOLE_A),
		(uint32_t)number, base);

	if (next)
		exit_address(next);
	else
		cont1(*(PyObject **)(base - 8));
}

/* A signal, another thread: the baseline sees to it. */
void op_OPT_POLL(void)
{
	if (UNLIKELY(runtime_eval_breaker))
		DEOPT();
	else
		CONT();
}

void op_OPT_MOVE(void)
{
	INT(HOLE_B) = INT(HOLE_A);
	CONT();
}

void op_OPT_FLAG(void)
{
	INT(HOLE_A) = (intptr_t)&HOLE_B;
	CONT();
}

#define OVERFLOWING(name, builtin)                                          \
	void op_OPT_##name##_INT(void)                                      \
	{                                                                   \
		long result;                                                \
		if (UNLIKELY(builtin(INT(HOLE_A), INT(HOLE_B), &result))) { \
			DEOPT();                                            \
			return;                                             \
		}                                                           \
		INT(HOLE_C) = result;                                       \
		CONT();                                                     \
	}

OVERFLOWING(ADD, __builtin_add_overflow)
OVERFLOWING(SUBTRACT, __builtin_sub_overflow)
OVERFLOWING(MULTIPLY, __builtin_mul_overflow)

#define BITWISE(name, operator)                                 \
	void op_OPT_##name##_INT(void)                          \
	{                                                       \
		INT(HOLE_C) = INT(HOLE_A) operator INT(HOLE_B); \
		CONT();                                         \
	}

BITWISE(AND, &)
BITWISE(OR, |)
BITWISE(XOR, ^)

void op_OPT_LSHIFT_INT(void)
{
	long a = INT(HOLE_A), b = INT(HOLE_B);
	long result = (long)((unsigned long)a << (b & 63));

	if (UNLIKELY((unsigned long)b > 62 || result >> b != a)) {
		DEOPT();
		return;
	}
	INT(HOLE_C) = result;
	CONT();
}

void op_OPT_RSHIFT_INT(void)
{
	long b = INT(HOLE_B);

	if (UNLIKELY(b < 0)) {
		DEOPT();
		return;
	}
	INT(HOLE_C) = INT(HOLE_A) >> (b > 63 ? 63 : b);
	CONT();
}

/* Rounded towards minus infinity. Division is several times faster on 32 bits. */
void op_OPT_FLOOR_DIVIDE_INT(void)
{
	long a = INT(HOLE_A), b = INT(HOLE_B), result;

	if (LIKELY(((a | b) >> 31) == 0 && b)) {
		result = (long)((uint32_t)a / (uint32_t)b);
	} else {
		if (UNLIKELY(!b || b == -1)) {
			DEOPT();
			return;
		}
		result = a / b;
		result -= (a % b) && ((a ^ b) < 0);
	}
	INT(HOLE_C) = result;
	CONT();
}

void op_OPT_REMAINDER_INT(void)
{
	long a = INT(HOLE_A), b = INT(HOLE_B), result;

	if (LIKELY(((a | b) >> 31) == 0 && b)) {
		result = (long)((uint32_t)a % (uint32_t)b);
	} else {
		if (UNLIKELY(!b || b == -1)) {
			DEOPT();
			return;
		}
		result = a % b;
		if (result && (result ^ b) < 0)
			result += b;
	}
	INT(HOLE_C) = result;
	CONT();
}

void op_OPT_NEGATE_INT(void)
{
	long a = INT(HOLE_A);

	if (UNLIKELY(a == LONG_MIN)) {
		DEOPT();
		return;
	}
	INT(HOLE_B) = -a;
	CONT();
}

void op_OPT_INVERT_INT(void)
{
	INT(HOLE_B) = ~INT(HOLE_A);
	CONT();
}

void op_OPT_ABS_INT(void)
{
	long a = INT(HOLE_A);

	if (UNLIKELY(a == LONG_MIN)) {
		DEOPT();
		return;
	}
	INT(HOLE_B) = a < 0 ? -a : a;
	CONT();
}

#define FLOATING(name, operator)                                      \
	void op_OPT_##name##_FLOAT(void)                              \
	{                                                             \
		FLOAT(HOLE_C) = FLOAT(HOLE_A) operator FLOAT(HOLE_B); \
		CONT();                                               \
	}

FLOATING(ADD, +)
FLOATING(SUBTRACT, -)
FLOATING(MULTIPLY, *)

void op_OPT_DIVIDE_FLOAT(void)
{
	double b = FLOAT(HOLE_B);

	if (UNLIKELY(b == 0.0)) {
		DEOPT();
		return;
	}
	FLOAT(HOLE_C) = FLOAT(HOLE_A) / b;
	CONT();
}

/* Exact for what a double holds exactly: then the quotient is rounded once. */
void op_OPT_DIVIDE_INT(void)
{
	long a = INT(HOLE_A), b = INT(HOLE_B);

	if (UNLIKELY(!b || (unsigned long)(a + (1L << 53)) > 1UL << 54 ||
		     (unsigned long)(b + (1L << 53)) > 1UL << 54)) {
		DEOPT();
		return;
	}
	FLOAT(HOLE_C) = (double)a / (double)b;
	CONT();
}

void op_OPT_NEGATE_FLOAT(void)
{
	/* The sign's bit; gcc's own constants of 16 bytes would want an aligned frame. */
	INT(HOLE_B) = INT(HOLE_A) ^ LONG_MIN;
	CONT();
}

void op_OPT_ABS_FLOAT(void)
{
	INT(HOLE_B) = INT(HOLE_A) & LONG_MAX;
	CONT();
}

/* In arithmetic an int becomes the nearest double, as PyLong_AsDouble() has it. */
void op_OPT_TO_FLOAT(void)
{
	FLOAT(HOLE_B) = (double)INT(HOLE_A);
	CONT();
}

/* In comparisons it must be exact. */
void op_OPT_TO_FLOAT_EXACT(void)
{
	long a = INT(HOLE_A);

	if (UNLIKELY((unsigned long)(a + (1L << 53)) > 1UL << 54)) {
		DEOPT();
		return;
	}
	FLOAT(HOLE_B) = (double)a;
	CONT();
}

#define COMPARING(name, operator)                                   \
	void op_OPT_JUMP_##name##_INT(void)                         \
	{                                                           \
		if (INT(HOLE_A) operator INT(HOLE_B))               \
			TARGET();                                   \
		else                                                \
			CONT();                                     \
	}                                                           \
	void op_OPT_JUMP_##name##_FLOAT(void)                       \
	{                                                           \
		if (FLOAT(HOLE_A) operator FLOAT(HOLE_B))           \
			TARGET();                                   \
		else                                                \
			CONT();                                     \
	}                                                           \
	void op_OPT_JUMP_NOT_##name##_FLOAT(void)                   \
	{                                                           \
		if (!(FLOAT(HOLE_A) operator FLOAT(HOLE_B)))        \
			TARGET();                                   \
		else                                                \
			CONT();                                     \
	}                                                           \
	void op_OPT_##name##_INT(void)                              \
	{                                                           \
		INT(HOLE_C) = INT(HOLE_A) operator INT(HOLE_B);     \
		CONT();                                             \
	}                                                           \
	void op_OPT_##name##_FLOAT(void)                            \
	{                                                           \
		INT(HOLE_C) = FLOAT(HOLE_A) operator FLOAT(HOLE_B); \
		CONT();                                             \
	}

COMPARING(LT, <)
COMPARING(LE, <=)
COMPARING(EQ, ==)
COMPARING(NE, !=)
COMPARING(GT, >)
COMPARING(GE, >=)

void op_OPT_JUMP_TRUE_INT(void)
{
	if (INT(HOLE_A))
		TARGET();
	else
		CONT();
}

void op_OPT_JUMP_FALSE_INT(void)
{
	if (!INT(HOLE_A))
		TARGET();
	else
		CONT();
}

void op_OPT_JUMP_TRUE_FLOAT(void)
{
	if (FLOAT(HOLE_A) != 0.0)
		TARGET();
	else
		CONT();
}

void op_OPT_JUMP_FALSE_FLOAT(void)
{
	if (!(FLOAT(HOLE_A) != 0.0))
		TARGET();
	else
		CONT();
}

void op_OPT_NOT_INT(void)
{
	INT(HOLE_B) = !INT(HOLE_A);
	CONT();
}

void op_OPT_NOT_FLOAT(void)
{
	INT(HOLE_B) = !(FLOAT(HOLE_A) != 0.0);
	CONT();
}

/* Objects/rangeobject.c. */
struct range_iterator {
	PyObject ob_base;
	long index, start, step, len;
};

void op_OPT_FOR_RANGE(void)
{
	struct range_iterator *iterator = (struct range_iterator *)SLOT(HOLE_A);

	if (LIKELY(iterator->index < iterator->len)) {
		INT(HOLE_B) = (long)((unsigned long)iterator->start +
				     (unsigned long)iterator->index++ *
					     (unsigned long)iterator->step);
		CONT();
		return;
	}
	SLOT(HOLE_A) = NULL;
	opt_drop((PyObject *)iterator);
	TARGET();
}

/* range(A, B, C): its iterator goes to the stack. */
void op_OPT_RANGE(void)
{
	PyObject *iterator = opt_range_iterator(INT(HOLE_A), INT(HOLE_B), INT(HOLE_C));

	if (UNLIKELY(!iterator)) {
		DEOPT();
		return;
	}
	SLOT(HOLE_D) = iterator;
	CONT();
}

/* A local that may be nothing. */
void op_OPT_CHECK(void)
{
	if (UNLIKELY(!SLOT(HOLE_A)))
		DEOPT();
	else
		CONT();
}

/* The element B of the list or tuple in the frame at A. */
#define ELEMENT(name, type, items)                                                       \
	static inline __attribute__((always_inline))                                     \
	PyObject *element_##name(PyObject *object, long index)                           \
	{                                                                                \
		if (UNLIKELY(!object || object->ob_type != &type))                       \
			return NULL;                                                     \
		if (UNLIKELY(index < 0))                                                 \
			index += Py_SIZE(object);                                        \
		if (UNLIKELY((unsigned long)index >= (unsigned long)Py_SIZE(object)))    \
			return NULL;                                                     \
		return items[index];                                                     \
	}                                                                                \
	void op_OPT_ELEMENT_##name##_FLOAT(void)                                         \
	{                                                                                \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));              \
		if (UNLIKELY(!item || item->ob_type != &PyFloat_Type)) {                 \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		FLOAT(HOLE_C) = ((PyFloatObject *)item)->ob_fval;                        \
		CONT();                                                                  \
	}                                                                                \
	void op_OPT_ELEMENT_##name##_INT(void)                                           \
	{                                                                                \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));              \
		if (UNLIKELY(!item || item->ob_type != &PyLong_Type ||                   \
			     (size_t)(Py_SIZE(item) + 1) > 2)) {                         \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		INT(HOLE_C) = Py_SIZE(item) * (long)((PyLongObject *)item)->ob_digit[0]; \
		CONT();                                                                  \
	}                                                                                \
	void op_OPT_ELEMENT_##name##_BOOL(void)                                          \
	{                                                                                \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));              \
		if (UNLIKELY(item != Py_True && item != Py_False)) {                     \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		INT(HOLE_C) = item == Py_True;                                           \
		CONT();                                                                  \
	}                                                                                \
	void op_OPT_ELEMENT_##name##_FRAME(void)                                         \
	{                                                                                \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));              \
		if (UNLIKELY(!item)) {                                                   \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		Py_INCREF(item);                                                         \
		SLOT(HOLE_C) = item;                                                     \
		CONT();                                                                  \
	}

ELEMENT(LIST, PyList_Type, ((PyListObject *)object)->ob_item)
ELEMENT(TUPLE, PyTuple_Type, ((PyTupleObject *)object)->ob_item)

/* What is overwritten must be nothing that notices. */
static inline __attribute__((always_inline)) PyObject **place(
	PyObject *object, long index)
{
	PyObject *old;

	if (UNLIKELY(!object || object->ob_type != &PyList_Type))
		return NULL;
	if (UNLIKELY(index < 0))
		index += Py_SIZE(object);
	if (UNLIKELY((unsigned long)index >= (unsigned long)Py_SIZE(object)))
		return NULL;
	old = ((PyListObject *)object)->ob_item[index];
	if (UNLIKELY(old->ob_type != &PyFloat_Type && old->ob_type != &PyLong_Type &&
		     old->ob_type != &PyBool_Type && old->ob_refcnt == 1))
		return NULL;
	return &((PyListObject *)object)->ob_item[index];
}

#define PUT(name, value)                                          \
	void op_OPT_PUT_##name(void)                              \
	{                                                         \
		PyObject **at = place(SLOT(HOLE_A), INT(HOLE_B)); \
		PyObject *new, *old;                              \
		if (UNLIKELY(!at)) {                              \
			DEOPT();                                  \
			return;                                   \
		}                                                 \
		old = *at;                                        \
		new = value;                                      \
		if (UNLIKELY(!new)) {                             \
			DEOPT();                                  \
			return;                                   \
		}                                                 \
		*at = new;                                        \
		if (--old->ob_refcnt == 0)                        \
			opt_drop(old);                            \
		CONT();                                           \
	}

PUT(INT, opt_new_int(INT(HOLE_C)))
PUT(BOOL, Py_NewRef(INT(HOLE_C) ? Py_True : Py_False))

/* A float that only the list has is changed where it is. */
void op_OPT_PUT_FLOAT(void)
{
	PyObject **at = place(SLOT(HOLE_A), INT(HOLE_B));
	PyObject *new, *old;

	if (UNLIKELY(!at)) {
		DEOPT();
		return;
	}
	old = *at;
	if (LIKELY(old->ob_refcnt == 1 && old->ob_type == &PyFloat_Type)) {
		((PyFloatObject *)old)->ob_fval = FLOAT(HOLE_C);
		CONT();
		return;
	}
	new = opt_new_float(FLOAT(HOLE_C));
	if (UNLIKELY(!new)) {
		DEOPT();
		return;
	}
	*at = new;
	if (--old->ob_refcnt == 0)
		opt_drop(old);
	CONT();
}

void op_OPT_LENGTH(void)
{
	PyObject *object = SLOT(HOLE_A);

	if (UNLIKELY(!object || (object->ob_type != &PyList_Type &&
					object->ob_type != &PyTuple_Type))) {
		DEOPT();
		return;
	}
	INT(HOLE_B) = Py_SIZE(object);
	CONT();
}

/* The object at A on the stack is not needed any more: somebody else has it, too. */
void op_OPT_RELEASE(void)
{
	PyObject *object = SLOT(HOLE_A);

	SLOT(HOLE_A) = NULL;
	if (UNLIKELY(--object->ob_refcnt == 0))
		opt_drop(object);
	CONT();
}

/* A new reference to the object at A for the place B. */
void op_OPT_COPY(void)
{
	PyObject *object = SLOT(HOLE_A);

	Py_INCREF(object);
	SLOT(HOLE_B) = object;
	CONT();
}

/* An iterator over the list in the frame at A; it goes to B. */
void op_OPT_ITERATE_LIST(void)
{
	PyObject *list = SLOT(HOLE_A), *iterator;

	if (UNLIKELY(!list || list->ob_type != &PyList_Type)) {
		DEOPT();
		return;
	}
	iterator = opt_list_iterator(list);
	if (UNLIKELY(!iterator)) {
		DEOPT();
		return;
	}
	SLOT(HOLE_B) = iterator;
	CONT();
}

/* The next element of the list whose iterator is in the frame at A. An element of another
 * type than expected is left where it is. Where only the iterator has the list, its end may
 * be that of objects that notice: the baseline sees to it. */
#define FOR_LIST(name, test, store)                                         \
	void op_OPT_FOR_LIST_##name(void)                                   \
	{                                                                   \
		struct opt_list_iterator *iterator =                        \
			(struct opt_list_iterator *)SLOT(HOLE_A);           \
		PyListObject *list = iterator->it_seq;                      \
		if (LIKELY(list && iterator->it_index < Py_SIZE(list))) {   \
			PyObject *item = list->ob_item[iterator->it_index]; \
			if (UNLIKELY(!(test))) {                            \
				DEOPT();                                    \
				return;                                     \
			}                                                   \
			iterator->it_index++;                               \
			store;                                              \
			CONT();                                             \
			return;                                             \
		}                                                           \
		if (UNLIKELY(list && Py_REFCNT(list) == 1)) {               \
			EXIT();                                             \
			return;                                             \
		}                                                           \
		SLOT(HOLE_A) = NULL;                                        \
		opt_drop((PyObject *)iterator);                             \
		TARGET();                                                   \
	}

FOR_LIST(FLOAT, item->ob_type == &PyFloat_Type,
	FLOAT(HOLE_B) = ((PyFloatObject *)item)->ob_fval)
FOR_LIST(INT, item->ob_type == &PyLong_Type && (size_t)(Py_SIZE(item) + 1) <= 2,
	INT(HOLE_B) = Py_SIZE(item) * (long)((PyLongObject *)item)->ob_digit[0])
FOR_LIST(FRAME, 1, Py_INCREF(item); SLOT(HOLE_B) = item)

/* The pair in the frame at A: its second to A, its first to B. */
void op_OPT_UNPACK_PAIR(void)
{
	PyObject *pair = SLOT(HOLE_A), *first, *second;

	if (UNLIKELY(!pair || pair->ob_type != &PyTuple_Type || Py_SIZE(pair) != 2)) {
		DEOPT();
		return;
	}
	first = PyTuple_GET_ITEM(pair, 0);
	second = PyTuple_GET_ITEM(pair, 1);
	Py_INCREF(first);
	Py_INCREF(second);
	SLOT(HOLE_A) = second;
	SLOT(HOLE_B) = first;
	if (UNLIKELY(--pair->ob_refcnt == 0))
		opt_drop(pair);
	CONT();
}

/* Where an attribute is: in the object at an offset, or in its values at an index. B is the
 * type. NULL where the object is of another type. */
static inline __attribute__((always_inline)) PyObject **in_slot(
	PyObject *object, uintptr_t type, intptr_t offset)
{
	if (UNLIKELY(!object || (uintptr_t)object->ob_type != type))
		return NULL;
	return (PyObject **)((char *)object + offset);
}

static inline __attribute__((always_inline)) PyObject **in_values(
	PyObject *object, uintptr_t type, intptr_t offset)
{
	char *values;

	if (UNLIKELY(!object || (uintptr_t)object->ob_type != type))
		return NULL;
	values = ((char **)object)[-4];
	return UNLIKELY(!values) ? NULL : (PyObject **)(values + offset);
}

#define ATTRIBUTE(place, name, test, store)                                          \
	void op_OPT_LOAD_##place##_##name(void)                                      \
	{                                                                            \
		PyObject **at =                                                      \
			in_##place(SLOT(HOLE_A), HOLE64(HOLE_B), (intptr_t)&HOLE_D); \
		PyObject *item = LIKELY(at != NULL) ? *at : NULL;                    \
		if (UNLIKELY(!item || !(test))) {                                    \
			DEOPT();                                                     \
			return;                                                      \
		}                                                                    \
		store;                                                               \
		CONT();                                                              \
	}

#define ATTRIBUTES(place)                                                                \
	ATTRIBUTE(place, FLOAT, item->ob_type == &PyFloat_Type,                          \
		FLOAT(HOLE_C) = ((PyFloatObject *)item)->ob_fval)                        \
	ATTRIBUTE(place, INT,                                                            \
		item->ob_type == &PyLong_Type && (size_t)(Py_SIZE(item) + 1) <= 2,       \
		INT(HOLE_C) = Py_SIZE(item) * (long)((PyLongObject *)item)->ob_digit[0]) \
	ATTRIBUTE(place, BOOL, item == Py_True || item == Py_False,                      \
		INT(HOLE_C) = item == Py_True)                                           \
	ATTRIBUTE(place, FRAME, 1, Py_INCREF(item); SLOT(HOLE_C) = item)                 \
	void op_OPT_STORE_##place##_FLOAT(void)                                          \
	{                                                                                \
		PyObject **at =                                                          \
			in_##place(SLOT(HOLE_A), HOLE64(HOLE_B), (intptr_t)&HOLE_D);     \
		PyObject *old = LIKELY(at != NULL) ? *at : NULL, *new;                   \
		if (UNLIKELY(!old || (old->ob_type != &PyFloat_Type &&                   \
					     old->ob_type != &PyLong_Type))) {           \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		if (LIKELY(old->ob_refcnt == 1 && old->ob_type == &PyFloat_Type)) {      \
			((PyFloatObject *)old)->ob_fval = FLOAT(HOLE_C);                 \
			CONT();                                                          \
			return;                                                          \
		}                                                                        \
		new = opt_new_float(FLOAT(HOLE_C));                                      \
		if (UNLIKELY(!new)) {                                                    \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		*at = new;                                                               \
		if (--old->ob_refcnt == 0)                                               \
			opt_drop(old);                                                   \
		CONT();                                                                  \
	}                                                                                \
	void op_OPT_STORE_##place##_INT(void)                                            \
	{                                                                                \
		PyObject **at =                                                          \
			in_##place(SLOT(HOLE_A), HOLE64(HOLE_B), (intptr_t)&HOLE_D);     \
		PyObject *old = LIKELY(at != NULL) ? *at : NULL, *new;                   \
		if (UNLIKELY(!old || (old->ob_type != &PyFloat_Type &&                   \
					     old->ob_type != &PyLong_Type))) {           \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		new = opt_new_int(INT(HOLE_C));                                          \
		if (UNLIKELY(!new)) {                                                    \
			DEOPT();                                                         \
			return;                                                          \
		}                                                                        \
		*at = new;                                                               \
		if (--old->ob_refcnt == 0)                                               \
			opt_drop(old);                                                   \
		CONT();                                                                  \
	}

ATTRIBUTES(slot)
ATTRIBUTES(values)

/* The object at A becomes the local B. What was there must be nothing that notices. */
static inline __attribute__((always_inline)) bool is_free(PyObject *old)
{
	return !old || old->ob_refcnt > 1 || old->ob_type == &PyFloat_Type ||
	       old->ob_type == &PyLong_Type;
}

void op_OPT_EMPTY(void)
{
	PyObject *old = SLOT(HOLE_A);

	if (LIKELY(!old)) {
		CONT();
		return;
	}
	if (UNLIKELY(!is_free(old))) {
		DEOPT();
		return;
	}
	SLOT(HOLE_A) = NULL;
	if (--old->ob_refcnt == 0)
		opt_drop(old);
	CONT();
}

void op_OPT_STORE(void)
{
	PyObject *old = SLOT(HOLE_B);

	if (UNLIKELY(!is_free(old))) {
		DEOPT();
		return;
	}
	SLOT(HOLE_B) = SLOT(HOLE_A);
	SLOT(HOLE_A) = NULL;
	if (old && --old->ob_refcnt == 0)
		opt_drop(old);
	CONT();
}

void op_OPT_STORE_COPY(void)
{
	PyObject *old = SLOT(HOLE_B), *new = SLOT(HOLE_A);

	if (UNLIKELY(!is_free(old))) {
		DEOPT();
		return;
	}
	Py_INCREF(new);
	SLOT(HOLE_B) = new;
	if (old && --old->ob_refcnt == 0)
		opt_drop(old);
	CONT();
}

/* The square root as math.sqrt() has it where it raises nothing. */
void op_OPT_SQRT(void)
{
	double a = FLOAT(HOLE_A);

	if (UNLIKELY(!(a >= 0.0))) {
		DEOPT();
		return;
	}
	__asm__("sqrtsd %0, %0" : "+x"(a));
	FLOAT(HOLE_B) = a;
	CONT();
}

/* A positive base to a finite power: what float_pow() hands to pow(). */
void op_OPT_POWER_FLOAT(void)
{
	double a = FLOAT(HOLE_A), b = FLOAT(HOLE_B), result;

	if (UNLIKELY(!(a > 0.0 && a < HUGE_VAL && b > -1000.0 && b < 1000.0))) {
		DEOPT();
		return;
	}
	result = opt_power(a, b);
	if (UNLIKELY(!(result > 0.0 && result < HUGE_VAL))) {
		DEOPT();
		return;
	}
	FLOAT(HOLE_C) = result;
	CONT();
}
