/* Python frames: pushing and popping them, and rebuilding one for the interpreter. */
#ifndef JIT_FRAME_H
#define JIT_FRAME_H

#include "jit/compiled.h"
#include "jit/python.h"

/* A frame for a call of `function`, not linked yet; its locals are not set. Takes the
 * reference to `function`. NULL with an exception (and the reference still the caller's)
 * where memory is short. */
_PyInterpreterFrame *frame_push(PyThreadState *thread, PyFunctionObject *function);

/* Clears a frame that is not linked any more and pops it off the thread's data stack. */
void frame_clear_and_pop(PyThreadState *thread, _PyInterpreterFrame *frame);

/* Puts every stack entry of an exit into its slot and makes the frame one that the
 * interpreter could have left at the exit's instruction. `top` is the top-of-stack
 * register. */
void frame_materialize(_PyInterpreterFrame *frame, const struct compiled *compiled,
	const struct exit *exit, PyObject *top);

/* Hands the rest of the activation to the interpreter, from the exit's instruction on.
 * Returns its value or NULL; a frame that is no entry frame is gone then. */
PyObject *frame_deopt(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top);

/* The same for a frame that is ready: its prev_instr and stacktop are set. */
PyObject *frame_interpret(PyThreadState *thread, _PyInterpreterFrame *frame);

/* Leaves an activation: the frame is unlinked and, unless its owner does that, popped.
 * The stack is empty. */
void frame_leave(PyThreadState *thread, _PyInterpreterFrame *frame);

static inline PyObject **frame_slot(_PyInterpreterFrame *frame, int depth)
{
	return _PyFrame_Stackbase(frame) + depth;
}

#endif
