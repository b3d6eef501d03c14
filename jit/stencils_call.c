/* Stencils of calls from compiled code straight into compiled code: a real frame is
 * pushed, the trip through the evaluation hook is saved.
 *
 * The entries of the call start at A. B is the code object guarded for, C the size of its
 * frame, D that of the arguments given, E that of all its locals, in bytes; G is where the
 * address of its native code is. EXIT is for every case that is not the plain one. */
#include "jit/stencils.h"

typedef PyObject *native(void);

#define GUARD(condition)                      \
	do {                                  \
		if (UNLIKELY(!(condition))) { \
			EXIT();               \
			return;               \
		}                             \
	} while (0)

static inline __attribute__((always_inline)) char *stack_pointer(void)
{
	char *address;

	__asm__("mov %%rsp, %0" : "=r"(address));
	return address;
}

/* Whether a new frame fits the data stack, the recursion limit and the C stack. */
#define HAS_ROOM()                                                          \
	(thread->recursion_remaining > 1 &&                                 \
		HOLE_INT(HOLE_C) < (char *)thread->datastack_limit -        \
					   (char *)thread->datastack_top && \
		stack_pointer() > ((struct activation *)thread->cframe)->floor)

/* _PyFrame_InitializeSpecials() and the arguments, moved; the other locals are NULL. */
#define PUSH_FRAME(function, arguments)                                           \
	do {                                                                      \
		_PyInterpreterFrame *callee =                                     \
			(_PyInterpreterFrame *)thread->datastack_top;             \
		PyCodeObject *code = (PyCodeObject *)function->func_code;         \
		char *from = (char *)(arguments);                                 \
		char *to = (char *)callee->localsplus;                            \
		thread->datastack_top =                                           \
			(PyObject **)((char *)callee + HOLE_INT(HOLE_C));         \
		callee->f_func = function;                                        \
		callee->f_globals = function->func_globals;                       \
		callee->f_builtins = function->func_builtins;                     \
		callee->f_locals = NULL;                                          \
		Py_INCREF(code);                                                  \
		callee->f_code = code;                                            \
		callee->frame_obj = NULL;                                         \
		callee->previous = frame;                                         \
		callee->prev_instr = _PyCode_CODE(code) - 1;                      \
		callee->stacktop = -1;                                            \
		callee->is_entry = false;                                         \
		callee->owner = FRAME_OWNED_BY_THREAD;                            \
		intptr_t at = 0;                                                  \
		for (; at < HOLE_INT(HOLE_D); at += (intptr_t)sizeof(PyObject *)) \
			*(PyObject **)(to + at) = *(PyObject **)(from + at);      \
		for (; at < HOLE_INT(HOLE_E); at += (intptr_t)sizeof(PyObject *)) \
			*(PyObject **)(to + at) = NULL;                           \
		thread->recursion_remaining--;                                    \
		thread->cframe->current_frame = callee;                           \
		SET_INSTRUCTION();                                                \
		frame = callee;                                                   \
	} while (0)

#define IS_CALLEE(object)                       \
	(Py_TYPE(object) == &PyFunction_Type && \
		((PyFunctionObject *)(object))->func_code == HOLE_OBJECT(HOLE_B))

void op_CALL_FUNCTION(void)
{
	PyObject **base = SLOT_AT(HOLE_A);

	GUARD(base[0] == NULL);
	GUARD(IS_CALLEE(base[1]));
	GUARD(HAS_ROOM());
	PUSH_FRAME(((PyFunctionObject *)base[1]), base + 2);
	CONT();
}

void op_CALL_METHOD(void)
{
	PyObject **base = SLOT_AT(HOLE_A);

	GUARD(base[0] != NULL);
	GUARD(IS_CALLEE(base[0]));
	GUARD(HAS_ROOM());
	PUSH_FRAME(((PyFunctionObject *)base[0]), base + 1);
	CONT();
}

/* A bound method becomes function and self first. */
void op_CALL_BOUND(void)
{
	PyObject **base = SLOT_AT(HOLE_A);
	PyObject *method = base[1];

	GUARD(base[0] == NULL);
	GUARD(Py_TYPE(method) == &PyMethod_Type);
	GUARD(IS_CALLEE(((PyMethodObject *)method)->im_func));
	GUARD(HAS_ROOM());
	base[0] = ((PyMethodObject *)method)->im_func;
	base[1] = ((PyMethodObject *)method)->im_self;
	Py_INCREF(base[0]);
	Py_INCREF(base[1]);
	RELEASE(method);
	base = SLOT_AT(HOLE_A);
	PUSH_FRAME(((PyFunctionObject *)base[0]), base + 1);
	CONT();
}

/* The frame has been pushed: calls its native code. */
void op_CALL_NATIVE(void)
{
	PyObject *result = (*(native **)HOLE64(HOLE_G))();

	/* The callee has unlinked its own frame. */
	frame = thread->cframe->current_frame;
	if (UNLIKELY(!result)) {
		ERROR();
		return;
	}
	top = result;
	CONT();
}

void op_CALL_MISS(void)
{
	SET_INSTRUCTION();
	PyObject *result = runtime_call_miss(
		thread, frame, SLOT_AT(HOLE_A), (struct cache *)HOLE64(HOLE_B));
	if (UNLIKELY(!result)) {
		ERROR();
		return;
	}
	top = result;
	CONT();
}
