/* Stencils that emit_test.c strings together: r14 is a counter, r15 the accumulator. */
#include <stdint.h>

register uintptr_t acc __asm__("r15");
register uintptr_t counter __asm__("r14");
register uintptr_t unused_r13 __asm__("r13");
register uintptr_t unused_r12 __asm__("r12");

extern char HOLE_A, HOLE_B;
extern void CONT(void);
extern void TARGET(void);
extern void EXIT(void) __attribute__((cold));
extern void CALLEE(void);
extern uintptr_t emit_test_helper(uintptr_t, uintptr_t);
extern uintptr_t emit_test_sse(double);
extern uintptr_t emit_test_rare(uintptr_t, uintptr_t) __attribute__((cold));

#define HOLE32(hole) ((uintptr_t) & (hole))
#define HOLE64(hole)                                             \
	({                                                       \
		uintptr_t value_;                                \
		__asm__("movabs $" #hole ", %0" : "=r"(value_)); \
		value_;                                          \
	})

void op_SET(void)
{
	acc = HOLE32(HOLE_A);
	CONT();
}

void op_SET64(void)
{
	acc = HOLE64(HOLE_A);
	CONT();
}

void op_ADD(void)
{
	acc += HOLE32(HOLE_A);
	CONT();
}

void op_LOAD(void)
{
	acc = *(uintptr_t *)HOLE64(HOLE_A);
	CONT();
}

void op_SET_COUNTER(void)
{
	counter = HOLE32(HOLE_A);
	CONT();
}

void op_LOOP(void)
{
	if (--counter)
		TARGET();
	else
		CONT();
}

/* Two uses of CONT, of which only the last can be dropped; a cold exit. */
void op_GUARD(void)
{
	if (__builtin_expect(acc == HOLE32(HOLE_A), 0))
		EXIT();
	else
		CONT();
}

/* A cold block with work of its own. */
void op_COLD_WORK(void)
{
	if (__builtin_expect(acc > 1000, 0)) {
		acc = emit_test_rare(acc, 7);
		EXIT();
	} else {
		acc += 1;
		CONT();
	}
}

/* A value that lives across a call: gcc spills it to a frame of one word. */
void op_HELPER(void)
{
	uintptr_t old = counter;

	counter = emit_test_helper(acc, HOLE32(HOLE_A));
	acc = emit_test_sse(0.5) + counter;
	counter = old;
	CONT();
}

void op_SPILL(void)
{
	uintptr_t first = emit_test_helper(acc, 1);

	acc = first - emit_test_helper(acc, 2);
	CONT();
}

/* Constants from .rodata: a double, and a 16-byte mask. */
void op_FLOAT(void)
{
	double value = (double)(intptr_t)acc;

	acc = (uintptr_t)(intptr_t)(__builtin_fabs(value) * 2.5 + 1024.125);
	CONT();
}

void op_CALL(void)
{
	CALLEE();
	CONT();
}

void op_LEAVE(void)
{
	__asm__ volatile("");
	EXIT();
}
