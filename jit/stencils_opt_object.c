/* Stencils of the optimising tier on objects: elements, attributes, strings. */
#include "jit/stencils_opt.h"

/* A local that may be nothing. */
void op_OPT_CHECK(void)
{
	GUARD(SLOT(HOLE_A));
	CONT();
}

/* Whether an object has something at an index, which may count from the end; it counts from
 * the start then. */
static inline __attribute__((always_inline)) bool has_index(PyObject *object, long *index)
{
	if (UNLIKELY(*index < 0))
		*index += Py_SIZE(object);
	return LIKELY((unsigned long)*index < (unsigned long)Py_SIZE(object));
}

/* The element B of the list or tuple in the frame at A; NULL is no bool. */
#define ELEMENT(name, kind, test)                                           \
	void op_OPT_ELEMENT_##name##_##kind(void)                           \
	{                                                                   \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B)); \
		GUARD(test);                                                \
		TAKE_##kind(HOLE_C, item);                                  \
		CONT();                                                     \
	}

#define ELEMENTS(name, type, items)                                     \
	static inline __attribute__((always_inline))                    \
	PyObject *element_##name(PyObject *object, long index)          \
	{                                                               \
		if (UNLIKELY(!object || object->ob_type != &type))      \
			return NULL;                                    \
		return has_index(object, &index) ? items[index] : NULL; \
	}                                                               \
	ELEMENT(name, FLOAT, item != NULL && IS_FLOAT(item))            \
	ELEMENT(name, INT, item != NULL && IS_INT(item))                \
	ELEMENT(name, BOOL, IS_BOOL(item))                              \
	ELEMENT(name, FRAME, item != NULL && IS_FRAME(item))

ELEMENTS(LIST, PyList_Type, ((PyListObject *)object)->ob_item)
ELEMENTS(TUPLE, PyTuple_Type, ((PyTupleObject *)object)->ob_item)

/* The end of a stencil that puts a new object, or NULL, in the place of an old one. */
static inline __attribute__((always_inline)) void put(
	PyObject **at, PyObject *old, PyObject *new)
{
	GUARD(new);
	*at = new;
	drop(old);
	CONT();
}

/* The same with the float in slot C: one that only this place has is changed where it is. */
static inline __attribute__((always_inline)) void put_float(PyObject **at, PyObject *old)
{
	if (LIKELY(old->ob_refcnt == 1 && IS_FLOAT(old))) {
		((PyFloatObject *)old)->ob_fval = FLOAT(HOLE_C);
		CONT();
		return;
	}
	put(at, old, opt_new_float(FLOAT(HOLE_C)));
}

/* What is overwritten must be nothing that notices. */
static inline __attribute__((always_inline)) PyObject **place(
	PyObject *object, long index)
{
	PyObject *old;

	if (UNLIKELY(!object || object->ob_type != &PyList_Type) ||
		!has_index(object, &index))
		return NULL;
	old = ((PyListObject *)object)->ob_item[index];
	if (UNLIKELY(old->ob_type != &PyFloat_Type && old->ob_type != &PyLong_Type &&
		     old->ob_type != &PyBool_Type && old->ob_refcnt == 1))
		return NULL;
	return &((PyListObject *)object)->ob_item[index];
}

/* The number in slot C becomes the element B of the list at A. */
#define PUT(kind, finish)                                         \
	void op_OPT_PUT_##kind(void)                              \
	{                                                         \
		PyObject **at = place(SLOT(HOLE_A), INT(HOLE_B)); \
		PyObject *old;                                    \
		GUARD(at);                                        \
		old = *at;                                        \
		finish;                                           \
	}

PUT(INT, put(at, old, opt_new_int(INT(HOLE_C))))
PUT(BOOL, put(at, old, BOX_BOOL(HOLE_C)))
PUT(FLOAT, put_float(at, old))

void op_OPT_LENGTH(void)
{
	PyObject *object = SLOT(HOLE_A);

	GUARD(object &&
		(object->ob_type == &PyList_Type || object->ob_type == &PyTuple_Type));
	INT(HOLE_B) = Py_SIZE(object);
	CONT();
}

/* The object at A on the stack is not needed any more: somebody else has it, too. */
void op_OPT_RELEASE(void)
{
	PyObject *object = SLOT(HOLE_A);

	SLOT(HOLE_A) = NULL;
	drop(object);
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

/* Where an attribute is: in the object at an offset, or in its values at an index. B is the
 * version of its type. NULL where the object is of another. */
static inline __attribute__((always_inline)) PyObject **in_slot(
	PyObject *object, uint32_t version, intptr_t offset)
{
	if (UNLIKELY(!object || object->ob_type->tp_version_tag != version))
		return NULL;
	return (PyObject **)((char *)object + offset);
}

static inline __attribute__((always_inline)) PyObject **in_values(
	PyObject *object, uint32_t version, intptr_t offset)
{
	char *values;

	if (UNLIKELY(!object || object->ob_type->tp_version_tag != version))
		return NULL;
	values = ((char **)object)[-4];
	return UNLIKELY(!values) ? NULL : (PyObject **)(values + offset);
}

#define FIND(place)                                                                    \
	PyObject **at =                                                                \
		in_##place(SLOT(HOLE_A), (uint32_t)HOLE32(HOLE_B), (intptr_t)&HOLE_D); \
	PyObject *item = LIKELY(at != NULL) ? *at : NULL

/* To C. */
#define LOAD(place, kind)                               \
	void op_OPT_LOAD_##place##_##kind(void)         \
	{                                               \
		FIND(place);                            \
		GUARD(item != NULL && IS_##kind(item)); \
		TAKE_##kind(HOLE_C, item);              \
		CONT();                                 \
	}

/* A number takes the place of another one. */
#define STORE(place, kind, finish)                                     \
	void op_OPT_STORE_##place##_##kind(void)                       \
	{                                                              \
		FIND(place);                                           \
		GUARD(item && (item->ob_type == &PyFloat_Type ||       \
				      item->ob_type == &PyLong_Type)); \
		finish;                                                \
	}

#define ATTRIBUTES(place)                        \
	LOAD(place, FLOAT)                       \
	LOAD(place, INT)                         \
	LOAD(place, BOOL)                        \
	LOAD(place, FRAME)                       \
	STORE(place, FLOAT, put_float(at, item)) \
	STORE(place, INT, put(at, item, opt_new_int(INT(HOLE_C))))

ATTRIBUTES(slot)
ATTRIBUTES(values)

/* The object at A on the stack goes from under what is at B, which takes its place. */
void op_OPT_RELEASE_UNDER(void)
{
	PyObject *object = SLOT(HOLE_A);

	SLOT(HOLE_A) = SLOT(HOLE_B);
	SLOT(HOLE_B) = NULL;
	drop(object);
	CONT();
}

/* Somebody else has the object at A, or nobody would notice its end. */
void op_OPT_CHECK_SHARED(void)
{
	GUARD(is_free(SLOT(HOLE_A)));
	CONT();
}

/* The object at A is B. */
void op_OPT_CHECK_OBJECT(void)
{
	GUARD((uintptr_t)SLOT(HOLE_A) == HOLE64(HOLE_B));
	CONT();
}

/* The object at A is an instance of just the type B. */
void op_OPT_CHECK_TYPE(void)
{
	PyObject *object = SLOT(HOLE_A);

	GUARD(object && (uintptr_t)object->ob_type == HOLE64(HOLE_B));
	CONT();
}

/* The character B of the string at A, to C. */
void op_OPT_ELEMENT_STRING(void)
{
	SLOT_OR_DEOPT(HOLE_C, opt_character(SLOT(HOLE_A), INT(HOLE_B)));
}

/* Whether the strings at A and B are equal, or (D: 1) are not, to slot C. */
void op_OPT_SAME_STRING(void)
{
	PyObject *a = SLOT(HOLE_A), *b = SLOT(HOLE_B);

	GUARD(a && b && a->ob_type == &PyUnicode_Type && b->ob_type == &PyUnicode_Type);
	INT(HOLE_C) = (a == b || opt_same_string(a, b)) ^ HOLE_INT(HOLE_D);
	CONT();
}

/* What is at B (owned), or a new number of slot B, goes to the end of the list at A. */
#define APPEND(name, value)                                                   \
	void op_OPT_APPEND_##name(void)                                       \
	{                                                                     \
		PyListObject *list = (PyListObject *)SLOT(HOLE_A);            \
		PyObject *new;                                                \
		Py_ssize_t size;                                              \
		GUARD(list && list->ob_base.ob_base.ob_type == &PyList_Type); \
		new = value;                                                  \
		size = Py_SIZE(list);                                         \
		if (LIKELY(size < list->allocated)) {                         \
			list->ob_item[size] = new;                            \
			Py_SET_SIZE(list, size + 1);                          \
			CONT();                                               \
			return;                                               \
		}                                                             \
		opt_append(list, new);                                        \
		CONT();                                                       \
	}

APPEND(FRAME, SLOT(HOLE_B); SLOT(HOLE_B) = NULL)
APPEND(INT, BOX_INT(HOLE_B))
APPEND(FLOAT, BOX_FLOAT(HOLE_B))
APPEND(BOOL, BOX_BOOL(HOLE_B))

/* The object at C (owned) becomes element B of the list at A. EXIT: what was there may
 * notice its end. */
void op_OPT_PUT_FRAME(void)
{
	PyListObject *list = (PyListObject *)SLOT(HOLE_A);
	long index = INT(HOLE_B);
	PyObject *old;

	GUARD(list && list->ob_base.ob_base.ob_type == &PyList_Type);
	GUARD(has_index((PyObject *)list, &index));
	old = list->ob_item[index];
	list->ob_item[index] = SLOT(HOLE_C);
	SLOT(HOLE_C) = NULL;
	if (LIKELY(old->ob_refcnt > 1)) {
		old->ob_refcnt--;
		CONT();
		return;
	}
	/* On the stack, until the numbers are in the frame. */
	SLOT(HOLE_C) = old;
	EXIT();
}

/* The list at A from slot B to slot C by steps of D, as a new list at E. */
void op_OPT_SLICE(void)
{
	SLOT_OR_DEOPT(HOLE_E,
		opt_slice(SLOT(HOLE_A), INT(HOLE_B), INT(HOLE_C), (long)HOLE64(HOLE_D)));
}

/* The list at D (owned) takes the place of the elements from slot B to slot C of the list at
 * A. */
void op_OPT_PUT_SLICE(void)
{
	GUARD(opt_put_slice(SLOT(HOLE_A), INT(HOLE_B), INT(HOLE_C), SLOT(HOLE_D)));
	SLOT(HOLE_D) = NULL;
	CONT();
}
