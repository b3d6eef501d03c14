/* What every stencil's source includes: the registers, the holes, the continuations.
 *
 * A stencil is `void op_NAME(...)`. What one stencil hands to the next goes in arguments:
 * the first ones of the C calling convention. The frame, the thread and the top of the
 * value stack have registers of their own, which C functions keep. rbx and r13 belong to
 * the optimising tier. Values called "owned" come with a reference that the stencil takes
 * over. */
#ifndef JIT_STENCILS_H
#define JIT_STENCILS_H

#include "jit/enter.h"
#include "jit/python.h"
#include "jit/runtime.h"

register _PyInterpreterFrame *frame __asm__("r12");
register uintptr_t spare __asm__("r13");
register PyThreadState *thread __asm__("r14");
register PyObject *top __asm__("r15");

#define COLD __attribute__((cold))

extern char HOLE_A, HOLE_B, HOLE_C, HOLE_D, HOLE_E, HOLE_F, HOLE_G;

/* The continuations, by the number of arguments handed on. */
extern void CONT(void);
extern void cont1(PyObject *) __asm__("CONT");
extern void cont2(PyObject *, PyObject *) __asm__("CONT");
extern void cont3(PyObject *, PyObject *, PyObject *) __asm__("CONT");
extern void cont_number(uintptr_t) __asm__("CONT");
extern void TARGET(void);
extern void target1(PyObject *) __asm__("TARGET");
extern void ERROR(void) COLD;
extern void EXIT(void) COLD;
extern void exit1(PyObject *) __asm__("EXIT") COLD;
extern void exit2(PyObject *, PyObject *) __asm__("EXIT") COLD;
extern void exit3(PyObject *, PyObject *, PyObject *) __asm__("EXIT") COLD;
extern void DEOPT(void) COLD;
/* The callees that a stencil is completed with. */
extern int callee_op(
	PyThreadState *, _PyInterpreterFrame *, PyObject **, uint32_t) __asm__("CALLEE");
extern PyObject *callee_leave(
	PyThreadState *, _PyInterpreterFrame *, PyObject **, uint32_t) __asm__("CALLEE");

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Leaves the stencil where a condition does not hold. */
#define GUARD_OR(condition, leave)            \
	do {                                  \
		if (UNLIKELY(!(condition))) { \
			leave;                \
			return;               \
		}                             \
	} while (0)

/* The ends of a stencil: on unless there is an exception, the same with a result for the
 * top, one of two ways. */
#define CONT_UNLESS_ERROR(condition)          \
	do {                                  \
		GUARD_OR(condition, ERROR()); \
		CONT();                       \
	} while (0)
#define TOP_UNLESS_ERROR(result)              \
	do {                                  \
		PyObject *result_ = (result); \
		GUARD_OR(result_, ERROR());   \
		top = result_;                \
		CONT();                       \
	} while (0)
#define JUMP_IF(condition)        \
	do {                      \
		if (condition)    \
			TARGET(); \
		else              \
			CONT();   \
	} while (0)

/* A hole as a 32-bit immediate, unsigned or signed, and as a 64-bit one. */
#define HOLE32(hole)   ((uintptr_t) & (hole))
#define HOLE_INT(hole) ((intptr_t) & (hole))
/* As an argument of 32 bits: gcc would truncate the address at run time. */
#define HOLE_ARGUMENT(hole)                                       \
	({                                                        \
		uint32_t argument_;                               \
		__asm__("movl $" #hole ", %0" : "=r"(argument_)); \
		argument_;                                        \
	})
#define HOLE64(hole)                                             \
	({                                                       \
		uintptr_t value_;                                \
		__asm__("movabs $" #hole ", %0" : "=r"(value_)); \
		value_;                                          \
	})
#define HOLE_OBJECT(hole) ((PyObject *)HOLE64(hole))

/* Whether any of these operands is owned, where A is the mask of those that are. */
#define OWNS(bits) (HOLE32(HOLE_A) & (bits))

/* A local or a stack slot, at a hole's offset in bytes from the frame. */
#define SLOT(hole)    (*(PyObject **)((char *)frame + (intptr_t) & (hole)))
#define SLOT_AT(hole) ((PyObject **)((char *)frame + (intptr_t) & (hole)))

/* HOLE_F is the instruction's address in every stencil that may run Python code. */
#define SET_INSTRUCTION() (frame->prev_instr = (_Py_CODEUNIT *)HOLE64(HOLE_F))

/* ERROR where gcc must not make it cold: cold code pops what a frame is padded with. */
extern void error_near(void) __asm__("ERROR");

static inline __attribute__((always_inline)) char *stack_pointer(void)
{
	char *address;

	__asm__("mov %%rsp, %0" : "=r"(address));
	return address;
}

extern void runtime_dealloc(PyObject *object) COLD;

#define RELEASE(object)                                      \
	do {                                                 \
		PyObject *released_ = (object);              \
		if (UNLIKELY(--released_->ob_refcnt == 0)) { \
			SET_INSTRUCTION();                   \
			runtime_dealloc(released_);          \
		}                                            \
	} while (0)

#define XRELEASE(object)                     \
	do {                                 \
		PyObject *maybe_ = (object); \
		if (maybe_)                  \
			RELEASE(maybe_);     \
	} while (0)

#endif
