/* Ways between the blocks of a loop: where they meet, each value has one type. */
#include "jit/opt_asm.h"

#include "jit/runtime.h"

/* A local that is different things on different ways is an object, and stays one: `synced`
 * marks that. */
static bool widen_local(struct opt *opt, struct opt_item *item, bool *changed)
{
	if (!opt->hybrid)
		return opt_refuse(opt, "a local has two types");
	*item = (struct opt_item){.kind = OPT_FRAME, .synced = true};
	*changed = true;
	return true;
}

/* What two ways into a block know of a local. False: they do not go together. */
static bool join_local(
	struct opt *opt, int block, int local, const struct opt_item *b, bool *changed)
{
	struct opt_item *a = &opt->in[block].locals[local];
	bool live = opt->live[block] >> local & 1;

	if (a->kind == b->kind) {
		if (a->kind == OPT_CONST && a->object != b->object)
			return widen_local(opt, a, changed);
		if ((a->synced && !b->synced) || (!a->maybe && b->maybe)) {
			a->synced &= b->synced;
			a->maybe |= b->maybe;
			*changed = true;
		}
		return true;
	}
	if (opt->hybrid && (live || !(opt->flagged >> local & 1) ||
				   (a->kind != OPT_FRAME && b->kind != OPT_FRAME)))
		return a->kind == OPT_FRAME || widen_local(opt, a, changed);
	if (live)
		return opt_refuse(opt, "a local has two types");
	/* Not read any more: whether the frame or the slot has it is known at run time. */
	if (!(opt->flagged >> local & 1))
		return opt_refuse(opt, "a dead local has two types");
	if (a->kind == OPT_FRAME && opt_is_number(b)) {
		if (a->synced) /* it has been two kinds of numbers: stays an object */
			return true;
		*a = *b;
		a->synced = false;
		a->maybe = true;
		*changed = true;
		return true;
	}
	if (b->kind == OPT_FRAME && opt_is_number(a)) {
		*changed |= a->synced || !a->maybe;
		a->synced = false;
		a->maybe = true;
		return true;
	}
	return opt_refuse(opt, "a dead local has two types");
}

static bool opt_join(struct opt *opt, int block, bool *changed)
{
	struct opt_state *in = &opt->in[block];

	if (!in->reached) {
		*in = opt->state;
		in->reached = true;
		*changed = true;
		return true;
	}
	if (in->depth != opt->state.depth)
		return opt_refuse(opt, "stack depth");
	for (int i = 0; i < in->depth; i++) {
		if (in->stack[i].kind == opt->state.stack[i].kind ||
			in->stack[i].kind == OPT_FRAME)
			continue;
		if (!opt->hybrid || opt->state.stack[i].kind == OPT_NULL ||
			in->stack[i].kind == OPT_NULL)
			return opt_refuse(opt, "a stack entry has two types");
		in->stack[i] = (struct opt_item){.kind = OPT_FRAME};
		*changed = true;
	}
	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++) {
		if (!join_local(opt, block, i, &opt->state.locals[i], changed))
			return false;
	}
	return true;
}

/* Whether the state is not as a block wants it: numbers are to become objects. */
static bool must_convert(const struct opt *opt, const struct opt_state *in)
{
	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++) {
		const struct opt_item *item = &opt->state.locals[i];

		if (in->locals[i].kind == OPT_FRAME && opt_is_number(item) &&
			!item->synced)
			return true;
	}
	for (int i = 0; i < in->depth; i++) {
		if (in->stack[i].kind == OPT_FRAME && opt_is_number(&opt->state.stack[i]))
			return true;
	}
	return false;
}

/* Code between an edge and a block, in the cold part. */
static int opt_convert(struct opt *opt, int block)
{
	const struct opt_state *in = &opt->in[block];
	struct opt_state before = opt->state;
	int label;

	if (!opt->emitting || !must_convert(opt, in))
		return opt->labels[block];
	label = emit_label(&opt->emit);
	emit_cold(&opt->emit, true);
	emit_bind(&opt->emit, label);
	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++) {
		if (in->locals[i].kind == OPT_FRAME)
			opt_sync_local(opt, i);
	}
	for (int i = 0; i < in->depth; i++) {
		if (in->stack[i].kind == OPT_FRAME)
			opt_own(opt, i);
	}
	emit_jump(&opt->emit, opt->labels[block]);
	emit_cold(&opt->emit, false);
	opt->state = before;
	return label;
}

/* The label for going on at an op, with the stack flushed: in the loop, or out of it. */
int opt_edge(struct opt *opt, int number, bool *changed)
{
	int block = opt->ir->ops[number].block;

	if (number >= opt->head && number <= opt->tail && opt->body[block]) {
		if (!opt_join(opt, block, changed))
			return 0;
		return opt_convert(opt, block);
	}
	return opt_exit_to(opt, number, &opt->state);
}

static void opt_poll(struct opt *opt, int target)
{
	if (opt->emitting)
		opt_asm_poll(opt, &runtime_eval_breaker,
			opt_exit_to(opt, target, &opt->state));
}

static void opt_go(struct opt *opt, int label)
{
	if (opt->emitting && label)
		emit_jump(&opt->emit, label);
}

/* Falls through to the next block, where that comes next in the code. */
bool opt_fall(struct opt *opt, int number, bool *changed)
{
	int block = opt->ir->ops[number].block;
	int label;

	if (!opt_flush(opt))
		return false;
	label = opt_edge(opt, number, changed);
	if (opt->refusal)
		return false;
	if (number > opt->tail || !opt->body[block] || label != opt->labels[block])
		opt_go(opt, label);
	return true;
}

bool opt_edge_label(struct opt *opt, int number, bool *changed)
{
	int label = opt_edge(opt, number, changed);

	if (opt->refusal)
		return false;
	if (opt->emitting)
		opt->lower.labels[number] = label;
	return true;
}

bool opt_jump(struct opt *opt, const struct ir_op *op, bool *changed)
{
	int label;

	if (!opt_flush(opt))
		return false;
	if (op->flags & IR_BACKWARD)
		opt_poll(opt, op->target);
	label = opt_edge(opt, op->target, changed);
	if (opt->refusal)
		return false;
	opt_go(opt, label);
	return true;
}

static bool jumps_if_true(uint8_t opcode)
{
	return opcode == POP_JUMP_FORWARD_IF_TRUE || opcode == POP_JUMP_BACKWARD_IF_TRUE;
}

/* Jumps where a comparison (`compare` >= 0) or a value on top is what the opcode says. A
 * jump back is polled behind the decision, on the way of the jump. */
bool opt_pop_jump(struct opt *opt, const struct ir_op *op, int compare, bool *changed)
{
	int operands = compare >= 0 ? 2 : 1;
	struct opt_item top = opt->state.stack[opt->state.depth - 1];
	struct opt_state with;
	bool when = jumps_if_true(op->opcode);
	int label, way = 0;

	if (operands == 2 && !opt_unbox_two(opt))
		return opt_refuse(opt, "condition is no number");
	if (operands == 1 && opt->hybrid && top.kind == OPT_FRAME && top.object &&
		PyBool_Check(top.object) &&
		!opt_unbox(opt, opt->state.depth - 1, OPT_BOOL))
		return false;
	top = opt->state.stack[opt->state.depth - 1];
	if (!opt_is_number(&top))
		return opt_refuse(opt, "condition is no number");
	if (!opt_flush_below(opt, opt->state.depth - operands))
		return false;
	with = opt->state;
	opt->state.depth -= operands;
	label = opt_edge(opt, op->target, changed);
	if (opt->refusal)
		return false;
	if (op->flags & IR_BACKWARD && opt->emitting) {
		/* The exit first: it is cold code of its own. */
		int leave = opt_exit_to(opt, op->target, &opt->state);

		way = emit_label(&opt->emit);
		emit_cold(&opt->emit, true);
		emit_bind(&opt->emit, way);
		opt_asm_poll(opt, &runtime_eval_breaker, leave);
		emit_jump(&opt->emit, label);
		emit_cold(&opt->emit, false);
		label = way;
	}
	opt->state = with;
	if (operands == 2) {
		opt_compare_jump(opt, compare, when, label);
	} else {
		opt_truth_jump(opt, opt->state.stack[opt->state.depth - 1], when, label);
	}
	opt->state.depth = with.depth - operands;
	return !opt->refusal;
}
