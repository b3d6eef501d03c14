/* Python frames: pushing and popping them, and rebuilding one for the interpreter. */
#include "jit/frame.h"

#include "jit/hook.h"
#include "jit/jit.h"

_PyInterpreterFrame *frame_push(PyThreadState *thread, PyFunctionObject *function)
{
	PyCodeObject *code = (PyCodeObject *)function->func_code;
	size_t size =
		(size_t)(code->co_nlocalsplus + code->co_stacksize) + FRAME_SPECIALS_SIZE;
	_PyInterpreterFrame *frame = _PyThreadState_BumpFramePointer(thread, size);

	if (frame)
		_PyFrame_InitializeSpecials(frame, function, NULL, code->co_nlocalsplus);
	return frame;
}

void frame_clear_and_pop(PyThreadState *thread, _PyInterpreterFrame *frame)
{
	/* What clearing runs has one level of recursion less, as in the interpreter. */
	thread->recursion_remaining--;
	_PyFrame_Clear(frame);
	thread->recursion_remaining++;
	_PyThreadState_PopFrame(thread, frame);
}

static PyObject *entry_value(_PyInterpreterFrame *frame, const struct compiled *compiled,
	const struct exit_entry *entry, PyObject *top)
{
	switch ((enum exit_kind)entry->kind) {
	case EXIT_LOCAL: return Py_NewRef(frame->localsplus[entry->value]);
	case EXIT_CONST:
		return Py_NewRef(
			PyTuple_GET_ITEM(compiled->code->co_consts, entry->value));
	case EXIT_TOP: return top;
	case EXIT_NULL: break;
	}
	return NULL;
}

void frame_materialize(_PyInterpreterFrame *frame, const struct compiled *compiled,
	const struct exit *exit, PyObject *top)
{
	const struct exit_entry *entry = compiled->exit_entries + exit->entries;
	PyObject **base = frame_slot(frame, 0);

	for (int i = 0; i < exit->entry_count; i++, entry++)
		base[entry->slot] = entry_value(frame, compiled, entry, top);
	frame->stacktop = compiled->code->co_nlocalsplus + exit->depth;
}

void frame_leave(PyThreadState *thread, _PyInterpreterFrame *frame)
{
	frame->stacktop = frame->f_code->co_nlocalsplus;
	_Py_LeaveRecursiveCallTstate(thread);
	thread->cframe->current_frame = frame->previous;
	if (!frame->is_entry)
		frame_clear_and_pop(thread, frame);
}

PyObject *frame_interpret(PyThreadState *thread, _PyInterpreterFrame *frame)
{
	bool entry = frame->is_entry;
	PyObject *value;

	/* The interpreter links the frame and counts the recursion itself. */
	thread->cframe->current_frame = frame->previous;
	_Py_LeaveRecursiveCallTstate(thread);
	if (jit.statistics)
		hook_count_interpreted(frame->f_code);
	value = _PyEval_EvalFrameDefault(thread, frame, 0);
	if (!entry)
		frame_clear_and_pop(thread, frame);
	return value;
}

PyObject *frame_deopt(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top)
{
	const struct exit *exit = &compiled->exits[number];

	frame_materialize(frame, compiled, exit, top);
	frame->prev_instr = _PyCode_CODE(compiled->code) + exit->index - 1;
	return frame_interpret(thread, frame);
}
