/* Stencils of iteration: the next item of an iterator by its kind, and compiled generators
 * and coroutines that are gone on with straight from compiled code, which is gen_send_ex2()
 * of Objects/genobject.c and the trip through the evaluation hook in one.
 *
 * The iterator is in slot A. A stub leaves by CONT with the item on top, by TARGET at the
 * end, and by EXIT for any other kind of iterator. */
#include "jit/stencils.h"

#include "jit/iterators.h"
#include "jit/runtime_generator.h"

extern PyObject *native_resume(uintptr_t) __asm__("CALLEE");

#define GUARD(condition) GUARD_OR(condition, EXIT())

/* Without an exception: the iterator is dropped. */
void op_ITERATE_END(void)
{
	SET_INSTRUCTION();
	GUARD_OR(runtime_iterator_end(thread, frame, SLOT(HOLE_A)) >= 0, ERROR());
	TARGET();
}

/* In these TARGET is ITERATE_END. */
void op_ITERATE_RANGE(void)
{
	struct range_iterator *range = (struct range_iterator *)SLOT(HOLE_A);

	GUARD(range->ob_base.ob_type == &PyRangeIter_Type);
	GUARD_OR(range->index < range->length, TARGET());
	top = runtime_new_int(range->start + range->index++ * range->step);
	CONT_UNLESS_ERROR(top);
}

/* At its end the iterator forgets what it was over. */
#define ITERATE(name, type, items)                                                      \
	void op_ITERATE_##name(void)                                                    \
	{                                                                               \
		struct items##_iterator *own = (struct items##_iterator *)SLOT(HOLE_A); \
		Py##type##Object *items = own->items;                                   \
		GUARD(own->ob_base.ob_type == &Py##type##Iter_Type);                    \
		if (LIKELY(items && own->index < Py##type##_GET_SIZE(items))) {         \
			top = Py_NewRef(Py##type##_GET_ITEM(items, own->index++));      \
			CONT();                                                         \
			return;                                                         \
		}                                                                       \
		SET_INSTRUCTION();                                                      \
		top = Py##type##Iter_Type.tp_iternext((PyObject *)own);                 \
		TARGET();                                                               \
	}

ITERATE(LIST, List, list)
ITERATE(TUPLE, Tuple, tuple)

/* Any other kind, by the function C that gives its next item. */
void op_ITERATE_OTHER(void)
{
	PyObject *iterator = SLOT(HOLE_A);

	GUARD(Py_TYPE(iterator)->tp_iternext == (iternextfunc)HOLE64(HOLE_C));
	SET_INSTRUCTION();
	top = ((iternextfunc)HOLE64(HOLE_C))(iterator);
	GUARD_OR(top, TARGET());
	CONT();
}

/* A miss: B is the cache. */
void op_ITERATE_MISS(void)
{
	SET_INSTRUCTION();
	top = runtime_iterate_miss(thread, SLOT(HOLE_A), (struct cache *)HOLE64(HOLE_B));
	GUARD_OR(top, TARGET());
	CONT();
}

/* A generator or coroutine, of type D, that waits in the code B, whose table of entries is
 * G: the address to go on at goes on. */
void op_RESUME_GUARD(void)
{
	PyGenObject *generator = (PyGenObject *)SLOT(HOLE_A);
	_PyInterpreterFrame *callee = (_PyInterpreterFrame *)generator->gi_iframe;

	GUARD(Py_TYPE(generator) == (PyTypeObject *)HOLE64(HOLE_D));
	GUARD(callee->f_code == (PyCodeObject *)HOLE64(HOLE_B));
	GUARD(generator->gi_frame_state < FRAME_EXECUTING);
	GUARD(thread->recursion_remaining > 1);
	GUARD(stack_pointer() > ((struct activation *)thread->cframe)->floor);
	GUARD(!thread->cframe->use_tracing);
	uintptr_t unit = (uintptr_t)callee->prev_instr + sizeof(_Py_CODEUNIT) -
			 (uintptr_t)_PyCode_CODE((PyCodeObject *)HOLE64(HOLE_B));
	uintptr_t address = *(uint32_t *)(HOLE64(HOLE_G) + unit * 2);
	GUARD(address != 0);
	cont_number(address);
}

/* What is sent, in slot B, must be None the first time. */
void op_RESUME_SENDS(uintptr_t address)
{
	PyGenObject *generator = (PyGenObject *)SLOT(HOLE_A);

	GUARD(generator->gi_frame_state == FRAME_SUSPENDED || SLOT(HOLE_B) == Py_None);
	cont_number(address);
}

static inline __attribute__((always_inline)) PyObject *resume(
	PyGenObject *generator, uintptr_t address, PyObject *value)
{
	_PyInterpreterFrame *callee = (_PyInterpreterFrame *)generator->gi_iframe;
	/* In memory, so that the stencil's frame can be padded. */
	_PyInterpreterFrame *volatile caller = frame;
	PyObject *result;

	Py_INCREF(value);
	callee->localsplus[callee->stacktop] = value;
	callee->stacktop = -1;
	callee->is_entry = true;
	callee->previous = frame;
	generator->gi_exc_state.previous_item = thread->exc_info;
	thread->exc_info = &generator->gi_exc_state;
	generator->gi_frame_state = FRAME_EXECUTING;
	thread->recursion_remaining--;
	thread->cframe->current_frame = callee;
	SET_INSTRUCTION();
	frame = callee;
	result = native_resume(address);
	frame = caller;
	return result;
}

/* It has handed something out or is over. */
static inline __attribute__((always_inline)) bool is_suspended(PyGenObject *generator)
{
	thread->exc_info = generator->gi_exc_state.previous_item;
	generator->gi_exc_state.previous_item = NULL;
	((_PyInterpreterFrame *)generator->gi_iframe)->previous = NULL;
	return generator->gi_frame_state == FRAME_SUSPENDED;
}

extern void target_near(void) __asm__("TARGET");

/* A loop over a generator; TARGET is ITERATE_END, with the exception or without one. */
void op_RESUME_ITERATE(uintptr_t address)
{
	top = resume((PyGenObject *)SLOT(HOLE_A), address, Py_None);
	if (LIKELY(is_suspended((PyGenObject *)SLOT(HOLE_A)) && top)) {
		CONT();
		return;
	}
	runtime_generator_over((PyGenObject *)SLOT(HOLE_A), top, true);
	target_near();
}

/* SEND: the value in slot B is replaced by what is handed out, or the generator by what it
 * returns. */
void op_RESUME_SEND(uintptr_t address)
{
	PyObject *value;

	top = resume((PyGenObject *)SLOT(HOLE_A), address, SLOT(HOLE_B));
	value = SLOT(HOLE_B);
	if (LIKELY(is_suspended((PyGenObject *)SLOT(HOLE_A)) && top)) {
		SLOT(HOLE_B) = top;
		RELEASE(value);
		CONT();
		return;
	}
	SLOT(HOLE_B) = NULL;
	if (runtime_generator_sent(SLOT_AT(HOLE_A), top, value) < 0)
		error_near();
	else
		target_near();
}

/* B is the cache, C the place above the stack. */
void op_SEND_MISS(void)
{
	int result;

	SET_INSTRUCTION();
	result = runtime_send_miss(
		thread, frame, SLOT_AT(HOLE_C), (struct cache *)HOLE64(HOLE_B));
	GUARD_OR(result >= 0, ERROR());
	JUMP_IF(result);
}
