/* Lowering by the baseline: the state while a code object's operations become stencils.
 *
 * Loads of locals and constants emit nothing: the entry on the abstract stack says where
 * the value is, borrowed, until an operation takes it from there. What an operation makes
 * stays in the top-of-stack register until something else needs the register. Where
 * blocks begin every entry is in its slot. */
#ifndef JIT_LOWER_H
#define JIT_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/compiled.h"
#include "jit/emit.h"
#include "jit/ir.h"

enum lower_where {
	LOWER_SLOT,  /* owned, in its slot of the frame */
	LOWER_TOP,   /* owned, in the top-of-stack register: at most one entry */
	LOWER_LOCAL, /* borrowed from a local */
	LOWER_CONST, /* borrowed from a constant */
	LOWER_NULL,  /* no value */
};

struct lower_value {
	uint8_t where;	 /* enum lower_where */
	uint32_t number; /* of the slot, the local or the constant */
};

struct lower {
	struct ir *ir;
	struct emit *emit;
	struct compiled *compiled;
	struct lower_value *stack;
	int depth;
	uint64_t *bound;      /* locals certainly bound here */
	int number;	      /* op being lowered */
	int skip;	      /* ops that follow and were lowered with it */
	uint32_t names_const; /* KW_NAMES: constant + 1; 0: none */
	int *labels;	      /* of each op that is a leader */
	int *loop_labels;     /* behind the counts of the loops */
	int unwind, reraise, deopt, leave_null, leave; /* the common ends */
	bool dead;				       /* until the next leader */
	bool failed;				       /* out of memory */
};

static inline const struct ir_op *lower_op(const struct lower *lower)
{
	return &lower->ir->ops[lower->number];
}

/* Offset of a local from the frame, in bytes, and of a stack slot. */
uint32_t lower_local_at(uint32_t local);
uint32_t lower_slot_at(const struct lower *lower, int slot);

/* The abstract stack. */
void lower_push(struct lower *lower, enum lower_where where, uint32_t number);
void lower_push_top(struct lower *lower);
struct lower_value lower_pop(struct lower *lower);
bool lower_owned(struct lower_value value);

/* Frees the top-of-stack register; puts the entries from `from` on into their slots. */
void lower_spill(struct lower *lower);
void lower_flush(struct lower *lower, int from);
/* Before a local changes: entries borrowed from it get a reference of their own. */
void lower_save_local(struct lower *lower, uint32_t local);

/* Loads a value as the `position`th argument (0 to 2) of the stencil that follows. */
void lower_argument(struct lower *lower, int position, struct lower_value value);

/* Emits a stencil; HOLE_F becomes the instruction. */
void lower_stencil(struct lower *lower, enum stencils id, struct emit_holes holes);

/* Labels of exits with the stack as it is now: raising at this instruction (with another
 * code unit for the exception table), raising again, going on in the interpreter. */
int lower_error(struct lower *lower);
int lower_error_at(struct lower *lower, uint32_t lookup);
int lower_reraise(struct lower *lower);
/* The same for a load of an unbound local, which the interpreter may do together with the
 * instruction before it. */
int lower_error_unbound(struct lower *lower);
/* An exit's record alone, of the stack as it is now; -1 without memory. */
int lower_record(struct lower *lower);
int lower_deopt(struct lower *lower, int number);
/* The number of such an exit, which nothing leaves by: for --check-stack. */
uint32_t lower_exit(struct lower *lower);

/* The label of an op that is a leader. */
int lower_label(struct lower *lower, int number);

/* Lowers one instruction; false: it is left to the interpreter. */
bool lower_instruction(struct lower *lower);

/* How an instruction is compiled, for people; NULL: it is left to the interpreter. */
const char *lower_describe(uint8_t opcode);

#endif
