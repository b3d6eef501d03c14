/* Lowering by the baseline: operators on numbers and strings, subscripts. */
#include "jit/lower_ops.h"

/* Whether the interpreter has seen operands that are no strings. */
static bool saw_numbers(const struct ir_op *op)
{
	return op->adaptive == BINARY_OP_ADD_INT || op->adaptive == BINARY_OP_ADD_FLOAT;
}

/* `s += t` where s is a local that is stored to next (BINARY_OP_INPLACE_ADD_UNICODE in
 * ceval.c): a string is appended to in place, behind the code; the code goes on where
 * `over` is bound, after the store. False: it is not that. */
static bool append_string(struct lower *lower, int *over)
{
	const struct ir_op *op = lower_op(lower);
	const struct ir_op *next = op + 1;
	struct lower_value left = lower->stack[lower->depth - 2];
	struct lower_value right = lower->stack[lower->depth - 1];
	struct emit *emit = lower->emit;
	int append;
	int error;

	if ((op->oparg != NB_ADD && op->oparg != NB_INPLACE_ADD) || saw_numbers(op) ||
		next->opcode != STORE_FAST || next->flags & IR_LEADER ||
		left.where != LOWER_LOCAL || left.number != next->oparg)
		return false;
	lower->depth -= 2;
	lower_spill(lower);
	lower_save_local(lower, left.number);
	append = emit_label(emit);
	*over = emit_label(emit);
	error = lower_error(lower);
	lower_stencil(lower, STENCIL_CHECK_STRING,
		(struct emit_holes){.a = lower_local_at(left.number), .exit = append});
	emit_cold(emit, true);
	emit_bind(emit, append);
	lower_argument(lower, 0, right);
	lower_stencil(lower, STENCIL_APPEND_STRING,
		(struct emit_holes){
			.a = op->oparg << RUNTIME_OWNS_BITS |
			     (lower_owned(right) ? RUNTIME_OWNS_B : 0),
			.b = lower_local_at(left.number),
			.error = error,
			.cont = *over,
		});
	emit_cold(emit, false);
	lower->depth += 2;
	return true;
}

_Static_assert(
	STENCIL_ADD_OO == STENCIL_ADD_BB + 3 &&
		STENCIL_SUBTRACT_OO == STENCIL_SUBTRACT_BB + 3 &&
		STENCIL_MULTIPLY_OO == STENCIL_MULTIPLY_BB + 3 &&
		STENCIL_DIVIDE_OO == STENCIL_DIVIDE_BB + 3 &&
		STENCIL_AND_OO == STENCIL_AND_BB + 3 &&
		STENCIL_OR_OO == STENCIL_OR_BB + 3 &&
		STENCIL_XOR_OO == STENCIL_XOR_BB + 3 &&
		STENCIL_SHIFT_LEFT_OO == STENCIL_SHIFT_LEFT_BB + 3 &&
		STENCIL_SHIFT_RIGHT_OO == STENCIL_SHIFT_RIGHT_BB + 3 &&
		STENCIL_FLOOR_DIVIDE_OO == STENCIL_FLOOR_DIVIDE_BB + 3 &&
		STENCIL_REMAINDER_OO == STENCIL_REMAINDER_BB + 3 &&
		STENCIL_COMPARE_GREATER_EQUAL_OO == STENCIL_COMPARE_LESS_BB + 23 &&
		STENCIL_JUMP_IF_GREATER_EQUAL_OO == STENCIL_JUMP_IF_LESS_BB + 23 &&
		STENCIL_JUMP_UNLESS_GREATER_EQUAL_OO == STENCIL_JUMP_UNLESS_LESS_BB + 23,
	"variants by ownership follow each other");

/* The stencil for an operation on numbers by who owns the operands, or -1. */
static int number_stencil(uint32_t operation, uint32_t owned)
{
	static const int first[] = {
		[NB_ADD] = STENCIL_ADD_BB,
		[NB_SUBTRACT] = STENCIL_SUBTRACT_BB,
		[NB_MULTIPLY] = STENCIL_MULTIPLY_BB,
		[NB_TRUE_DIVIDE] = STENCIL_DIVIDE_BB,
		[NB_AND] = STENCIL_AND_BB,
		[NB_OR] = STENCIL_OR_BB,
		[NB_XOR] = STENCIL_XOR_BB,
		[NB_LSHIFT] = STENCIL_SHIFT_LEFT_BB,
		[NB_RSHIFT] = STENCIL_SHIFT_RIGHT_BB,
		[NB_FLOOR_DIVIDE] = STENCIL_FLOOR_DIVIDE_BB,
		[NB_REMAINDER] = STENCIL_REMAINDER_BB,
		[NB_POWER] = -1,
		[NB_MATRIX_MULTIPLY] = -1,
	};
	int stencil;

	/* Exact ints and floats have no operations in place of their own. */
	if (operation >= NB_INPLACE_ADD)
		operation -= NB_INPLACE_ADD;
	stencil = first[operation];
	return stencil < 0 ? -1 : stencil + (int)owned;
}

void lower_binary_op(struct lower *lower)
{
	uint32_t oparg = lower_op(lower)->oparg;
	int over;
	bool appends = append_string(lower, &over);
	uint32_t owned = lower_take_two(lower);

	lower_operands(lower, CACHE_BINARY, owned, number_stencil(oparg, owned),
		(struct emit_holes){0}, STENCIL_BINARY_MISS);
	lower_push_top(lower);
	if (!appends)
		return;
	lower->number++;
	lower_store_fast(lower);
	lower->number--;
	lower->skip = 1;
	emit_bind(lower->emit, over);
}

/* What the interpreter has seen, or a list. */
static int subscript_stencil(const struct ir_op *op)
{
	switch (op->adaptive) {
	case BINARY_SUBSCR_TUPLE_INT: return STENCIL_SUBSCRIPT_TUPLE;
	case BINARY_SUBSCR_DICT: return STENCIL_SUBSCRIPT_DICT;
	default: return STENCIL_SUBSCRIPT_LIST;
	}
}

void lower_binary_subscr(struct lower *lower)
{
	uint32_t owned = lower_take_two(lower);

	lower_operands(lower, CACHE_SUBSCRIPT, owned, subscript_stencil(lower_op(lower)),
		(struct emit_holes){.a = owned}, STENCIL_SUBSCRIPT_MISS);
	lower_push_top(lower);
}

void lower_store_subscr(struct lower *lower)
{
	struct lower_value key = lower_pop(lower);
	struct lower_value container = lower_pop(lower);
	struct lower_value value = lower_pop(lower);
	uint32_t owned = (lower_owned(container) ? RUNTIME_OWNS_A : 0) |
			 (lower_owned(key) ? RUNTIME_OWNS_B : 0) |
			 (lower_owned(value) ? RUNTIME_OWNS_C : 0);

	lower_spill(lower);
	lower_argument(lower, 0, container);
	lower_argument(lower, 1, key);
	lower_argument(lower, 2, value);
	lower_operands(lower, CACHE_STORE_SUBSCRIPT, owned, STENCIL_STORE_SUBSCRIPT_LIST,
		(struct emit_holes){.a = owned}, STENCIL_STORE_SUBSCRIPT_MISS);
}
