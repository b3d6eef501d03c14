/* Exceptions in native code: what ceval.c does behind its labels `error`,
 * `exception_unwind` and `exit_unwind`. */
#include "jit/except.h"

#include "jit/frame.h"
#include "jit/jit.h"

struct handler {
	int level; /* depth that the stack is cut to */
	int unit;  /* code unit where it starts */
	int lasti; /* whether the raising instruction's index is pushed */
};

/* The table is ascending, so the last row that starts at or before `index` decides. */
static bool find_handler(const PyCodeObject *code, int index, struct handler *handler)
{
	PyObject *table = code->co_exceptiontable;
	unsigned char *at = (unsigned char *)PyBytes_AS_STRING(table);
	unsigned char *end = at + PyBytes_GET_SIZE(table);

	while (at < end) {
		int start;
		int size;
		int depth;

		at = parse_varint(at, &start);
		if (start > index)
			return false;
		at = parse_varint(at, &size);
		at = parse_varint(at, &handler->unit);
		at = parse_varint(at, &depth);
		if (start + size > index) {
			handler->level = depth >> 1;
			handler->lasti = depth & 1;
			return true;
		}
	}
	return false;
}

static void cut_stack(PyObject **bottom, PyObject **top)
{
	while (top > bottom) {
		PyObject *value = *--top;

		*top = NULL;
		Py_XDECREF(value);
	}
}

/* The exception as one object with its traceback in it, owned. */
static PyObject *take_exception(PyThreadState *thread)
{
	PyObject *type;
	PyObject *value;
	PyObject *traceback;

	_PyErr_Fetch(thread, &type, &value, &traceback);
	_PyErr_NormalizeException(thread, &type, &value, &traceback);
	PyException_SetTraceback(value, traceback ? traceback : Py_None);
	Py_XDECREF(traceback);
	Py_XDECREF(type);
	return value;
}

/* Tells a trace or profile function, which was set while native code ran, about an event.
 * What it does when it raises is the interpreter's: the exception is replaced. */
static void call_tracer(PyThreadState *thread, _PyInterpreterFrame *frame,
	Py_tracefunc tracer, PyObject *object, int what, PyObject *argument)
{
	PyFrameObject *visible;

	if (!tracer || thread->tracing)
		return;
	visible = _PyFrame_GetFrameObject(frame);
	if (!visible)
		return;
	PyThreadState_EnterTracing(thread);
	tracer(object, visible, what, argument);
	PyThreadState_LeaveTracing(thread);
}

static void trace_exception(PyThreadState *thread, _PyInterpreterFrame *frame)
{
	PyObject *type;
	PyObject *value;
	PyObject *traceback;
	PyObject *argument;

	_PyErr_Fetch(thread, &type, &value, &traceback);
	_PyErr_NormalizeException(thread, &type, &value, &traceback);
	argument = PyTuple_Pack(
		3, type, value ? value : Py_None, traceback ? traceback : Py_None);
	if (argument)
		call_tracer(thread, frame, thread->c_tracefunc, thread->c_traceobj,
			PyTrace_EXCEPTION, argument);
	Py_XDECREF(argument);
	if (argument && PyErr_Occurred()) {
		Py_XDECREF(type);
		Py_XDECREF(value);
		Py_XDECREF(traceback);
		return;
	}
	PyErr_Clear();
	_PyErr_Restore(thread, type, value, traceback);
}

static void trace_leaving(PyThreadState *thread, _PyInterpreterFrame *frame)
{
	PyObject *type;
	PyObject *value;
	PyObject *traceback;

	_PyErr_Fetch(thread, &type, &value, &traceback);
	call_tracer(thread, frame, thread->c_tracefunc, thread->c_traceobj,
		PyTrace_RETURN, NULL);
	if (!PyErr_Occurred())
		call_tracer(thread, frame, thread->c_profilefunc, thread->c_profileobj,
			PyTrace_RETURN, NULL);
	if (PyErr_Occurred()) {
		Py_XDECREF(type);
		Py_XDECREF(value);
		Py_XDECREF(traceback);
		return;
	}
	_PyErr_Restore(thread, type, value, traceback);
}

/* `error` in ceval.c. */
static void add_traceback(PyThreadState *thread, _PyInterpreterFrame *frame)
{
	if (!_PyErr_Occurred(thread))
		_PyErr_SetString(
			thread, PyExc_SystemError, "error return without exception set");
	if (!_PyFrame_IsIncomplete(frame)) {
		PyFrameObject *visible = _PyFrame_GetFrameObject(frame);

		if (visible)
			PyTraceBack_Here(visible);
	}
	if (thread->c_tracefunc)
		trace_exception(thread, frame);
}

static void *leave(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled)
{
	if (thread->cframe->use_tracing) {
		frame->stacktop = compiled->code->co_nlocalsplus;
		trace_leaving(thread, frame);
	}
	frame_leave(thread, frame);
	jit.leaving = NULL;
	return compiled->leave;
}

/* Tracing was switched on meanwhile: the interpreter goes on with the handler. */
static void *go_on_traced(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, int unit, int depth)
{
	frame->prev_instr = _PyCode_CODE(compiled->code) + unit - 1;
	frame->stacktop = compiled->code->co_nlocalsplus + depth;
	jit.timers.deopts_tracing++;
	jit.leaving = frame_interpret(thread, frame);
	return compiled->leave;
}

/* `exception_unwind` in ceval.c; `depth` entries are on the stack, all in their slots. */
static void *unwind(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, int lookup, int depth)
{
	PyObject **base = frame_slot(frame, 0);
	struct handler handler;

	frame->stacktop = -1;
	while (find_handler(compiled->code, lookup, &handler)) {
		PyObject **top = base + handler.level;

		cut_stack(top, base + depth);
		depth = handler.level;
		if (handler.lasti) {
			*top = PyLong_FromLong(_PyInterpreterFrame_LASTI(frame));
			if (!*top)
				continue;
			top++;
		}
		*top = take_exception(thread);
		if (thread->cframe->use_tracing)
			return go_on_traced(thread, frame, compiled, handler.unit,
				(int)(top - base) + 1);
		return (void *)(uintptr_t)compiled->entries[handler.unit];
	}
	cut_stack(base, base + depth);
	return leave(thread, frame, compiled);
}

void *except_unwind(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top)
{
	const struct exit *exit = &compiled->exits[number];

	frame_materialize(frame, compiled, exit, top);
	frame->stacktop = -1;
	frame->prev_instr = _PyCode_CODE(compiled->code) + exit->index;
	add_traceback(thread, frame);
	return unwind(thread, frame, compiled, (int)exit->lookup, exit->depth);
}

void *except_reraise(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top)
{
	const struct exit *exit = &compiled->exits[number];

	frame_materialize(frame, compiled, exit, top);
	frame->stacktop = -1;
	return unwind(thread, frame, compiled, (int)exit->lookup, exit->depth);
}

void *except_throw(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled)
{
	int depth = frame->stacktop - compiled->code->co_nlocalsplus;

	frame->stacktop = -1;
	add_traceback(thread, frame);
	return unwind(thread, frame, compiled, _PyInterpreterFrame_LASTI(frame), depth);
}
