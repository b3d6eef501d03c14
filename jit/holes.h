/* The holes of a stencil: symbols that stand in the stencils' source for what is known
 * only when code is emitted. A relocation against one of them is a hole; stencil_cut
 * finds them, emit fills them. A new hole is a new row here and nothing else.
 *
 * X(symbol in the stencils' source, field of struct emit_holes) */
#ifndef JIT_HOLES_H
#define JIT_HOLES_H

/* Data: immediates and addresses. `(uintptr_t)&HOLE_A` gives 32 bits (must fit: unsigned
 * where gcc used R_X86_64_32, signed where 32S); `movabs $HOLE_A, %0` gives 64. */
#define HOLES_DATA(X) \
	X(HOLE_A, a)  \
	X(HOLE_B, b)  \
	X(HOLE_C, c)  \
	X(HOLE_D, d)  \
	X(HOLE_E, e)  \
	X(HOLE_F, f)  \
	X(HOLE_G, g)

/* Continuations: only jumped to, never called. Each is given as a label; CONT left 0 is
 * the next stencil, and then a jump to it at the end of the stencil is dropped. */
#define HOLES_JUMP(X)         \
	X(CONT, cont)         \
	X(TARGET, target)     \
	X(TARGET_B, target_b) \
	X(TARGET_C, target_c) \
	X(EXIT, exit)         \
	X(DEOPT, deopt)       \
	X(ERROR, error)

/* Callees: only called, given as a label too (emit_label_at() for a fixed address). */
#define HOLES_CALL(X)     \
	X(CALLEE, callee) \
	X(CALLEE_B, callee_b)

#define HOLES_ALL(X) HOLES_DATA(X) HOLES_JUMP(X) HOLES_CALL(X)

#define HOLES_ENUM_(symbol, field) HOLES_##symbol,
enum holes { HOLES_ALL(HOLES_ENUM_) HOLES_COUNT };

#define HOLES_ONE_(symbol, field) +1
enum {
	HOLES_DATA_COUNT = 0 HOLES_DATA(HOLES_ONE_),
	HOLES_JUMP_COUNT = 0 HOLES_JUMP(HOLES_ONE_),
};

#endif
