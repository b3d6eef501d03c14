/* Lowering by the baseline: comparisons and what jumps. */
#include "jit/lower_ops.h"

/* A jump that follows and takes the truth of what an operation makes, or NULL. */
static const struct ir_op *fused_jump(const struct lower *lower)
{
	const struct ir_op *next = lower_op(lower) + 1;

	if (lower->number + 1 >= lower->ir->op_count || next->flags & IR_LEADER)
		return NULL;
	switch (next->opcode) {
	case POP_JUMP_FORWARD_IF_FALSE:
	case POP_JUMP_FORWARD_IF_TRUE:
	case POP_JUMP_BACKWARD_IF_FALSE:
	case POP_JUMP_BACKWARD_IF_TRUE: return next;
	default: return NULL;
	}
}

/* Where a jump back goes first: a poll stands between. The jump must become the one on
 * the opposite outcome, over the poll. */
static void jump_back(struct lower *lower, int number)
{
	const struct ir_op *op = &lower->ir->ops[number];
	uint32_t target = lower->ir->ops[op->target].index;
	int current = lower->number;
	int deopt = lower_deopt(lower, op->target);

	lower->number = number;
	lower_stencil(lower, STENCIL_POLL,
		(struct emit_holes){
			.error = lower_error_at(lower, target ? target - 1 : 0),
			.deopt = deopt});
	emit_jump(lower->emit, lower_label(lower, op->target));
	lower->number = current;
}

/* Emits a conditional jump with stencils for the two outcomes; `number` is the jump's op.
 * The stack is the one after it, and in its slots. */
static void conditional(struct lower *lower, int number, bool when, enum stencils if_true,
	enum stencils if_false, struct emit_holes holes)
{
	const struct ir_op *op = &lower->ir->ops[number];
	int over;

	if (!(op->flags & IR_BACKWARD)) {
		holes.target = lower_label(lower, op->target);
		lower_stencil(lower, when ? if_true : if_false, holes);
		return;
	}
	over = emit_label(lower->emit);
	holes.target = over;
	lower_stencil(lower, when ? if_false : if_true, holes);
	jump_back(lower, number);
	emit_bind(lower->emit, over);
}

static bool jumps_when_true(const struct ir_op *op)
{
	return op->opcode == POP_JUMP_FORWARD_IF_TRUE ||
	       op->opcode == POP_JUMP_BACKWARD_IF_TRUE;
}

/* Takes two operands with everything below them in its slots, for a jump. */
static uint32_t take_two_to_jump(struct lower *lower)
{
	struct lower_value b = lower_pop(lower);
	struct lower_value a = lower_pop(lower);

	lower_flush(lower, 0);
	lower_argument(lower, 0, a);
	lower_argument(lower, 1, b);
	return (lower_owned(a) ? RUNTIME_OWNS_A : 0) |
	       (lower_owned(b) ? RUNTIME_OWNS_B : 0);
}

/* The stencil for a comparison of numbers, of those that follow `first`. */
static enum stencils compare_stencil(
	enum stencils first, uint32_t operation, uint32_t owned)
{
	return (enum stencils)((uint32_t)first + operation * 4 + owned);
}

/* Compares and jumps where the outcome is `when`. */
static void compare_jump(struct lower *lower, int number, bool when, uint32_t owned)
{
	const struct ir_op *jump = &lower->ir->ops[number];
	uint32_t oparg = lower_op(lower)->oparg;
	bool back = jump->flags & IR_BACKWARD;
	int over = back ? emit_label(lower->emit) : lower_label(lower, jump->target);
	struct cache *cache;
	struct cache_seed seed;

	when ^= back;
	cache = lower_cache_begin(lower, CACHE_COMPARE, NULL, owned, 0);
	cache->oparg |= when ? RUNTIME_WHEN : 0;
	cache->target_label = over;
	seed = (struct cache_seed){compare_stencil(when ? STENCIL_JUMP_IF_LESS_BB
							: STENCIL_JUMP_UNLESS_LESS_BB,
					   oparg, owned),
		{0}};
	lower_cache_end(lower, cache, STENCIL_COMPARE_MISS_JUMP, &seed);
	if (back) {
		jump_back(lower, number);
		emit_bind(lower->emit, over);
	}
}

void lower_compare_op(struct lower *lower)
{
	uint32_t oparg = lower_op(lower)->oparg;
	const struct ir_op *jump = fused_jump(lower);
	uint32_t owned = jump ? take_two_to_jump(lower) : lower_take_two(lower);

	if (jump) {
		compare_jump(lower, lower->number + 1, jumps_when_true(jump), owned);
		lower->skip = 1;
		return;
	}
	lower_operands(lower, CACHE_COMPARE, owned,
		(int)compare_stencil(STENCIL_COMPARE_LESS_BB, oparg, owned),
		(struct emit_holes){0}, STENCIL_COMPARE_MISS);
	lower_push_top(lower);
}

void lower_contains_op(struct lower *lower)
{
	uint32_t negate = lower_op(lower)->oparg;
	const struct ir_op *jump = fused_jump(lower);
	uint32_t owned = jump ? take_two_to_jump(lower) : lower_take_two(lower);
	struct emit_holes holes = {.a = owned, .b = negate, .error = lower_error(lower)};

	if (jump) {
		conditional(lower, lower->number + 1, jumps_when_true(jump) != negate,
			STENCIL_CONTAINS_JUMP_TRUE, STENCIL_CONTAINS_JUMP_FALSE, holes);
		lower->skip = 1;
		return;
	}
	lower_stencil(lower, STENCIL_CONTAINS, holes);
	lower_push_top(lower);
}

void lower_take_owned(struct lower *lower)
{
	struct lower_value value = lower_pop(lower);

	lower_flush(lower, 0);
	lower_argument(lower, 0, value);
	if (!lower_owned(value))
		lower_stencil(lower, STENCIL_OWN0, (struct emit_holes){0});
}

void lower_is_op(struct lower *lower)
{
	uint32_t negate = lower_op(lower)->oparg;
	const struct ir_op *jump = fused_jump(lower);
	struct emit_holes holes = {.a = negate};

	if (!jump) {
		holes.c = lower_take_two(lower);
		lower_stencil(lower, STENCIL_IS, holes);
		lower_push_top(lower);
		return;
	}
	holes.c = take_two_to_jump(lower);
	conditional(lower, lower->number + 1, jumps_when_true(jump) != negate,
		STENCIL_IS_JUMP_TRUE, STENCIL_IS_JUMP_FALSE, holes);
	lower->skip = 1;
}

void lower_unary_not(struct lower *lower)
{
	uint32_t owned = lower_take_one(lower);

	lower_stencil(lower, STENCIL_NOT,
		(struct emit_holes){.a = owned, .error = lower_error(lower)});
	lower_push_top(lower);
}

void lower_pop_jump(struct lower *lower)
{
	struct lower_value a = lower_pop(lower);
	bool owned = lower_owned(a);

	lower_flush(lower, 0);
	lower_argument(lower, 0, a);
	conditional(lower, lower->number, jumps_when_true(lower_op(lower)),
		owned ? STENCIL_JUMP_TRUE_OWNED : STENCIL_JUMP_TRUE,
		owned ? STENCIL_JUMP_FALSE_OWNED : STENCIL_JUMP_FALSE,
		(struct emit_holes){.error = lower_error(lower)});
}

void lower_pop_jump_none(struct lower *lower)
{
	uint8_t opcode = lower_op(lower)->opcode;
	struct lower_value a = lower_pop(lower);
	bool owned = lower_owned(a);

	lower_flush(lower, 0);
	lower_argument(lower, 0, a);
	conditional(lower, lower->number,
		opcode == POP_JUMP_FORWARD_IF_NONE || opcode == POP_JUMP_BACKWARD_IF_NONE,
		owned ? STENCIL_JUMP_NONE_OWNED : STENCIL_JUMP_NONE,
		owned ? STENCIL_JUMP_NOT_NONE_OWNED : STENCIL_JUMP_NOT_NONE,
		(struct emit_holes){0});
}

void lower_jump_or_pop(struct lower *lower)
{
	const struct ir_op *op = lower_op(lower);
	struct lower_value a;

	lower_flush(lower, 0);
	a = lower->stack[lower->depth - 1];
	lower_argument(lower, 0, a);
	lower_stencil(lower,
		op->opcode == JUMP_IF_TRUE_OR_POP ? STENCIL_JUMP_TRUE
						  : STENCIL_JUMP_FALSE,
		(struct emit_holes){.error = lower_error(lower),
			.target = lower_label(lower, op->target)});
	lower_pop_top(lower);
}

void lower_jump(struct lower *lower)
{
	const struct ir_op *op = lower_op(lower);

	lower_flush(lower, 0);
	if (op->opcode == JUMP_BACKWARD)
		jump_back(lower, lower->number);
	else
		emit_jump(lower->emit, lower_label(lower, op->target));
	lower->dead = true;
}

void lower_for_iter(struct lower *lower)
{
	const struct ir_op *op = lower_op(lower);
	uint32_t slot;
	int end = emit_label(lower->emit);
	struct cache *cache;

	lower_flush(lower, 0);
	slot = lower_slot_at(lower, lower->depth - 1);
	cache = lower_cache_begin(lower, CACHE_ITERATE, NULL, 0, slot);
	cache->target_label = end;
	lower_cache_end(lower, cache, STENCIL_ITERATE_MISS, NULL);
	emit_cold(lower->emit, true);
	emit_bind(lower->emit, end);
	lower_stencil(lower, STENCIL_ITERATE_END,
		(struct emit_holes){.a = slot,
			.error = cache->error_label,
			.target = lower_label(lower, op->target)});
	emit_cold(lower->emit, false);
	lower_push_top(lower);
}

void lower_send(struct lower *lower)
{
	struct cache *cache;

	lower_flush(lower, 0);
	cache = lower_cache_begin(
		lower, CACHE_SEND, NULL, 0, lower_slot_at(lower, lower->depth - 2));
	cache->oparg = lower_slot_at(lower, lower->depth - 1);
	cache->target_label = lower_label(lower, lower_op(lower)->target);
	lower_cache_end(lower, cache, STENCIL_SEND_MISS, NULL);
}
