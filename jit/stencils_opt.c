/* Stencils of the optimising tier: the ways in and out, numbers. */
#include "jit/stencils_opt.h"

#include <math.h>

typedef void code(void);

/* The head of a loop in the baseline: into the fragment where there is one. */
void op_LOOP_HEAD(void)
{
	struct opt_loop *loop = (struct opt_loop *)HOLE64(HOLE_A);

	code *native = (code *)loop->native;

	if (native) {
		if (LIKELY(!runtime_eval_breaker)) {
			native();
			return;
		}
	} else if (UNLIKELY(--loop->turns == 0)) {
		code *next = (code *)opt_hot(thread, frame, loop);

		next();
		return;
	}
	CONT();
}

void op_OPT_ENTER(void)
{
	GUARD_OR(opt_enter(thread, frame, (struct opt_fragment *)HOLE64(HOLE_A), base),
		EXIT());
	CONT();
}

extern void exit_address(void *) __asm__("TARGET");

void op_OPT_EXIT(uintptr_t number)
{
	void *next = opt_exit(thread, frame, (struct opt_fragment *)HOLE64(HOLE_A),
		(uint32_t)number, base);

	top = *(PyObject **)(base - 8);
	if (next)
		exit_address(next);
	else
		cont1(top);
}

/* A range is at its end. */
void op_OPT_RANGE_END(void)
{
	PyObject *iterator = SLOT(HOLE_A);

	SLOT(HOLE_A) = NULL;
	opt_drop(iterator);
	CONT();
}

/* range(A, B, C): its iterator goes to the stack. */
void op_OPT_RANGE(void)
{
	SLOT_OR_DEOPT(HOLE_D, opt_range_iterator(INT(HOLE_A), INT(HOLE_B), INT(HOLE_C)));
}

/* A positive base to a finite power: what float_pow() hands to pow(). */
void op_OPT_POWER_FLOAT(void)
{
	double a = FLOAT(HOLE_A), b = FLOAT(HOLE_B), result;

	GUARD(a > 0.0 && a < HUGE_VAL && b > -1000.0 && b < 1000.0);
	result = opt_power(a, b);
	GUARD(result > 0.0 && result < HUGE_VAL);
	FLOAT(HOLE_C) = result;
	CONT();
}
