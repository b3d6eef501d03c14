/* The state while a loop is compiled: what is known of locals and stack, and the code. */
#ifndef JIT_OPT_STATE_H
#define JIT_OPT_STATE_H

#include "jit/emit.h"
#include "jit/ir.h"
#include "jit/lower.h"
#include "jit/opt_fragment.h"

enum {
	OPT_STACK = 24,
	OPT_SLOTS = 400,
	OPT_BLOCKS = 256,
	OPT_INLINE_DEPTH = 2,
	OPT_RELOADS = 4,
};

struct opt_item {
	uint8_t kind;	/* enum opt_kind */
	bool local;	/* OPT_FRAME on the stack: the object of local `slot`, borrowed */
	bool synced;	/* a local's number: the frame has it, too */
	bool maybe;	/* a dead local: its flag says whether there is a number at all */
	int16_t slot;	/* where a number is */
	int32_t id;	/* of a number: equal ids, same number; 0: not known */
	int16_t origin; /* of a number: the local it was loaded from + 1, or 0 */
	int16_t constant; /* where it is known: its place among the constants + 1, or 0 */
	PyObject *object; /* OPT_CONST; OPT_FRAME: an example of what it is, or NULL; an
			   * iterator: what it is over */
	PyObject *other;  /* the second of OPT_ZIP */
};

struct opt_state {
	bool reached;
	int depth;
	struct opt_item locals[OPT_LOCALS];
	struct opt_item stack[OPT_STACK];
};

struct opt {
	const struct ir *ir;	/* of the code object, or of the one being inlined */
	const struct ir *outer; /* of the code object */
	int head, tail; /* ops of the loop: the first, and the last jump back to it */
	_PyInterpreterFrame *frame;
	struct compiled *compiled;
	struct opt_fragment *fragment;
	struct emit emit;
	bool emitting;
	const char *refusal; /* why not, or NULL */

	struct opt_state *in; /* on entry of each block */
	int labels[OPT_BLOCKS];
	bool body[OPT_BLOCKS]; /* belongs to the loop */
	uint64_t live[OPT_BLOCKS];
	uint64_t written;  /* locals stored to in the loop */
	uint64_t numbered; /* locals that numbers are stored to */
	uint64_t objected; /* locals that objects are stored to */
	uint64_t
		shares[OPT_LOCALS]; /* locals that may have the same number as this one */
	int32_t ids;		    /* given out so far */
	uint64_t flagged;	    /* locals that may be in the frame or in their slot */
	int flag_slot[OPT_LOCALS];
	int slots; /* used so far */

	struct opt_state state;
	int number;	 /* op being compiled */
	int skip;	 /* ops after it that are done with it */
	int exit_common; /* label */
	int constants;	 /* slots taken from the end */

	/* Operations that only the baseline's lowering does: the frame is complete there. */
	bool hybrid;
	uint8_t *boxed; /* by op: left to the baseline's lowering */
	struct lower lower;

	/* Registers that are homes of slots, by 2 * slot + whether it is a float: the register
	 * + 1. The first emission counts uses in `weights` instead, each by `weight`. */
	uint8_t *homes;
	uint64_t *weights;
	uint64_t weight;
	bool plain_stencils; /* some that change more than rax, rcx and rdx */
	int reloads[OPT_RELOADS], reload_count;

	/* While a call is inlined: exits are those of the call. */
	const struct opt_state *call_state;
	int call_number;
	int inlined;
	struct opt_item *inline_locals;
};

/* Finds the loop's blocks, what is live and what is written. False: not a loop for us. */
bool opt_find_loop(struct opt *opt);

/* Compiles one op in the current state; false: refused (`refusal`). */
bool opt_op(struct opt *opt);

/* Leaves the current op to the baseline's lowering, with its operands as objects. */
bool opt_generic(struct opt *opt);
/* The same where the op ends the block; its jump goes to an edge. */
bool opt_generic_jump(struct opt *opt, const struct ir_op *op, bool *changed);
/* Prepares the lowering, makes the common ends, takes the result over. */
bool opt_lower_begin(struct opt *opt);
void opt_lower_ends(struct opt *opt);
void opt_lower_commit(struct opt *opt);
void opt_lower_end(struct opt *opt);
/* Puts the numbers of locals into the frame: before anybody may look. */
void opt_sync(struct opt *opt);
void opt_sync_local(struct opt *opt, int local);
/* An object on the stack becomes a number of that kind, or the code is left. */
bool opt_unbox(struct opt *opt, int depth, int kind);
/* A stack entry gets an object in its own place. */
bool opt_own(struct opt *opt, int depth);
/* POP_TOP, STORE_FAST of objects, where their end may run Python code. */
void opt_drop_entry(struct opt *opt, int depth);
void opt_set_local(struct opt *opt, uint32_t local, struct opt_item item, int depth);
/* Where a loop over a list ends and takes the list with it. */
int opt_iterator_end(struct opt *opt, int target, int depth);
/* PUT_FRAME: what an element was may run Python code as it goes. */
void opt_put_object(struct opt *opt, struct emit_holes holes);
/* Puts a label of an edge where the lowering looks for it. False: refused. */
bool opt_edge_label(struct opt *opt, int number, bool *changed);
bool opt_is_avoided(const struct opt *opt, int number);
/* An example of a kind of number. */
PyObject *opt_example(int kind);

/* Ways to the op `number` of the loop or outside of it, with the stack flushed: a label (0
 * while not emitting); falling through; the jump `op`, with what it tests on top, or at
 * compare >= 0 the two that it compares. Where what meets there is new, `changed` is set.
 * False, or opt->refusal: refused. */
int opt_edge(struct opt *opt, int number, bool *changed);
bool opt_fall(struct opt *opt, int number, bool *changed);
bool opt_jump(struct opt *opt, const struct ir_op *op, bool *changed);
bool opt_pop_jump(struct opt *opt, const struct ir_op *op, int compare, bool *changed);
/* FOR_ITER. */
bool opt_for_iter(struct opt *opt, const struct ir_op *op, bool *changed);

/* The state on entry, by what the frame holds now, with what must hold on each entry; what
 * is a number at the head once the types have settled must be one, too. */
bool opt_enter_state(struct opt *opt);
bool opt_need_numbers(struct opt *opt);

/* Emission; all do nothing while not emitting. */
void opt_stencil(struct opt *opt, enum stencils id, struct emit_holes holes);
/* An exit before the current op (or the call that it is inlined in). */
int opt_exit_here(struct opt *opt);
/* The same behind opt_asm_save(), or from a stencil that calls C functions. */
int opt_exit_saved(struct opt *opt);
/* An exit to the start of a block, with the state as it is. */
int opt_exit_to(struct opt *opt, int number, const struct opt_state *state);

/* Makes `shares` transitive, once all of the loop has been seen. */
void opt_close_shares(struct opt *opt);

bool opt_refuse(struct opt *opt, const char *why);
int opt_new_slot(struct opt *opt);
int opt_int_constant(struct opt *opt, long value);
int opt_float_constant(struct opt *opt, double value);
bool opt_need(struct opt *opt, struct opt_need need);
/* The slot of a stack entry. */
int opt_stack_slot(const struct opt *opt, int depth);
/* Puts all stack entries, or those below a depth, where the start of a block wants them. */
bool opt_flush(struct opt *opt);
bool opt_flush_below(struct opt *opt, int limit);
/* The jump on a comparison of the two on top, which stay. */
void opt_compare_jump(struct opt *opt, int compare, bool when, int target);
/* The jump where the number on top is true or not; it stays. */
void opt_truth_jump(struct opt *opt, struct opt_item item, bool when, int target);
bool opt_is_number(const struct opt_item *item);
/* Offset of a stack entry in the frame. */
uint64_t opt_frame_at(const struct opt *opt, int depth);

/* CALL, with what is inlined and the builtins done in place. */
bool opt_call(struct opt *opt);
bool opt_binary(struct opt *opt, uint32_t oparg);
bool opt_compare(struct opt *opt);
bool opt_unary(struct opt *opt);
bool opt_subscript(struct opt *opt);
bool opt_store_subscript(struct opt *opt);
bool opt_load_attribute(struct opt *opt);
bool opt_store_attribute(struct opt *opt);
bool opt_unpack(struct opt *opt);
/* BUILD_SLICE, and the subscript of a list behind it. */
bool opt_build_slice(struct opt *opt, uint32_t count);
bool opt_unpack_pair(struct opt *opt);
/* What enumerate() and zip() are over, as examples; false: it is neither, or over others. */
bool opt_pair_example(PyObject *object, struct opt_item *item);
/* The call of one of the two, where what it makes is iterated over at once. */
bool opt_call_pair(struct opt *opt, PyObject *callee, int count);
/* LOAD_METHOD of a list, and the call of what it loaded. */
bool opt_load_method(struct opt *opt);
bool opt_call_method(struct opt *opt);
bool opt_get_iter(struct opt *opt);
/* Whether KW_NAMES stands before a CALL: nothing may come between. */
bool opt_has_names(const struct opt *opt, const struct ir_op *op);
/* The two entries on top as numbers, where they may be. */
bool opt_unbox_two(struct opt *opt);
bool opt_release_under(struct opt *opt, int depth);
void opt_check_shared(struct opt *opt, int depth);
/* Whether what the current op loads is calculated with, and not handed on. */
bool opt_wants_number(const struct opt *opt);
/* Operands of an operation: how many entries it makes, and takes. */
int opt_count_results(const struct ir_op *op);
/* What an object will be where it is loaded as a number or an object. */
int opt_kind_of(PyObject *object, PyObject **example);
/* Where the frame has an object of the stack. */
uint64_t opt_object_at(const struct opt *opt, const struct opt_item *item, int depth);
/* Entries that are where a local is get a place of their own before it changes. */
void opt_save_local(struct opt *opt, int local);
/* UNBOX for a kind; `borrowed`: the object stays where it is. */
enum stencils opt_unbox_stencil(int kind, bool borrowed);
/* Whether a number is just what a local has. */
bool opt_is_of_local(const struct opt *opt, const struct opt_item *item);
/* The frame has what a local is. */
void opt_mark_object(struct opt *opt, uint32_t local);
/* A number that another local has: both have one object. False: it is not such. */
bool opt_store_shared(struct opt *opt, uint32_t local, struct opt_item item);
bool opt_store_local(struct opt *opt, uint32_t local, struct opt_item item);
struct opt_item opt_pop(struct opt *opt);
bool opt_push(struct opt *opt, struct opt_item item);
/* Where the result of an op goes: the local that it is stored to next, or the stack. */
int opt_result_slot(struct opt *opt, int kind);
int opt_as_float(struct opt *opt, struct opt_item item, bool exact);

#endif
