/* Assertions of --check-stack: what compiled code has on the stack at each instruction. */
#ifndef JIT_CHECK_H
#define JIT_CHECK_H

#include "jit/compiled.h"
#include "jit/python.h"

/* The effect of an instruction on the stack is what Python's compiler reckons with. */
void check_effect(uint8_t opcode, uint32_t oparg);

/* Called before an instruction: the frame is the running one, each entry of its stack (as
 * the exit `number` has them) is an object or NULL. What is above gets a value that nobody
 * can use. Ends the process where something is wrong. */
void check_stack(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top);

/* Says what and where, and aborts. */
void check_failed(PyCodeObject *code, uint32_t index, const char *what)
	__attribute__((noreturn));

#endif
