/* Stencils of calls from compiled code straight into compiled code: a real frame is
 * pushed, the trip through the evaluation hook is saved.
 *
 * A stub is strung together from them: room, the callable, the locals one by one, the call.
 * What is called and where its frame will be go from one to the next as arguments. EXIT is
 * for every case that is not the plain one; nothing has changed then. */
#include "jit/stencils.h"

extern PyObject *native(void) __asm__("CALLEE");

#define GUARD(condition) GUARD_OR(condition, EXIT())

#define COLLECTOR (_PyRuntime._main_interpreter.gc)

/* Whether a new frame of C bytes fits the data stack, the recursion limit, which it takes D
 * levels of, and the C stack. */
#define HAS_ROOM()                                                          \
	(thread->recursion_remaining > HOLE_INT(HOLE_D) &&                  \
		HOLE_INT(HOLE_C) < (char *)thread->datastack_limit -        \
					   (char *)thread->datastack_top && \
		stack_pointer() > ((struct activation *)thread->cframe)->floor)

void op_CALL_ROOM(void)
{
	GUARD(HAS_ROOM());
	CONT();
}

/* The same where two operands go on. */
void op_CALL_ROOM_OPERANDS(PyObject *a, PyObject *b)
{
	GUARD_OR(HAS_ROOM(), exit2(a, b));
	cont2(a, b);
}

/* The callables: the entries of the call start at A, and B is the code object. */
#define IS_CALLEE(object)                       \
	(Py_TYPE(object) == &PyFunction_Type && \
		((PyFunctionObject *)(object))->func_code == HOLE_OBJECT(HOLE_B))

#define FOUND(function) cont2((function), (PyObject *)thread->datastack_top)

void op_CALL_FUNCTION(void)
{
	PyObject **base = SLOT_AT(HOLE_A);

	GUARD(base[0] == NULL);
	GUARD(IS_CALLEE(base[1]));
	FOUND(base[1]);
}

void op_CALL_METHOD(void)
{
	PyObject **base = SLOT_AT(HOLE_A);

	GUARD(base[0] != NULL);
	GUARD(IS_CALLEE(base[0]));
	FOUND(base[0]);
}

/* A bound method becomes function and self: UNBIND, where all guards have passed. */
void op_CALL_BOUND(void)
{
	PyObject **base = SLOT_AT(HOLE_A);
	PyObject *method = base[1];

	GUARD(base[0] == NULL);
	GUARD(Py_TYPE(method) == &PyMethod_Type);
	GUARD(IS_CALLEE(((PyMethodObject *)method)->im_func));
	FOUND(((PyMethodObject *)method)->im_func);
}

void op_CALL_UNBIND(PyObject *function, PyObject *callee)
{
	PyObject **base = SLOT_AT(HOLE_A);
	PyObject *method = base[1];

	(void)callee;
	base[0] = function;
	base[1] = ((PyMethodObject *)method)->im_self;
	Py_INCREF(base[0]);
	Py_INCREF(base[1]);
	RELEASE(method);
	FOUND(SLOT(HOLE_A));
}

/* A class, D with version E, whose instances are made by object.__new__() and then given
 * to the function G. Making one must not start a collection: that could change anything. */
void op_CALL_CLASS(void)
{
	PyObject **base = SLOT_AT(HOLE_A);

	GUARD(base[0] == NULL);
	GUARD(base[1] == HOLE_OBJECT(HOLE_D) && Py_TYPE(base[1]) == &PyType_Type);
	GUARD(((PyTypeObject *)base[1])->tp_version_tag == (unsigned)HOLE32(HOLE_E));
	GUARD(((PyFunctionObject *)HOLE64(HOLE_G))->func_code == HOLE_OBJECT(HOLE_B));
	GUARD(COLLECTOR.generations[0].count < COLLECTOR.generations[0].threshold ||
		!COLLECTOR.enabled);
	FOUND(HOLE_OBJECT(HOLE_G));
}

/* The instance waits in A, and with it its class behind, until its __init__() is through. */
void op_CALL_NEW(PyObject *function, PyObject *callee)
{
	PyObject *self = runtime_new_instance((PyTypeObject *)SLOT_AT(HOLE_A)[1]);

	(void)function;
	(void)callee;
	if (UNLIKELY(!self)) {
		SET_INSTRUCTION();
		runtime_drop_entries(SLOT_AT(HOLE_A), HOLE_ARGUMENT(HOLE_B));
		ERROR();
		return;
	}
	SLOT(HOLE_A) = self;
	thread->recursion_remaining--;
	FOUND(Py_NewRef(HOLE_OBJECT(HOLE_G)));
}

/* The function has A defaults. */
void op_CALL_DEFAULTS(PyObject *function, PyObject *callee)
{
	PyObject *defaults = ((PyFunctionObject *)function)->func_defaults;

	GUARD(defaults != NULL && PyTuple_GET_SIZE(defaults) == HOLE_INT(HOLE_A));
	cont2(function, callee);
}

/* A local, B bytes into the frame: from the stack, a default at offset A, nothing. */
#define LOCAL(hole) (*(PyObject **)((char *)callee + HOLE_INT(hole)))

void op_CALL_MOVE(PyObject *function, PyObject *callee)
{
	LOCAL(HOLE_B) = SLOT(HOLE_A);
	cont2(function, callee);
}

void op_CALL_SHARE(PyObject *function, PyObject *callee)
{
	PyObject *value = SLOT(HOLE_A);

	Py_INCREF(value);
	LOCAL(HOLE_B) = value;
	cont2(function, callee);
}

void op_CALL_DEFAULT(PyObject *function, PyObject *callee)
{
	char *defaults = (char *)((PyFunctionObject *)function)->func_defaults;
	PyObject *value = *(PyObject **)(defaults + HOLE_INT(HOLE_A));

	Py_INCREF(value);
	LOCAL(HOLE_B) = value;
	cont2(function, callee);
}

void op_CALL_CLEAR(PyObject *function, PyObject *callee)
{
	LOCAL(HOLE_B) = NULL;
	cont2(function, callee);
}

void op_CALL_CLEAR_MANY(PyObject *function, PyObject *callee)
{
	intptr_t at = HOLE_INT(HOLE_A);

	for (; at < HOLE_INT(HOLE_B); at += (intptr_t)sizeof(PyObject *))
		*(PyObject **)((char *)callee + at) = NULL;
	cont2(function, callee);
}

/* The locals are there: _PyFrame_InitializeSpecials(), and the native code. The callee
 * unlinks its own frame. */
static inline __attribute__((always_inline)) PyObject *enter(
	PyFunctionObject *function, _PyInterpreterFrame *callee)
{
	PyCodeObject *code = (PyCodeObject *)HOLE64(HOLE_B);
	/* In memory, so that the stencil's frame can be padded. */
	_PyInterpreterFrame *volatile caller = frame;
	PyObject *result;

	thread->datastack_top = (PyObject **)((char *)callee + HOLE_INT(HOLE_C));
	callee->f_func = function;
	callee->f_globals = function->func_globals;
	callee->f_builtins = function->func_builtins;
	callee->f_locals = NULL;
	Py_INCREF(code);
	callee->f_code = code;
	callee->frame_obj = NULL;
	callee->previous = frame;
	callee->prev_instr = _PyCode_CODE(code) - 1;
	callee->stacktop = -1;
	callee->is_entry = false;
	callee->owner = FRAME_OWNED_BY_THREAD;
	thread->recursion_remaining--;
	thread->cframe->current_frame = callee;
	SET_INSTRUCTION();
	frame = callee;
	result = native();
	frame = caller;
	return result;
}

#define ENTER(function, callee) \
	enter((PyFunctionObject *)(function), (_PyInterpreterFrame *)(callee))

void op_CALL_ENTER(PyObject *function, PyObject *callee)
{
	PyObject *result = ENTER(function, callee);

	if (UNLIKELY(!result)) {
		error_near();
		return;
	}
	top = result;
	CONT();
}

/* The same for an __init__(): the instance, which waits in A, is the result. */
void op_CALL_ENTER_INIT(PyObject *function, PyObject *callee)
{
	PyObject *result = ENTER(function, callee);
	PyObject *type = SLOT_AT(HOLE_A)[1];

	thread->recursion_remaining++;
	top = SLOT(HOLE_A);
	if (UNLIKELY(result != Py_None)) {
		runtime_init_failed(result, top, type);
		error_near();
		return;
	}
	Py_None->ob_refcnt--;
	RELEASE(type);
	CONT();
}

void op_CALL_MISS(void)
{
	SET_INSTRUCTION();
	TOP_UNLESS_ERROR(runtime_call_miss(
		thread, frame, SLOT_AT(HOLE_A), (struct cache *)HOLE64(HOLE_B)));
}

/* super().NAME for a call: the entries of the call of super() are at A, the name is C, the
 * local with the class's cell is B. TARGET is where the attribute raises. */
void op_SUPER_METHOD(void)
{
	int result;

	SET_INSTRUCTION();
	result = runtime_super_method(thread, frame, SLOT_AT(HOLE_A), HOLE_OBJECT(HOLE_C),
		HOLE_ARGUMENT(HOLE_B));
	if (UNLIKELY(result)) {
		if (result < 0)
			ERROR();
		else
			TARGET();
		return;
	}
	CONT();
}
