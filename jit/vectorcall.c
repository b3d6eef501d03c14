/* Calls of Python functions from the interpreter's own frames.
 *
 * With an evaluation hook the interpreter makes each such call one from C: its stack keeps
 * references to the arguments until the callee returns, where without a hook they move into
 * the callee's frame. Who watches (`__del__`, weakrefs, sys.getrefcount()) would notice. The
 * linker gives every function this in place of _PyFunction_Vectorcall() (`--wrap`): where the
 * arguments are on the stack of the calling frame, the hook drops them once they are in the
 * callee's. */
#include "jit/hook.h"

PyObject *__real__PyFunction_Vectorcall(
	PyObject *function, PyObject *const *arguments, size_t given, PyObject *names);
PyObject *__wrap__PyFunction_Vectorcall(
	PyObject *function, PyObject *const *arguments, size_t given, PyObject *names);

/* Whether the current frame's instruction is a CALL of this function: then the callable is
 * below the arguments on that frame's stack. */
static bool is_call(PyThreadState *thread, PyObject *function, PyObject *const *arguments,
	size_t given, Py_ssize_t count)
{
	_PyInterpreterFrame *frame = thread->cframe->current_frame;
	PyObject **bottom;

	if (!frame || !count || !(given & PY_VECTORCALL_ARGUMENTS_OFFSET))
		return false;
	bottom = _PyFrame_Stackbase(frame);
	return arguments > bottom &&
	       arguments + count <= bottom + frame->f_code->co_stacksize &&
	       arguments[-1] == function;
}

PyObject *__wrap__PyFunction_Vectorcall(
	PyObject *function, PyObject *const *arguments, size_t given, PyObject *names)
{
	PyThreadState *thread = _PyThreadState_GET();
	Py_ssize_t count =
		PyVectorcall_NARGS(given) + (names ? PyTuple_GET_SIZE(names) : 0);
	struct hook_moved moved = {.function = function,
		.base = (PyObject **)arguments,
		.count = (uint32_t)count,
		.stand_in = true};
	PyObject *value;

	if (thread->interp->eval_frame != hook_evaluate || hook_moved ||
		!is_call(thread, function, arguments, given, count))
		return __real__PyFunction_Vectorcall(function, arguments, given, names);
	hook_moved = &moved;
	value = __real__PyFunction_Vectorcall(function, arguments, given, names);
	hook_moved = NULL;
	return value;
}
