/* The state while a loop is compiled: what is known of locals and stack, and the code. */
#ifndef JIT_OPT_STATE_H
#define JIT_OPT_STATE_H

#include "jit/emit.h"
#include "jit/ir.h"
#include "jit/opt_fragment.h"

enum {
	OPT_STACK = 24,
	OPT_SLOTS = 400,
	OPT_BLOCKS = 256,
	OPT_INLINE_DEPTH = 2,
};

struct opt_item {
	uint8_t kind; /* enum opt_kind */
	bool local;   /* OPT_FRAME on the stack: the object of local `slot`, borrowed */
	int16_t slot; /* where a number is */
	int32_t id;   /* of a number: equal ids, same number; 0: not known */
	PyObject *object; /* OPT_CONST; OPT_FRAME: an example of what it is, or NULL */
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

	struct opt_state in[OPT_BLOCKS]; /* on entry of each block */
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

/* Emission; all do nothing while not emitting. */
void opt_stencil(struct opt *opt, enum stencils id, struct emit_holes holes);
/* An exit before the current op (or the call that it is inlined in). */
int opt_exit_here(struct opt *opt);
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
bool opt_get_iter(struct opt *opt);
/* What an object will be where it is loaded as a number or an object. */
int opt_kind_of(PyObject *object, PyObject **example);
/* Where the frame has an object of the stack. */
uint64_t opt_object_at(const struct opt *opt, const struct opt_item *item, int depth);
bool opt_store_local(struct opt *opt, uint32_t local, struct opt_item item);
struct opt_item opt_pop(struct opt *opt);
bool opt_push(struct opt *opt, struct opt_item item);
/* Where the result of an op goes: the local that it is stored to next, or the stack. */
int opt_result_slot(struct opt *opt, int kind);
int opt_as_float(struct opt *opt, struct opt_item item, bool exact);

#endif
