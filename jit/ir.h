/* The intermediate code: a code object's bytecode as basic blocks of operations, with the
 * stack depth at each, what every local is known to be, and the interpreter's feedback.
 */
#ifndef JIT_IR_H
#define JIT_IR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "jit/python.h"

enum {
	IR_NONE = -1,
	IR_MAX_OPS = 60000, /* beyond that a code object is left to the interpreter */
};

enum ir_op_flags {
	IR_LEADER = 1,	  /* starts a block: all stack entries are in their slots */
	IR_ENTRY = 2,	  /* native code can be entered here from outside */
	IR_LOOP = 4,	  /* head of a loop */
	IR_REACHED = 8,	  /* not dead code */
	IR_HANDLER = 16,  /* an exception handler starts here */
	IR_BACKWARD = 32, /* jumps backward */
};

struct ir_op {
	uint8_t opcode;	  /* CPython's number, never a specialised form */
	uint8_t adaptive; /* the form that the interpreter had put there */
	uint8_t flags;	  /* enum ir_op_flags */
	uint32_t oparg;	  /* prefixes folded in */
	uint32_t index;	  /* code unit of the instruction itself, without its prefixes */
	uint32_t next;	  /* code unit that follows it and its cache */
	int target;	  /* op jumped to, or IR_NONE */
	int depth;	  /* of the stack before it */
	int block;
	/* Exception table: the op where a handler starts, or IR_NONE; the depth that the
	 * stack is cut to; whether the instruction's index is pushed. */
	int handler;
	int handler_depth;
	bool handler_lasti;
};

struct ir_block {
	int first, last; /* ops, inclusive */
	/* Locals certainly bound on entry: bit i % 64 of word i / 64. */
	uint64_t *bound;
};

struct ir {
	PyCodeObject *code; /* borrowed */
	struct ir_op *ops;
	int op_count;
	int *op_at; /* op for each code unit where an instruction (or its prefixes)
		     * starts, else IR_NONE */
	struct ir_block *blocks;
	int block_count;
	int local_words; /* 64-bit words in a set of locals */
	uint64_t *sets;	 /* storage for the blocks' sets */
	bool has_loop;
};

/* What an op makes of the set of locals certainly bound. */
void ir_bind_local(const struct ir *ir, const struct ir_op *op, uint64_t *set);

/* Builds the intermediate code. Returns 0; -1 where memory is short or the bytecode is
 * not what Python's compiler makes (`why`, static): leave it to the interpreter.
 * ir_release() in either case. */
int ir_build(struct ir *ir, PyCodeObject *code, const char **why);
void ir_release(struct ir *ir);

/* Change of the stack's depth by an instruction, where it goes on or where it jumps. */
int ir_stack_effect(uint8_t opcode, uint32_t oparg, bool jumps);
/* The instruction never goes on to the next one. */
bool ir_ends(uint8_t opcode);
/* The code unit that a jump goes to, or IR_NONE where it is no jump. */
int ir_jump_target(uint8_t opcode, uint32_t oparg, uint32_t next);

/* Whether the bytecode jumps backward anywhere. */
bool ir_code_has_loop(PyCodeObject *code);

static inline bool ir_is_bound(const uint64_t *set, uint32_t local)
{
	return set[local / 64] >> (local % 64) & 1;
}

/* CPython's name of an opcode. */
const char *ir_opcode_name(uint8_t opcode);
void ir_print(const struct ir *ir, FILE *file);

#endif
