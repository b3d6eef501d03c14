/* Stencils of the optimising tier on objects: elements, attributes, iterators. */
#include "jit/opt.h"
#include "jit/stencils_opt.h"

/* A local that may be nothing. */
void op_OPT_CHECK(void)
{
	if (UNLIKELY(!SLOT(HOLE_A)))
		DEOPT();
	else
		CONT();
}

/* The element B of the list or tuple in the frame at A. */
#define ELEMENT(name, type, items)                                                    \
	static inline __attribute__((always_inline))                                  \
	PyObject *element_##name(PyObject *object, long index)                        \
	{                                                                             \
		if (UNLIKELY(!object || object->ob_type != &type))                    \
			return NULL;                                                  \
		if (UNLIKELY(index < 0))                                              \
			index += Py_SIZE(object);                                     \
		if (UNLIKELY((unsigned long)index >= (unsigned long)Py_SIZE(object))) \
			return NULL;                                                  \
		return items[index];                                                  \
	}                                                                             \
	void op_OPT_ELEMENT_##name##_FLOAT(void)                                      \
	{                                                                             \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));           \
		if (UNLIKELY(!item || item->ob_type != &PyFloat_Type)) {              \
			DEOPT();                                                      \
			return;                                                       \
		}                                                                     \
		FLOAT(HOLE_C) = ((PyFloatObject *)item)->ob_fval;                     \
		CONT();                                                               \
	}                                                                             \
	void op_OPT_ELEMENT_##name##_INT(void)                                        \
	{                                                                             \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));           \
		if (UNLIKELY(!item || !is_small_int(item))) {                         \
			DEOPT();                                                      \
			return;                                                       \
		}                                                                     \
		INT(HOLE_C) = small_int(item);                                        \
		CONT();                                                               \
	}                                                                             \
	void op_OPT_ELEMENT_##name##_BOOL(void)                                       \
	{                                                                             \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));           \
		if (UNLIKELY(item != Py_True && item != Py_False)) {                  \
			DEOPT();                                                      \
			return;                                                       \
		}                                                                     \
		INT(HOLE_C) = item == Py_True;                                        \
		CONT();                                                               \
	}                                                                             \
	void op_OPT_ELEMENT_##name##_FRAME(void)                                      \
	{                                                                             \
		PyObject *item = element_##name(SLOT(HOLE_A), INT(HOLE_B));           \
		if (UNLIKELY(!item)) {                                                \
			DEOPT();                                                      \
			return;                                                       \
		}                                                                     \
		Py_INCREF(item);                                                      \
		SLOT(HOLE_C) = item;                                                  \
		CONT();                                                               \
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
 * type than expected is left where it is. */
#define FOR_LIST(name, test, store)                                            \
	void op_OPT_FOR_LIST_##name(void)                                      \
	{                                                                      \
		struct opt_list_iterator *iterator =                           \
			(struct opt_list_iterator *)SLOT(HOLE_A);              \
		PyListObject *list = iterator->it_seq;                         \
		if (LIKELY(list && iterator->it_index < Py_SIZE(list))) {      \
			PyObject *item = list->ob_item[iterator->it_index];    \
			if (UNLIKELY(!(test))) {                               \
				DEOPT();                                       \
				return;                                        \
			}                                                      \
			iterator->it_index++;                                  \
			store;                                                 \
			CONT();                                                \
			return;                                                \
		}                                                              \
		if (UNLIKELY((list && list->ob_base.ob_base.ob_refcnt == 1) || \
			     iterator->ob_base.ob_refcnt > 1)) {               \
			EXIT();                                                \
			return;                                                \
		}                                                              \
		SLOT(HOLE_A) = NULL;                                           \
		opt_drop((PyObject *)iterator);                                \
		TARGET();                                                      \
	}

FOR_LIST(FLOAT, item->ob_type == &PyFloat_Type,
	FLOAT(HOLE_B) = ((PyFloatObject *)item)->ob_fval)
FOR_LIST(INT, is_small_int(item), INT(HOLE_B) = small_int(item))
FOR_LIST(FRAME, 1, Py_INCREF(item); SLOT(HOLE_B) = item)

/* The iterator at A has no more; it goes, and with it perhaps what it was over. */
void op_OPT_FOR_END(void)
{
	PyObject *iterator = SLOT(HOLE_A);

	SET_INSTRUCTION();
	Py_TYPE(iterator)->tp_iternext(iterator);
	iterator = SLOT(HOLE_A);
	SLOT(HOLE_A) = NULL;
	RELEASE(iterator);
	TARGET();
}

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

#define ATTRIBUTE(place, name, test, store)                                         \
	void op_OPT_LOAD_##place##_##name(void)                                     \
	{                                                                           \
		PyObject **at = in_##place(                                         \
			SLOT(HOLE_A), (uint32_t)HOLE32(HOLE_B), (intptr_t)&HOLE_D); \
		PyObject *item = LIKELY(at != NULL) ? *at : NULL;                   \
		if (UNLIKELY(!item || !(test))) {                                   \
			DEOPT();                                                    \
			return;                                                     \
		}                                                                   \
		store;                                                              \
		CONT();                                                             \
	}

#define ATTRIBUTES(place)                                                           \
	ATTRIBUTE(place, FLOAT, item->ob_type == &PyFloat_Type,                     \
		FLOAT(HOLE_C) = ((PyFloatObject *)item)->ob_fval)                   \
	ATTRIBUTE(place, INT, is_small_int(item), INT(HOLE_C) = small_int(item))    \
	ATTRIBUTE(place, BOOL, item == Py_True || item == Py_False,                 \
		INT(HOLE_C) = item == Py_True)                                      \
	ATTRIBUTE(place, FRAME, 1, Py_INCREF(item); SLOT(HOLE_C) = item)            \
	void op_OPT_STORE_##place##_FLOAT(void)                                     \
	{                                                                           \
		PyObject **at = in_##place(                                         \
			SLOT(HOLE_A), (uint32_t)HOLE32(HOLE_B), (intptr_t)&HOLE_D); \
		PyObject *old = LIKELY(at != NULL) ? *at : NULL, *new;              \
		if (UNLIKELY(!old || (old->ob_type != &PyFloat_Type &&              \
					     old->ob_type != &PyLong_Type))) {      \
			DEOPT();                                                    \
			return;                                                     \
		}                                                                   \
		if (LIKELY(old->ob_refcnt == 1 && old->ob_type == &PyFloat_Type)) { \
			((PyFloatObject *)old)->ob_fval = FLOAT(HOLE_C);            \
			CONT();                                                     \
			return;                                                     \
		}                                                                   \
		new = opt_new_float(FLOAT(HOLE_C));                                 \
		if (UNLIKELY(!new)) {                                               \
			DEOPT();                                                    \
			return;                                                     \
		}                                                                   \
		*at = new;                                                          \
		if (--old->ob_refcnt == 0)                                          \
			opt_drop(old);                                              \
		CONT();                                                             \
	}                                                                           \
	void op_OPT_STORE_##place##_INT(void)                                       \
	{                                                                           \
		PyObject **at = in_##place(                                         \
			SLOT(HOLE_A), (uint32_t)HOLE32(HOLE_B), (intptr_t)&HOLE_D); \
		PyObject *old = LIKELY(at != NULL) ? *at : NULL, *new;              \
		if (UNLIKELY(!old || (old->ob_type != &PyFloat_Type &&              \
					     old->ob_type != &PyLong_Type))) {      \
			DEOPT();                                                    \
			return;                                                     \
		}                                                                   \
		new = opt_new_int(INT(HOLE_C));                                     \
		if (UNLIKELY(!new)) {                                               \
			DEOPT();                                                    \
			return;                                                     \
		}                                                                   \
		*at = new;                                                          \
		if (--old->ob_refcnt == 0)                                          \
			opt_drop(old);                                              \
		CONT();                                                             \
	}

ATTRIBUTES(slot)
ATTRIBUTES(values)

/* The object at A becomes the local B. What was there must be nothing that notices. */

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

/* The object at A on the stack goes from under what is at B, which takes its place. */
void op_OPT_RELEASE_UNDER(void)
{
	PyObject *object = SLOT(HOLE_A);

	SLOT(HOLE_A) = SLOT(HOLE_B);
	SLOT(HOLE_B) = NULL;
	if (UNLIKELY(--object->ob_refcnt == 0))
		opt_drop(object);
	CONT();
}

/* Somebody else has the object at A, or nobody would notice its end. */
void op_OPT_CHECK_SHARED(void)
{
	if (UNLIKELY(!is_free(SLOT(HOLE_A))))
		DEOPT();
	else
		CONT();
}

/* The object at A is B. */
void op_OPT_CHECK_OBJECT(void)
{
	if (UNLIKELY((uintptr_t)SLOT(HOLE_A) != HOLE64(HOLE_B)))
		DEOPT();
	else
		CONT();
}

/* The object at A is an instance of just the type B. */
void op_OPT_CHECK_TYPE(void)
{
	PyObject *object = SLOT(HOLE_A);

	if (UNLIKELY(!object || (uintptr_t)object->ob_type != HOLE64(HOLE_B)))
		DEOPT();
	else
		CONT();
}

/* The character B of the string at A, to C. */
void op_OPT_ELEMENT_STRING(void)
{
	PyObject *character = opt_character(SLOT(HOLE_A), INT(HOLE_B));

	if (UNLIKELY(!character)) {
		DEOPT();
		return;
	}
	SLOT(HOLE_C) = character;
	CONT();
}

/* Whether the strings at A and B are equal, or (D: 1) are not, to slot C. */
void op_OPT_SAME_STRING(void)
{
	PyObject *a = SLOT(HOLE_A), *b = SLOT(HOLE_B);

	if (UNLIKELY(!a || !b || a->ob_type != &PyUnicode_Type ||
		     b->ob_type != &PyUnicode_Type)) {
		DEOPT();
		return;
	}
	INT(HOLE_C) = (a == b || opt_same_string(a, b)) ^ HOLE_INT(HOLE_D);
	CONT();
}

/* What is at B (owned), or a new number of slot B, goes to the end of the list at A. */
#define APPEND(name, value)                                                             \
	void op_OPT_APPEND_##name(void)                                                 \
	{                                                                               \
		PyListObject *list = (PyListObject *)SLOT(HOLE_A);                      \
		PyObject *new;                                                          \
		Py_ssize_t size;                                                        \
		if (UNLIKELY(!list || list->ob_base.ob_base.ob_type != &PyList_Type)) { \
			DEOPT();                                                        \
			return;                                                         \
		}                                                                       \
		new = value;                                                            \
		size = Py_SIZE(list);                                                   \
		if (LIKELY(size < list->allocated)) {                                   \
			list->ob_item[size] = new;                                      \
			Py_SET_SIZE(list, size + 1);                                    \
			CONT();                                                         \
			return;                                                         \
		}                                                                       \
		opt_append(list, new);                                                  \
		CONT();                                                                 \
	}

APPEND(FRAME, SLOT(HOLE_B); SLOT(HOLE_B) = NULL)
APPEND(INT, opt_box_int(INT(HOLE_B)))
APPEND(FLOAT, opt_box_float(FLOAT(HOLE_B)))
APPEND(BOOL, Py_NewRef(INT(HOLE_B) ? Py_True : Py_False))

/* The object at C (owned) becomes element B of the list at A. EXIT: what was there may
 * notice its end. */
void op_OPT_PUT_FRAME(void)
{
	PyListObject *list = (PyListObject *)SLOT(HOLE_A);
	long index = INT(HOLE_B);
	PyObject *old;

	if (UNLIKELY(!list || list->ob_base.ob_base.ob_type != &PyList_Type)) {
		DEOPT();
		return;
	}
	if (UNLIKELY(index < 0))
		index += Py_SIZE(list);
	if (UNLIKELY((unsigned long)index >= (unsigned long)Py_SIZE(list))) {
		DEOPT();
		return;
	}
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

/* The next element of the tuple whose iterator is in the frame at A. */
struct tuple_iterator {
	PyObject ob_base;
	Py_ssize_t index;
	PyTupleObject *tuple;
};

#define FOR_TUPLE(name, test, store)                                                     \
	void op_OPT_FOR_TUPLE_##name(void)                                               \
	{                                                                                \
		struct tuple_iterator *iterator = (struct tuple_iterator *)SLOT(HOLE_A); \
		PyTupleObject *tuple = iterator->tuple;                                  \
		if (LIKELY(tuple && iterator->index < Py_SIZE(tuple))) {                 \
			PyObject *item = tuple->ob_item[iterator->index];                \
			if (UNLIKELY(!(test))) {                                         \
				DEOPT();                                                 \
				return;                                                  \
			}                                                                \
			iterator->index++;                                               \
			store;                                                           \
			CONT();                                                          \
			return;                                                          \
		}                                                                        \
		EXIT();                                                                  \
	}

FOR_TUPLE(FLOAT, item->ob_type == &PyFloat_Type,
	FLOAT(HOLE_B) = ((PyFloatObject *)item)->ob_fval)
FOR_TUPLE(INT, is_small_int(item), INT(HOLE_B) = small_int(item))
FOR_TUPLE(FRAME, 1, Py_INCREF(item); SLOT(HOLE_B) = item)

/* An iterator over the tuple in the frame at A; it goes to B. */
void op_OPT_ITERATE_TUPLE(void)
{
	PyObject *tuple = SLOT(HOLE_A), *iterator;

	if (UNLIKELY(!tuple || tuple->ob_type != &PyTuple_Type)) {
		DEOPT();
		return;
	}
	iterator = opt_list_iterator(tuple);
	if (UNLIKELY(!iterator)) {
		DEOPT();
		return;
	}
	SLOT(HOLE_B) = iterator;
	CONT();
}

/* enumerate() over a list, tuple or string: the element to B, its number to slot C. */
void op_OPT_FOR_ENUMERATE(void)
{
	int more = opt_enumerate_next(SLOT(HOLE_A), SLOT_AT(HOLE_B), &INT(HOLE_C));

	if (LIKELY(more > 0))
		CONT();
	else if (more < 0)
		DEOPT();
	else
		EXIT();
}

/* zip() of two such: the first to B, the second to C. */
void op_OPT_FOR_ZIP(void)
{
	int more = opt_zip_next(SLOT(HOLE_A), SLOT_AT(HOLE_B), SLOT_AT(HOLE_C));

	if (LIKELY(more > 0))
		CONT();
	else if (more < 0)
		DEOPT();
	else
		EXIT();
}

/* The values at A and B, or slot C's number and A, as a tuple at A: the first is the one
 * that comes second here. */
void op_OPT_PAIR_OBJECTS(void)
{
	SLOT(HOLE_A) = opt_pair(SLOT(HOLE_B), SLOT(HOLE_A));
	SLOT(HOLE_B) = NULL;
	CONT();
}

void op_OPT_PAIR_INT(void)
{
	SLOT(HOLE_A) = opt_pair(opt_box_int(INT(HOLE_C)), SLOT(HOLE_A));
	CONT();
}

/* The list at A from slot B to slot C by steps of D, as a new list at E. */
void op_OPT_SLICE(void)
{
	PyObject *list =
		opt_slice(SLOT(HOLE_A), INT(HOLE_B), INT(HOLE_C), (long)HOLE64(HOLE_D));

	if (UNLIKELY(!list)) {
		DEOPT();
		return;
	}
	SLOT(HOLE_E) = list;
	CONT();
}

/* The list at D (owned) takes the place of the elements from slot B to slot C of the list at
 * A. */
void op_OPT_PUT_SLICE(void)
{
	if (UNLIKELY(!opt_put_slice(
		    SLOT(HOLE_A), INT(HOLE_B), INT(HOLE_C), SLOT(HOLE_D)))) {
		DEOPT();
		return;
	}
	SLOT(HOLE_D) = NULL;
	CONT();
}
