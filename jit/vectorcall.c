/* Calls of Python functions from the interpreter's own frames.
 *
 * With an evaluation hook the interpreter makes each such call one from C: its stack keeps
 * references to the arguments until the callee returns, where without a hook they move into
 * the callee's frame. Who watches (`__del__`, weakrefs, sys.getrefcount()) would notice. The
 * linker gives every function this in place of _PyFunction_Vectorcall() (`--wrap`): where the
 * arguments are on the stack of the calling frame, the hook drops them once they are in the
 * callee's. */
#include "jit/frame.h"
#include "jit/hook.h"
#include "jit/table.h"

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

/* Whether the code of a function runs natively, with the arguments as its first locals. */
static const struct compiled *find_compiled(
	PyThreadState *thread, const PyCodeObject *code, Py_ssize_t count)
{
	const int flags = CO_VARARGS | CO_VARKEYWORDS;
	const struct compiled *compiled = table_compiled(code);

	if (!compiled || count != code->co_argcount || code->co_kwonlyargcount ||
		code->co_flags & flags || !(code->co_flags & CO_OPTIMIZED) ||
		thread->cframe->use_tracing ||
		(char *)__builtin_frame_address(0) < hook_stack_floor())
		return NULL;
	return compiled;
}

/* Past the evaluation function, and past what sorts arguments that are sorted. */
static PyObject *call_compiled(PyThreadState *thread, PyObject *callable,
	PyObject *const *arguments, const struct compiled *compiled,
	struct hook_moved *moved)
{
	PyFunctionObject *function = (PyFunctionObject *)callable;
	PyCodeObject *code = (PyCodeObject *)function->func_code;
	_PyInterpreterFrame *frame = frame_push(thread, function);

	if (!frame)
		return PyErr_NoMemory();
	Py_INCREF(function);
	for (int i = 0; i < code->co_nlocalsplus; i++)
		frame->localsplus[i] =
			i < code->co_argcount ? Py_NewRef(arguments[i]) : NULL;
	if (moved)
		hook_drop(moved);
	return hook_run(thread, frame, compiled);
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
	const struct compiled *compiled;
	PyObject *value;
	bool call;

	if (thread->interp->eval_frame != hook_evaluate || hook_moved)
		return __real__PyFunction_Vectorcall(function, arguments, given, names);
	call = is_call(thread, function, arguments, given, count);
	compiled =
		names ? NULL
		      : find_compiled(thread,
				(PyCodeObject *)((PyFunctionObject *)function)->func_code,
				count);
	if (compiled)
		return call_compiled(
			thread, function, arguments, compiled, call ? &moved : NULL);
	if (!call)
		return __real__PyFunction_Vectorcall(function, arguments, given, names);
	hook_moved = &moved;
	value = __real__PyFunction_Vectorcall(function, arguments, given, names);
	hook_moved = NULL;
	return value;
}
