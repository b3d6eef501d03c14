/* A small assembler for numbers: what stencils cannot do, values in registers.
 *
 * A slot's home is a register for as long as the fragment runs, or its place under rbp.
 * Which slots get registers is decided by a first emission that counts how often each is
 * used, inner loops ten times as much. rax, rcx, rdx and xmm0 to xmm3 are for whoever needs
 * them, and for stencils; those keep all homes but where opt_asm_save() stands before. */
#ifndef JIT_OPT_ASM_H
#define JIT_OPT_ASM_H

#include "jit/opt_state.h"

enum opt_register {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
};

/* Instructions `op register, place` with 64 bits. */
enum opt_alu {
	ALU_ADD = 0x03,
	ALU_OR = 0x0b,
	ALU_AND = 0x23,
	ALU_SUB = 0x2b,
	ALU_XOR = 0x33,
	ALU_CMP = 0x3b,
	ALU_LOAD = 0x8b,
	ALU_TEST = 0x85,
	ALU_IMUL = 0x0faf,
};

/* `op xmm, place` on doubles: the last byte of F2 0F xx. */
enum opt_sse {
	SSE_LOAD = 0x10,
	SSE_SQRT = 0x51,
	SSE_ADD = 0x58,
	SSE_MUL = 0x59,
	SSE_SUB = 0x5c,
	SSE_DIV = 0x5e,
};

/* Conditions of jumps: the low half of 0F 8x. */
enum opt_condition {
	CC_O = 0,
	CC_NO = 1,
	CC_B = 2,
	CC_AE = 3,
	CC_E = 4,
	CC_NE = 5,
	CC_BE = 6,
	CC_A = 7,
	CC_S = 8,
	CC_NS = 9,
	CC_P = 10,
	CC_NP = 11,
	CC_L = 12,
	CC_GE = 13,
	CC_LE = 14,
	CC_G = 15,
};

/* A slot's number to a register, from one, and operations with it. */
void opt_asm_load(struct opt *opt, int reg, int slot);
void opt_asm_store(struct opt *opt, int slot, int reg);
void opt_asm_alu(struct opt *opt, enum opt_alu op, int reg, int slot);
void opt_asm_load_float(struct opt *opt, int xmm, int slot);
void opt_asm_store_float(struct opt *opt, int slot, int xmm);
void opt_asm_sse(struct opt *opt, enum opt_sse op, int xmm, int slot);
/* 66 0F 2E. */
void opt_asm_compare_float(struct opt *opt, int xmm, int slot);
/* `op register, register` and with a constant. */
void opt_asm_alu_register(struct opt *opt, enum opt_alu op, int reg, int other);
void opt_asm_alu_constant(struct opt *opt, enum opt_alu op, int reg, int32_t value);
void opt_asm_constant(struct opt *opt, int reg, uint64_t value);
/* `op register, [base + offset]`, and the store. */
void opt_asm_alu_memory(
	struct opt *opt, enum opt_alu op, int reg, int base, int32_t offset);
void opt_asm_store_memory(struct opt *opt, int base, int32_t offset, int reg);
void opt_asm_branch(struct opt *opt, enum opt_condition condition, int label);
void opt_asm_bytes(struct opt *opt, const void *bytes, size_t size);

/* The number itself where the slot is an int constant of 32 bits. */
bool opt_asm_known(const struct opt *opt, int slot, int32_t *value);

/* The register that is a slot's home, or -1. */
int opt_asm_home(const struct opt *opt, int slot, bool is_float);
/* Registers to their slots, and back: all, or those of a record's values. */
void opt_asm_save(struct opt *opt);
void opt_asm_restore(struct opt *opt);
void opt_asm_reload(struct opt *opt, int slot, bool is_float);
void opt_asm_save_value(struct opt *opt, const struct opt_value *value);
/* A slot that a stencil reads, or has written. */
uint64_t opt_asm_in(struct opt *opt, int slot, bool is_float);
uint64_t opt_asm_out(struct opt *opt, int slot, bool is_float);

enum opt_unary { OPT_NEGATE, OPT_INVERT, OPT_ABSOLUTE };

/* Slots `a` and `b` to slot `c`; they leave before anything has changed. */
void opt_asm_divide(struct opt *opt, int a, int b, int c, bool rest, int leave);
void opt_asm_divide_exact(struct opt *opt, int a, int b, int c, int leave);
void opt_asm_shift(struct opt *opt, int a, int b, int c, bool left, int leave);
void opt_asm_unary(struct opt *opt, int a, int c, enum opt_unary what, int leave);
void opt_asm_sign(struct opt *opt, int a, int c, bool away);
void opt_asm_root(struct opt *opt, int a, int c, int leave);
void opt_asm_move(struct opt *opt, int from, int to, bool is_float);
void opt_asm_put(struct opt *opt, int slot, int32_t value);
void opt_asm_poll(struct opt *opt, const volatile void *address, int leave);
void opt_asm_zero_float(struct opt *opt, int xmm);
void opt_asm_convert(struct opt *opt, int xmm, int reg);
void opt_asm_check_exact(struct opt *opt, int reg, int leave);
/* Outcomes, to rax or as jumps. */
void opt_asm_set(struct opt *opt, enum opt_condition condition);
void opt_asm_set_equal(struct opt *opt, bool equal);
void opt_asm_branch_equal(struct opt *opt, bool equal, int target);
void opt_asm_is_zero(struct opt *opt, int slot, bool is_float);

/* Chooses homes by the uses counted so far. `leaf`: no stencil was used. */
void opt_asm_choose(struct opt *opt, bool leaf);

#endif
