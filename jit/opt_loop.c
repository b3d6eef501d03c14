/* Which blocks belong to a loop, and which locals are live in it. */
#include "jit/opt_state.h"

static int block_of(const struct opt *opt, int number)
{
	return opt->ir->ops[number].block;
}

/* Calls `visit` for each block that a block goes on to. */
static void successors(const struct ir *ir, int block, int next[2])
{
	const struct ir_op *last = &ir->ops[ir->blocks[block].last];

	next[0] = next[1] = IR_NONE;
	if (last->target != IR_NONE)
		next[0] = ir->ops[last->target].block;
	if (!ir_ends(last->opcode) && block + 1 < ir->block_count)
		next[1] = block + 1;
}

/* Blocks between head and tail from which the head is reached again. */
static void find_body(struct opt *opt)
{
	const struct ir *ir = opt->ir;
	int head = block_of(opt, opt->head), tail = block_of(opt, opt->tail);
	bool changed = true;

	for (int i = head; i <= tail; i++) {
		const struct ir_op *last = &ir->ops[ir->blocks[i].last];

		opt->body[i] = last->target == opt->head && last->flags & IR_BACKWARD;
	}
	while (changed) {
		changed = false;
		for (int i = head; i <= tail; i++) {
			int next[2];

			if (opt->body[i])
				continue;
			successors(ir, i, next);
			for (int k = 0; k < 2; k++) {
				if (next[k] > head && next[k] <= tail &&
					opt->body[next[k]])
					opt->body[i] = changed = true;
			}
		}
	}
	opt->body[head] = true;
}

static uint64_t bit(uint32_t local)
{
	return 1ull << local;
}

/* Locals read before they are written, from the end of a block to its start. An exception
 * handler may read whatever is bound. */
static uint64_t flow(const struct ir *ir, int block, uint64_t live)
{
	for (int i = ir->blocks[block].last; i >= ir->blocks[block].first; i--) {
		const struct ir_op *op = &ir->ops[i];

		if (op->opcode == STORE_FAST)
			live &= ~bit(op->oparg);
		else if (op->opcode == LOAD_FAST || op->opcode == DELETE_FAST ||
			 op->opcode == LOAD_CLOSURE)
			live |= bit(op->oparg);
		if (op->handler != IR_NONE)
			live = ~0ull;
	}
	return live;
}

static void find_live(struct opt *opt)
{
	const struct ir *ir = opt->ir;
	bool changed = true;

	while (changed) {
		changed = false;
		for (int i = ir->block_count - 1; i >= 0; i--) {
			int next[2];
			uint64_t live = 0;

			successors(ir, i, next);
			for (int k = 0; k < 2; k++)
				live |= next[k] == IR_NONE ? 0 : opt->live[next[k]];
			live = flow(ir, i, live);
			changed |= live != opt->live[i];
			opt->live[i] = live;
		}
	}
}

bool opt_find_loop(struct opt *opt)
{
	const struct ir *ir = opt->ir;

	if (ir->block_count > OPT_BLOCKS || ir->code->co_nlocalsplus > OPT_LOCALS ||
		ir->code->co_stacksize >= OPT_STACK - 2)
		return opt_refuse(opt, "too big");
	opt->tail = IR_NONE;
	for (int i = opt->head; i < ir->op_count; i++) {
		if (ir->ops[i].target == opt->head && ir->ops[i].flags & IR_BACKWARD)
			opt->tail = i;
	}
	if (opt->tail == IR_NONE)
		return opt_refuse(opt, "no jump back");
	find_body(opt);
	find_live(opt);
	for (int i = opt->head; i <= opt->tail; i++) {
		if (opt->body[block_of(opt, i)] && ir->ops[i].opcode == STORE_FAST)
			opt->written |= bit(ir->ops[i].oparg);
	}
	opt->flagged = opt->written & ~opt->live[block_of(opt, opt->head)];
	return true;
}
