/* Stencils for the flow of control: jumps, exits, returns, loops, the generic
 * instruction.
 */
#include "jit/check.h"
#include "jit/stencils.h"

/* An instruction whose work a C function does on the stack in memory. */
void op_GENERIC(void)
{
	SET_INSTRUCTION();
	CONT_UNLESS_ERROR(
		callee_op(thread, frame, SLOT_AT(HOLE_A), HOLE_ARGUMENT(HOLE_B)) >= 0);
}

/* The same where it decides between two ways: 1 jumps. */
void op_GENERIC_JUMP(void)
{
	int result;

	SET_INSTRUCTION();
	result = callee_op(thread, frame, SLOT_AT(HOLE_A), HOLE_ARGUMENT(HOLE_B));
	GUARD_OR(result >= 0, ERROR());
	JUMP_IF(result);
}

/* The same where the frame is left: the function's value is returned, NULL raises. */
void op_GENERIC_LEAVE(void)
{
	PyObject *value;

	SET_INSTRUCTION();
	value = callee_leave(thread, frame, SLOT_AT(HOLE_A), HOLE_ARGUMENT(HOLE_B));
	GUARD_OR(value, ERROR());
	cont1(value);
}

/* Which instruction it was, for the common ends below. */
void op_EXIT_NUMBER(void)
{
	cont_number(HOLE32(HOLE_A));
}

typedef void code(void);

void op_UNWIND(uintptr_t number)
{
	code *next = (code *)runtime_unwind(
		thread, frame, (struct compiled *)HOLE64(HOLE_A), (uint32_t)number, top);

	next();
}

void op_RERAISE(uintptr_t number)
{
	code *next = (code *)runtime_reraise(
		thread, frame, (struct compiled *)HOLE64(HOLE_A), (uint32_t)number, top);

	next();
}

void op_DEOPT(uintptr_t number)
{
	cont1(runtime_deopt(
		thread, frame, (struct compiled *)HOLE64(HOLE_A), (uint32_t)number, top));
}

void op_LEAVE_NULL(void)
{
	cont1(runtime_leaving());
}

void op_JUMP(void)
{
	TARGET();
}

/* Something wants attention: a signal, another thread, a trace function. */
void op_POLL(void)
{
	if (UNLIKELY(runtime_eval_breaker)) {
		SET_INSTRUCTION();
		GUARD_OR(runtime_handle_pending(thread) >= 0, ERROR());
	}
	GUARD_OR(!thread->cframe->use_tracing, DEOPT());
	CONT();
}

/* For -s: the instructions of a block. */
void op_COUNT_BLOCK(void)
{
	*(uint64_t *)HOLE64(HOLE_B) += HOLE32(HOLE_A);
	CONT();
}

/* For --check-stack: what is on the stack; A is the code, B the number of an exit here. */
void op_CHECK_STACK(void)
{
	check_stack(thread, frame, (struct compiled *)HOLE64(HOLE_A),
		HOLE_ARGUMENT(HOLE_B), top);
	CONT();
}

/* A guard that fails now and then, before an instruction. */
void op_STRESS(void)
{
	if (UNLIKELY(--runtime_stress <= 0)) {
		runtime_stress_again();
		DEOPT();
		return;
	}
	CONT();
}

/* The same before a guard of a cache: then it fails, with what was handed to it. */
void op_STRESS_GUARD(PyObject *a, PyObject *b, PyObject *c)
{
	if (UNLIKELY(--runtime_stress <= 0)) {
		runtime_stress_guard();
		exit3(a, b, c);
		return;
	}
	cont3(a, b, c);
}

void op_POLL_TRACING(void)
{
	GUARD_OR(!thread->cframe->use_tracing, DEOPT());
	CONT();
}

/* Truth of a value, borrowed or owned: jumps where it is what the name says. */
#define JUMP(name, stays, goes, owned, jumps)    \
	void op_JUMP_##name(PyObject *a)         \
	{                                        \
		int truth;                       \
		if (a == stays) {                \
			a->ob_refcnt -= owned;   \
			CONT();                  \
			return;                  \
		}                                \
		if (LIKELY(a == goes)) {         \
			a->ob_refcnt -= owned;   \
			TARGET();                \
			return;                  \
		}                                \
		SET_INSTRUCTION();               \
		truth = runtime_truth(a, owned); \
		GUARD_OR(truth >= 0, ERROR());   \
		JUMP_IF(jumps);                  \
	}

JUMP(TRUE, Py_False, Py_True, 0, truth)
JUMP(FALSE, Py_True, Py_False, 0, !truth)
JUMP(TRUE_OWNED, Py_False, Py_True, 1, truth)
JUMP(FALSE_OWNED, Py_True, Py_False, 1, !truth)

void op_JUMP_NONE(PyObject *a)
{
	JUMP_IF(a == Py_None);
}

void op_JUMP_NOT_NONE(PyObject *a)
{
	JUMP_IF(a != Py_None);
}

void op_JUMP_NONE_OWNED(PyObject *a)
{
	if (a == Py_None) {
		a->ob_refcnt--;
		TARGET();
		return;
	}
	RELEASE(a);
	CONT();
}

void op_JUMP_NOT_NONE_OWNED(PyObject *a)
{
	if (a == Py_None) {
		a->ob_refcnt--;
		CONT();
		return;
	}
	RELEASE(a);
	TARGET();
}

/* A generator hands out an owned value and waits; A is its stack's end. */
void op_YIELD(PyObject *a)
{
	SET_INSTRUCTION();
	_PyFrame_GetGenerator(frame)->gi_frame_state = FRAME_SUSPENDED;
	frame->stacktop = (int)HOLE32(HOLE_A);
	thread->recursion_remaining++;
	thread->cframe->current_frame = frame->previous;
	cont1(a);
}

/* Back to the caller with an owned value, which waits on top. The frame's A locals are
 * dropped by the stencils between, unless it is not the usual one: nobody has a frame
 * object of it, it has no namespace, it is not the first one of its chunk of the data
 * stack, and it is its own to drop. */
void op_RETURN(PyObject *a)
{
	top = a;
	SET_INSTRUCTION();
	thread->cframe->current_frame = frame->previous;
	if (UNLIKELY(frame->is_entry || frame->frame_obj || frame->f_locals ||
		     (PyObject **)frame == thread->datastack_chunk->data)) {
		TARGET();
		return;
	}
	CONT();
}

void op_RETURN_DROP(void)
{
	XRELEASE(SLOT(HOLE_A));
	CONT();
}

/* Many of them: A is their number. */
void op_RETURN_DROP_ALL(void)
{
	runtime_drop_locals(frame, HOLE_ARGUMENT(HOLE_A));
	CONT();
}

void op_RETURN_END(void)
{
	RELEASE((PyObject *)frame->f_func);
	RELEASE((PyObject *)frame->f_code);
	thread->recursion_remaining++;
	thread->datastack_top = (PyObject **)frame;
	cont1(top);
}

/* The other frames. */
void op_RETURN_OTHER(void)
{
	frame->stacktop = (int)HOLE32(HOLE_A);
	thread->recursion_remaining++;
	if (!frame->is_entry)
		runtime_clear_and_pop(thread, frame);
	cont1(top);
}
