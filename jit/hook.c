/* The frame evaluation function (PEP 523): decides whether a frame runs natively. */
#include "jit/hook.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "jit/compile.h"
#include "jit/enter.h"
#include "jit/except.h"
#include "jit/frame.h"
#include "jit/ir.h"
#include "jit/jit.h"
#include "jit/table.h"

enum {
	/* What C functions below native code may need: the deepest chains of library code
	 * are bounded by the recursion counter, not by this. */
	STACK_RESERVE = 256 * 1024,
	STACK_GUESS = 512 * 1024,
	LIBRARY_CALLS = 8, /* before code of the library with a loop is compiled */
};

#define LIBRARY_DIRECTORY "/usr/lib/python3.11/"

static __thread char *stack_floor;

char *hook_stack_floor(void)
{
	pthread_attr_t attributes;
	void *lowest;
	size_t size;

	if (stack_floor)
		return stack_floor;
	if (pthread_getattr_np(pthread_self(), &attributes)) {
		stack_floor = (char *)__builtin_frame_address(0) - STACK_GUESS;
		return stack_floor;
	}
	if (pthread_attr_getstack(&attributes, &lowest, &size))
		stack_floor = (char *)__builtin_frame_address(0) - STACK_GUESS;
	else
		stack_floor = (char *)lowest +
			      (size > 4 * STACK_RESERVE ? STACK_RESERVE : size / 4);
	pthread_attr_destroy(&attributes);
	return stack_floor;
}

/* Code of the standard library: most of it runs while modules are imported, a few times
 * and not for long. */
static bool is_library(const PyCodeObject *code)
{
	const char *file = PyUnicode_AsUTF8(code->co_filename);
	size_t length = strlen(LIBRARY_DIRECTORY);

	if (!file) {
		PyErr_Clear();
		return false;
	}
	return !strncmp(file, LIBRARY_DIRECTORY, length) || !strncmp(file, "<frozen ", 8);
}

/* Whether a code object that is called for the `calls`th time is worth compiling. One
 * with a loop is at once: there is no way into the middle of it from the interpreter. */
static bool is_due(const struct table_entry *entry)
{
	if (entry->calls >= jit.threshold)
		return true;
	if (entry->calls > LIBRARY_CALLS)
		return false;
	return entry->calls == (is_library(entry->code) ? LIBRARY_CALLS : 1) &&
	       ir_code_has_loop(entry->code);
}

/* Instructions of a code object. What is interpreted has no loop that was worth compiling,
 * so this is the most that one activation runs. */
static uint32_t count_instructions(PyCodeObject *code)
{
	const _Py_CODEUNIT *units = _PyCode_CODE(code);
	uint32_t count = 0;

	for (Py_ssize_t i = 0; i < Py_SIZE(code); i++, count++)
		i += _PyOpcode_Caches[_PyOpcode_Deopt[_Py_OPCODE(units[i])]];
	return count;
}

void hook_count_interpreted(PyCodeObject *code)
{
	jit.timers.bytecodes_interpreted += count_instructions(code);
}

static struct compiled *count_call(PyCodeObject *code)
{
	struct table_entry *entry = table_get(code);
	struct compiled *compiled;

	if (!entry || entry->state == TABLE_REFUSED)
		return NULL;
	if (entry->state == TABLE_COMPILED)
		return entry->compiled;
	entry->calls++;
	if (!is_due(entry) || jit.broken)
		return NULL;
	compiled = compile_code(code);
	/* Compiling may have made the table move. */
	entry = table_get(code);
	if (!entry)
		return NULL;
	entry->compiled = compiled;
	entry->state = entry->compiled ? TABLE_COMPILED : TABLE_REFUSED;
	return entry->compiled;
}

struct compiled *hook_compiled(PyCodeObject *code)
{
	struct compiled *compiled = table_compiled(code);

	return compiled ? compiled : count_call(code);
}

/* Interprets with the hook away, so that the interpreter keeps Python calls off the C
 * stack: what a deep recursion needs. Other threads are interpreted meanwhile, too. */
static PyObject *interpret_deep(
	PyThreadState *thread, _PyInterpreterFrame *frame, int throwing)
{
	PyObject *value;

	thread->interp->eval_frame = NULL;
	value = _PyEval_EvalFrameDefault(thread, frame, throwing);
	thread->interp->eval_frame = hook_evaluate;
	return value;
}

static PyObject *run(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, int index, int throwing)
{
	struct activation activation;
	_PyCFrame *outer = thread->cframe;
	PyObject *value = NULL;
	void *prologue = compiled->start;
	void *target = NULL;

	activation.cframe.use_tracing = 0;
	activation.cframe.previous = outer;
	activation.cframe.current_frame = frame;
	activation.floor = stack_floor;
	thread->cframe = &activation.cframe;
	frame->is_entry = true;
	frame->previous = outer->current_frame;
	if (_Py_EnterRecursiveCallTstate(thread, "")) {
		activation.cframe.current_frame = frame->previous;
		goto out;
	}
	if (throwing) {
		target = except_throw(thread, frame, compiled);
		if (target == compiled->leave) {
			value = jit.leaving;
			goto out;
		}
		prologue = compiled->resume;
	} else if (index) {
		target = (void *)(uintptr_t)compiled->entries[index];
		prologue = compiled->resume;
	}
	frame->stacktop = -1;
	jit.timers.entries++;
	value = enter_native(thread, frame, prologue, target);
out:
	thread->cframe = outer;
	outer->use_tracing = activation.cframe.use_tracing;
	return value;
}

struct hook_moved *hook_moved;

void hook_drop(struct hook_moved *moved)
{
	PyObject **base = moved->base;

	moved->base = NULL;
	for (uint32_t i = 0; i < moved->count; i++) {
		PyObject *value = base[i];

		base[i] = moved->stand_in ? Py_NewRef(Py_None) : NULL;
		Py_XDECREF(value);
	}
}

/* The innermost call that waits for its frame; another thread's is not ours. */
static void take_moved(_PyInterpreterFrame *frame)
{
	struct hook_moved *moved = hook_moved;

	if ((PyObject *)frame->f_func != moved->function ||
		_PyInterpreterFrame_LASTI(frame) >= 0)
		return;
	hook_moved = NULL;
	hook_drop(moved);
}

PyObject *hook_run(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled)
{
	PyObject *value = run(thread, frame, compiled, 0, 0);

	frame_clear_and_pop(thread, frame);
	return value;
}

PyObject *hook_evaluate(PyThreadState *thread, _PyInterpreterFrame *frame, int throwing)
{
	struct compiled *compiled;
	int index = _PyInterpreterFrame_LASTI(frame) + 1;

	if (hook_moved)
		take_moved(frame);
	if (thread->cframe->use_tracing)
		return _PyEval_EvalFrameDefault(thread, frame, throwing);
	if ((char *)__builtin_frame_address(0) < hook_stack_floor())
		return interpret_deep(thread, frame, throwing);
	/* An exception that is thrown in must not meet the compiler. */
	compiled =
		throwing ? table_compiled(frame->f_code) : hook_compiled(frame->f_code);
	if (!compiled || (!throwing && index && !compiled->entries[index])) {
		if (jit.statistics)
			hook_count_interpreted(frame->f_code);
		return _PyEval_EvalFrameDefault(thread, frame, throwing);
	}
	return run(thread, frame, compiled, index, throwing);
}

void hook_install(PyInterpreterState *interpreter)
{
	_PyInterpreterState_SetEvalFrameFunc(interpreter, hook_evaluate);
}

void hook_remove(PyInterpreterState *interpreter)
{
	_PyInterpreterState_SetEvalFrameFunc(interpreter, NULL);
}
