/* Exceptions in native code: what ceval.c does behind its labels `error`,
 * `exception_unwind` and `exit_unwind`. */
#include "jit/except.h"

#include "jit/frame.h"
#include "jit/jit.h"
#include "jit/opt.h"

/* The table is ascending, so the last row that starts at or before `index` decides. */
static void find_handler(
	const PyCodeObject *code, int index, struct exit_handler *handler)
{
	PyObject *table = code->co_exceptiontable;
	unsigned char *at = (unsigned char *)PyBytes_AS_STRING(table);
	unsigned char *end = at + PyBytes_GET_SIZE(table);

	*handler = (struct exit_handler){.known = true};
	while (at < end) {
		int start;
		int size;
		int unit;
		int depth;

		at = parse_varint(at, &start);
		if (start > index)
			return;
		at = parse_varint(at, &size);
		at = parse_varint(at, &unit);
		at = parse_varint(at, &depth);
		if (start + size > index) {
			handler->unit = (uint32_t)unit;
			handler->level = (uint16_t)(depth >> 1);
			handler->lasti = depth & 1;
			handler->exists = true;
			return;
		}
	}
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

/* PyTraceBack_Here() with the line, which takes long to find, found before. It asks the
 * frame object, where a line that is set stands above the table. */
static void add_entry(PyFrameObject *visible, int line)
{
	if (!line || visible->f_lineno) {
		PyTraceBack_Here(visible);
		return;
	}
	visible->f_lineno = line;
	PyTraceBack_Here(visible);
	visible->f_lineno = 0;
}

/* `error` in ceval.c. */
static void add_traceback(PyThreadState *thread, _PyInterpreterFrame *frame, int line)
{
	if (!_PyErr_Occurred(thread))
		_PyErr_SetString(
			thread, PyExc_SystemError, "error return without exception set");
	if (!_PyFrame_IsIncomplete(frame)) {
		PyFrameObject *visible = _PyFrame_GetFrameObject(frame);

		if (visible)
			add_entry(visible, line);
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
	const struct compiled *compiled, const struct exit_handler *handler, int depth)
{
	PyObject **base = frame_slot(frame, 0);

	frame->stacktop = -1;
	while (handler->exists) {
		PyObject **top = base + handler->level;

		cut_stack(top, base + depth);
		depth = handler->level;
		if (handler->lasti) {
			*top = PyLong_FromLong(_PyInterpreterFrame_LASTI(frame));
			if (!*top)
				continue;
			top++;
		}
		*top = take_exception(thread);
		if (thread->cframe->use_tracing)
			return go_on_traced(thread, frame, compiled, (int)handler->unit,
				(int)(top - base) + 1);
		return (void *)(uintptr_t)compiled->entries[handler->unit];
	}
	cut_stack(base, base + depth);
	return leave(thread, frame, compiled);
}

static struct exit *find_exit(const struct compiled *compiled, uint32_t number)
{
	struct exit *exit = &compiled->exits[number];

	if (!exit->handler.known)
		find_handler(compiled->code, (int)exit->lookup, &exit->handler);
	return exit;
}

/* Whether the interpreter would have quickened the code by now, as well as that is known. */
static bool is_warm(const struct compiled *compiled, uint32_t pair)
{
	/* Arrivals at a loop's head are its turns and, as a rule, one for each call. */
	int64_t count = 0;

	switch (_Py_OPCODE(_PyCode_CODE(compiled->code)[pair])) {
	case LOAD_FAST__LOAD_FAST:
	case STORE_FAST__LOAD_FAST:
	case LOAD_CONST__LOAD_FAST: return true;
	default: break;
	}
	for (uint32_t i = 0; i < compiled->loop_count; i++) {
		const struct opt_loop *loop = &compiled->loops[i];

		if (loop->warms)
			count += loop->tries ? EXCEPT_WARM : jit.tier2 - loop->turns;
	}
	return count >= EXCEPT_WARM || compiled->calls >= EXCEPT_WARM;
}

void *except_unwind(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top)
{
	struct exit *exit = find_exit(compiled, number);

	if (exit->pair != exit->index && is_warm(compiled, exit->pair)) {
		exit->index = exit->pair;
		exit->line = 0;
	}
	frame_materialize(frame, compiled, exit, top);
	frame->stacktop = -1;
	frame->prev_instr = _PyCode_CODE(compiled->code) + exit->index;
	if (!exit->line)
		exit->line = PyCode_Addr2Line(
			compiled->code, (int)(exit->index * sizeof(_Py_CODEUNIT)));
	add_traceback(thread, frame, exit->line);
	return unwind(thread, frame, compiled, &exit->handler, exit->depth);
}

void *except_reraise(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top)
{
	struct exit *exit = find_exit(compiled, number);

	frame_materialize(frame, compiled, exit, top);
	frame->stacktop = -1;
	return unwind(thread, frame, compiled, &exit->handler, exit->depth);
}

void *except_throw(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled)
{
	int depth = frame->stacktop - compiled->code->co_nlocalsplus;
	struct exit_handler handler;

	frame->stacktop = -1;
	find_handler(compiled->code, _PyInterpreterFrame_LASTI(frame), &handler);
	add_traceback(thread, frame, 0);
	return unwind(thread, frame, compiled, &handler, depth);
}
