/* Stencils of the optimising tier on iterators, and on the pairs that some of them give. */
#include "jit/iterators.h"
#include "jit/stencils_opt.h"

/* An iterator over the list or tuple in the frame at A; it goes to B. */
#define ITERATE(name, type)                                      \
	void op_OPT_ITERATE_##name(void)                         \
	{                                                        \
		PyObject *items = SLOT(HOLE_A);                  \
		GUARD(items && items->ob_type == &type);         \
		SLOT_OR_DEOPT(HOLE_B, opt_list_iterator(items)); \
	}

ITERATE(LIST, PyList_Type)
ITERATE(TUPLE, PyTuple_Type)

/* The next element of the list or tuple whose iterator is in the frame at A. An element of
 * another type than expected is left where it is. */
#define NEXT(name, type, items, kind, end)                                \
	void op_OPT_FOR_##name##_##kind(void)                             \
	{                                                                 \
		struct items##_iterator *iterator =                       \
			(struct items##_iterator *)SLOT(HOLE_A);          \
		Py##type##Object *items = iterator->items;                \
		if (LIKELY(items && iterator->index < Py_SIZE(items))) {  \
			PyObject *item = items->ob_item[iterator->index]; \
			GUARD(IS_##kind(item));                           \
			iterator->index++;                                \
			TAKE_##kind(HOLE_B, item);                        \
			CONT();                                           \
			return;                                           \
		}                                                         \
		end;                                                      \
	}

/* EXIT: the list would end with its iterator, or somebody else has the iterator. */
static inline __attribute__((always_inline)) void end_list(
	struct list_iterator *iterator, PyListObject *list)
{
	GUARD_OR(!list || list->ob_base.ob_base.ob_refcnt != 1, EXIT());
	GUARD_OR(iterator->ob_base.ob_refcnt <= 1, EXIT());
	SLOT(HOLE_A) = NULL;
	opt_drop((PyObject *)iterator);
	TARGET();
}

NEXT(LIST, List, list, FLOAT, end_list(iterator, list))
NEXT(LIST, List, list, INT, end_list(iterator, list))
NEXT(LIST, List, list, FRAME, end_list(iterator, list))
NEXT(TUPLE, Tuple, tuple, FLOAT, EXIT())
NEXT(TUPLE, Tuple, tuple, INT, EXIT())
NEXT(TUPLE, Tuple, tuple, FRAME, EXIT())

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

/* What opt_enumerate_next() and opt_zip_next() have found. */
static inline __attribute__((always_inline)) void go_on(int more)
{
	if (LIKELY(more > 0))
		CONT();
	else if (more < 0)
		DEOPT();
	else
		EXIT();
}

/* enumerate() over a list, tuple or string: the element to B, its number to slot C. */
void op_OPT_FOR_ENUMERATE(void)
{
	go_on(opt_enumerate_next(SLOT(HOLE_A), SLOT_AT(HOLE_B), &INT(HOLE_C)));
}

/* zip() of two such: the first to B, the second to C. */
void op_OPT_FOR_ZIP(void)
{
	go_on(opt_zip_next(SLOT(HOLE_A), SLOT_AT(HOLE_B), SLOT_AT(HOLE_C)));
}

/* The pair in the frame at A: its second to A, its first to B. */
void op_OPT_UNPACK_PAIR(void)
{
	PyObject *pair = SLOT(HOLE_A), *first, *second;

	GUARD(pair && pair->ob_type == &PyTuple_Type && Py_SIZE(pair) == 2);
	first = PyTuple_GET_ITEM(pair, 0);
	second = PyTuple_GET_ITEM(pair, 1);
	Py_INCREF(first);
	Py_INCREF(second);
	SLOT(HOLE_A) = second;
	SLOT(HOLE_B) = first;
	drop(pair);
	CONT();
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
	SLOT(HOLE_A) = opt_pair(BOX_INT(HOLE_C), SLOT(HOLE_A));
	CONT();
}
