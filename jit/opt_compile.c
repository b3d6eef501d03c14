/* Compiling a loop: types by abstract interpretation until nothing changes, then code. */
#include "jit/opt_asm.h"

#include <stdlib.h>
#include <string.h>

#include "jit/cache.h"
#include "jit/codemem.h"
#include "jit/compile.h"
#include "jit/jit.h"
#include "jit/runtime.h"
#include "jit/symbols.h"

enum { MAX_PASSES = 20, MIN_NATIVES = 3, FRAME_SIZE = 8 * OPT_SLOTS };

_Static_assert(FRAME_SIZE % 16 == 0, "the stack must stay aligned");

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

static bool join(struct opt *opt, int block, bool *changed)
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
static int convert(struct opt *opt, int block)
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
static int edge(struct opt *opt, int number, bool *changed)
{
	int block = opt->ir->ops[number].block;

	if (number >= opt->head && number <= opt->tail && opt->body[block]) {
		if (!join(opt, block, changed))
			return 0;
		return convert(opt, block);
	}
	return opt_exit_to(opt, number, &opt->state);
}

static void poll(struct opt *opt, int target)
{
	if (opt->emitting)
		opt_asm_poll(opt, &runtime_eval_breaker,
			opt_exit_to(opt, target, &opt->state));
}

static void go(struct opt *opt, int label)
{
	if (opt->emitting && label)
		emit_jump(&opt->emit, label);
}

/* Falls through to the next block, where that comes next in the code. */
static bool fall(struct opt *opt, int number, bool *changed)
{
	int block = opt->ir->ops[number].block;
	int label;

	if (!opt_flush(opt))
		return false;
	label = edge(opt, number, changed);
	if (opt->refusal)
		return false;
	if (number > opt->tail || !opt->body[block] || label != opt->labels[block])
		go(opt, label);
	return true;
}

bool opt_edge_label(struct opt *opt, int number, bool *changed)
{
	int label = edge(opt, number, changed);

	if (opt->refusal)
		return false;
	if (opt->emitting)
		opt->lower.labels[number] = label;
	return true;
}

static bool jump(struct opt *opt, const struct ir_op *op, bool *changed)
{
	int label;

	if (!opt_flush(opt))
		return false;
	if (op->flags & IR_BACKWARD)
		poll(opt, op->target);
	label = edge(opt, op->target, changed);
	if (opt->refusal)
		return false;
	go(opt, label);
	return true;
}

static bool jumps_if_true(uint8_t opcode)
{
	return opcode == POP_JUMP_FORWARD_IF_TRUE || opcode == POP_JUMP_BACKWARD_IF_TRUE;
}

/* Jumps where a comparison (`compare` >= 0) or a value on top is what the opcode says. A
 * jump back is polled behind the decision, on the way of the jump. */
static bool pop_jump(struct opt *opt, const struct ir_op *op, int compare, bool *changed)
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
	label = edge(opt, op->target, changed);
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

/* The stencil for the next item of an iterator, and what that is. */
static bool next_item(struct opt *opt, const struct opt_item *iterator, enum stencils *id,
	struct opt_item *item)
{
	static const enum stencils ids[2][3] = {
		{STENCIL_OPT_FOR_LIST_FRAME, STENCIL_OPT_FOR_LIST_INT,
			STENCIL_OPT_FOR_LIST_FLOAT},
		{STENCIL_OPT_FOR_TUPLE_FRAME, STENCIL_OPT_FOR_TUPLE_INT,
			STENCIL_OPT_FOR_TUPLE_FLOAT},
	};
	PyObject *sequence = iterator->object, *example;
	bool is_tuple = iterator->kind == OPT_TUPLE;

	*item = (struct opt_item){.kind = OPT_INT};
	*id = STENCIL_OPT_RANGE_END;
	if (iterator->kind == OPT_RANGE)
		return true;
	if ((iterator->kind != OPT_LIST && !is_tuple) || !sequence || !Py_SIZE(sequence))
		return opt_refuse(opt, "iteration over other than a range or a list");
	item->kind =
		(uint8_t)opt_kind_of(PySequence_Fast_GET_ITEM(sequence, 0), &example);
	item->object = example;
	if (opt->hybrid) {
		/* The object itself: its identity matters where it is nan. */
		item->object = PySequence_Fast_GET_ITEM(sequence, 0);
		item->kind = OPT_FRAME;
	}
	if (item->kind > OPT_FLOAT)
		return opt_refuse(opt, "iteration over bools");
	*id = ids[is_tuple][item->kind];
	return true;
}

/* The element of a list, tuple or string as an example, or NULL. */
static PyObject *first_of(PyObject *sequence)
{
	if (!sequence || PyUnicode_CheckExact(sequence) || !Py_SIZE(sequence))
		return sequence && PyUnicode_CheckExact(sequence) ? sequence : NULL;
	return PySequence_Fast_GET_ITEM(sequence, 0);
}

/* FOR_ITER over enumerate() or zip(), and UNPACK_SEQUENCE behind it. */
static bool next_pair(struct opt *opt, const struct ir_op *op, bool *changed)
{
	int depth = opt->state.depth - 1;
	struct opt_item iterator = opt->state.stack[depth];
	bool counts = iterator.kind == OPT_ENUMERATE;
	struct emit_holes holes = {.a = opt_frame_at(opt, depth)};
	struct opt_item pair = {.kind = OPT_PAIR, .slot = -1};
	struct opt_state with;

	if (op[1].opcode != UNPACK_SEQUENCE || op[1].oparg != 2 || !opt_flush(opt))
		return opt_refuse(opt, "pairs that stay pairs");
	with = opt->state;
	opt->state.depth--;
	holes.target = edge(opt, op->target, changed);
	opt->state = with;
	if (opt->refusal)
		return false;
	holes.deopt = opt_exit_here(opt);
	if (opt->emitting)
		holes.exit = opt_iterator_end(opt, holes.target, depth);
	holes.b = opt_frame_at(opt, depth + 1);
	holes.c = opt_frame_at(opt, depth + 2);
	if (counts) {
		pair.slot = (int16_t)opt_stack_slot(opt, depth + 2);
		holes.c = opt_asm_out(opt, pair.slot, false);
	} else {
		/* zip() gives the first to where the second goes otherwise. */
		uint64_t first = holes.b;

		holes.b = holes.c;
		holes.c = first;
	}
	pair.object = iterator.object;
	pair.other = iterator.other;
	opt_stencil(opt, counts ? STENCIL_OPT_FOR_ENUMERATE : STENCIL_OPT_FOR_ZIP, holes);
	return opt_push(opt, pair);
}

bool opt_unpack_pair(struct opt *opt)
{
	struct opt_item pair = opt_pop(opt);
	struct opt_item first = {.kind = OPT_INT, .slot = pair.slot};
	struct opt_item second = {.kind = OPT_FRAME, .object = first_of(pair.object)};

	if (pair.slot < 0) {
		first = (struct opt_item){
			.kind = OPT_FRAME, .object = first_of(pair.object)};
		second.object = first_of(pair.other);
	}
	return opt_push(opt, second) && opt_push(opt, first);
}

/* Objects/rangeobject.c. */
struct range_iterator {
	PyObject ob_base;
	long index, start, step, len;
};

#define RANGE_AT(member) ((int32_t)offsetof(struct range_iterator, member))

/* The next number of the range whose iterator is on the stack. */
static void next_of_range(struct opt *opt, int depth, int slot, int target)
{
	int32_t at = (int32_t)opt_frame_at(opt, depth);
	int end;

	if (!opt->emitting)
		return;
	end = emit_label(&opt->emit);
	opt_asm_alu_memory(opt, ALU_LOAD, RCX, R12, at);
	opt_asm_alu_memory(opt, ALU_LOAD, RAX, RCX, RANGE_AT(index));
	opt_asm_alu_memory(opt, ALU_CMP, RAX, RCX, RANGE_AT(len));
	opt_asm_branch(opt, CC_GE, end);
	opt_asm_alu_memory(opt, ALU_LOAD, RDX, RCX, RANGE_AT(step));
	opt_asm_alu_register(opt, ALU_IMUL, RDX, RAX);
	opt_asm_alu_memory(opt, ALU_ADD, RDX, RCX, RANGE_AT(start));
	opt_asm_alu_constant(opt, ALU_ADD, RAX, 1);
	opt_asm_store_memory(opt, RCX, RANGE_AT(index), RAX);
	opt_asm_store(opt, slot, RDX);
	emit_cold(&opt->emit, true);
	emit_bind(&opt->emit, end);
	opt_asm_save(opt);
	opt_stencil(opt, STENCIL_OPT_RANGE_END, (struct emit_holes){.a = (uint64_t)at});
	opt_asm_restore(opt);
	emit_jump(&opt->emit, target);
	emit_cold(&opt->emit, false);
}

static bool for_iter(struct opt *opt, const struct ir_op *op, bool *changed)
{
	int depth = opt->state.depth - 1;
	struct emit_holes holes = {.a = opt_frame_at(opt, depth)};
	struct opt_item item;
	struct opt_state with;
	enum stencils id;
	uint8_t kind = opt->state.stack[depth].kind;
	bool iterator_is_list = kind == OPT_LIST || kind == OPT_TUPLE;

	if (kind == OPT_ENUMERATE || kind == OPT_ZIP)
		return opt->hybrid ? next_pair(opt, op, changed)
				   : opt_refuse(opt, "iteration over pairs");
	if (!next_item(opt, &opt->state.stack[depth], &id, &item) || !opt_flush(opt))
		return false;
	with = opt->state;
	opt->state.depth--;
	holes.target = edge(opt, op->target, changed);
	opt->state = with;
	if (opt->refusal)
		return false;
	holes.deopt = opt_exit_here(opt);
	item.id = ++opt->ids;
	if (iterator_is_list && opt->emitting)
		holes.exit = opt_iterator_end(opt, holes.target, depth);
	if (item.kind == OPT_FRAME) {
		holes.b = opt_frame_at(opt, depth + 1);
	} else {
		item.slot = (int16_t)opt_stack_slot(opt, depth + 1);
	}
	opt_push(opt, item);
	if (id == STENCIL_OPT_RANGE_END) {
		next_of_range(opt, depth, item.slot, holes.target);
		return true;
	}
	if (item.kind != OPT_FRAME)
		holes.b = opt_asm_out(opt, item.slot, item.kind == OPT_FLOAT);
	opt_stencil(opt, id, holes);
	return true;
}

static bool is_pop_jump(uint8_t opcode)
{
	switch (opcode) {
	case POP_JUMP_FORWARD_IF_FALSE:
	case POP_JUMP_FORWARD_IF_TRUE:
	case POP_JUMP_BACKWARD_IF_FALSE:
	case POP_JUMP_BACKWARD_IF_TRUE: return true;
	default: return false;
	}
}

static bool ends_in_lowering(uint8_t opcode)
{
	switch (opcode) {
	case POP_JUMP_FORWARD_IF_NONE:
	case POP_JUMP_FORWARD_IF_NOT_NONE:
	case POP_JUMP_BACKWARD_IF_NONE:
	case POP_JUMP_BACKWARD_IF_NOT_NONE:
	case JUMP_IF_TRUE_OR_POP:
	case JUMP_IF_FALSE_OR_POP: return true;
	default: return false;
	}
}

/* Whether the next op is in the same block and jumps on what this one makes. */
static bool is_fused(const struct opt *opt, const struct ir_op *op)
{
	return (op->opcode == COMPARE_OP || op->opcode == CONTAINS_OP) &&
	       op + 1 < opt->ir->ops + opt->ir->op_count && op[1].block == op->block &&
	       is_pop_jump(op[1].opcode);
}

/* The last op of a block. */
static bool last_op(struct opt *opt, const struct ir_op *op, bool *changed)
{
	bool good;

	if (ends_in_lowering(op->opcode))
		return opt_generic_jump(opt, op, changed);

	switch (op->opcode) {
	case FOR_ITER: return for_iter(opt, op, changed);
	case COMPARE_OP: /* with the jump behind it */
		if (!is_fused(opt, op))
			return opt_op(opt);
		good = pop_jump(opt, op + 1, (int)op->oparg, changed);
		opt->number++;
		break;
	default:
		good = is_pop_jump(op->opcode) ? pop_jump(opt, op, -1, changed)
					       : opt_op(opt);
		break;
	}
	return good;
}

/* Tries an op; in vain: the baseline's lowering does it from now on. */
static bool attempt(struct opt *opt, const struct ir_op *op, bool last, bool *changed)
{
	struct opt_state before = opt->state;
	int slots = opt->slots, number = opt->number;
	bool jumps = last && (op->target != IR_NONE || is_fused(opt, op));

	if (!opt->hybrid)
		return last ? last_op(opt, op, changed) : opt_op(opt);
	if (!opt->boxed[number] && !opt_is_avoided(opt, number)) {
		bool good = last ? last_op(opt, op, changed) : opt_op(opt);

		if ((good && !opt->refusal) || opt->emitting)
			return good;
		opt->boxed[number] = 1;
		*changed = true;
		opt->refusal = NULL;
		opt->state = before;
		opt->slots = slots;
		opt->number = number;
		opt->skip = 0;
	}
	if (op->opcode == STORE_FAST || op->opcode == LOAD_FAST || op->opcode == POP_TOP)
		return opt_op(opt);
	return jumps ? opt_generic_jump(opt, op, changed) : opt_generic(opt);
}

/* The last op of a block, and where it goes on. */
static bool end_block(struct opt *opt, const struct ir_op *op, bool *changed)
{
	switch (op->opcode) {
	case JUMP_FORWARD:
	case JUMP_BACKWARD: return jump(opt, op, changed);
	default: break;
	}
	return attempt(opt, op, true, changed) && !opt->refusal &&
	       fall(opt, opt->number + 1 + opt->skip, changed);
}

static int line_of(const struct opt *opt, const struct ir_op *op)
{
	int line = PyCode_Addr2Line(
		opt->outer->code, (int)(op->index * sizeof(_Py_CODEUNIT)));

	return line > 0 ? line : 0;
}

/* Loops around a block, as a weight for what it uses. */
static uint64_t weigh(const struct opt *opt, int block)
{
	uint64_t weight = 1;

	for (int i = opt->head; i <= opt->tail && weight < 100000; i++) {
		const struct ir_op *op = &opt->ir->ops[i];

		if (op->flags & IR_BACKWARD && op->target != IR_NONE &&
			opt->ir->blocks[block].first >= op->target &&
			opt->ir->blocks[block].first <= i)
			weight *= 10;
	}
	return weight;
}

static bool do_block(struct opt *opt, int number, bool *changed)
{
	const struct ir_block *block = &opt->ir->blocks[number];

	opt->state = opt->in[number];
	for (int i = 0; i < OPT_LOCALS; i++)
		opt->state.locals[i].id = ++opt->ids;
	for (int i = 0; i < opt->state.depth; i++)
		opt->state.stack[i].id = ++opt->ids;
	opt->slots = opt_stack_slot(opt, OPT_STACK) + OPT_LOCALS;
	if (opt->weights)
		opt->weight = weigh(opt, number);
	if (opt->emitting)
		emit_bind(&opt->emit, opt->labels[number]);
	if (jit.statistics)
		opt_stencil(opt, STENCIL_COUNT_BLOCK,
			(struct emit_holes){
				.a = (uint64_t)(block->last - block->first + 1),
				.b = (uintptr_t)&jit.timers.bytecodes_compiled});
	for (opt->number = block->first;; opt->number += 1 + opt->skip) {
		const struct ir_op *op = &opt->ir->ops[opt->number];
		bool fused = (op->opcode == COMPARE_OP ||
				     (op->opcode == CONTAINS_OP && opt->hybrid)) &&
			     opt->number + 1 == block->last && is_pop_jump(op[1].opcode);

		opt->skip = 0;
		if (opt->emitting)
			emit_line(&opt->emit, line_of(opt, op), op->index, op->opcode);
		if (jit.stress_deopt && !opt_has_names(opt, op))
			opt_stencil(opt, STENCIL_STRESS,
				(struct emit_holes){.deopt = opt_exit_here(opt)});
		if (opt->number == block->last || fused)
			return end_block(opt, op, changed);
		if (op->target != IR_NONE)
			return opt_refuse(opt, "jump inside a block");
		if (!attempt(opt, op, false, changed) || opt->refusal)
			return false;
		if (opt->number + opt->skip >= block->last)
			return fall(opt, opt->number + 1 + opt->skip, changed);
	}
}

static bool do_blocks(struct opt *opt, bool *changed)
{
	int first = opt->ir->ops[opt->head].block, last = opt->ir->ops[opt->tail].block;

	for (int i = first; i <= last; i++) {
		if (!opt->body[i])
			continue;
		if (!opt->in[i].reached) {
			if (opt->emitting && !opt->hybrid)
				return opt_refuse(opt, "a block is not reached");
			continue;
		}
		if (!do_block(opt, i, changed))
			return false;
	}
	return true;
}

/* What a local is on entry, by what it is now. */
static bool enter_local(struct opt *opt, uint32_t local)
{
	PyObject *object = opt->frame->localsplus[local];
	bool live = opt->live[opt->ir->ops[opt->head].block] >> local & 1;
	bool written = opt->written >> local & 1;
	struct opt_item *item = &opt->state.locals[local];
	struct opt_need need = {.number = local};
	int overflow;

	*item = (struct opt_item){.kind = OPT_FRAME};
	if (!live || !object)
		return true;
	item->object = object;
	if (PyFloat_CheckExact(object)) {
		need.kind = OPT_FLOAT;
	} else if (PyBool_Check(object)) {
		need.kind = OPT_BOOL;
	} else if (PyLong_CheckExact(object)) {
		PyLong_AsLongAndOverflow(object, &overflow);
		if (overflow)
			return true;
		need.kind = OPT_INT;
	} else if (!written &&
		   (PyFunction_Check(object) || PyCFunction_CheckExact(object))) {
		*item = (struct opt_item){.kind = OPT_CONST, .object = object};
		need.what = OPT_NEED_OBJECT;
		need.object = object;
		return opt_need(opt, need);
	} else {
		return true;
	}
	*item = (struct opt_item){
		.kind = need.kind, .slot = (int16_t)local, .synced = opt->hybrid};
	return true;
}

/* What is a number at the head must be one on entry. */
static bool need_numbers(struct opt *opt)
{
	const struct opt_state *in = &opt->in[opt->ir->ops[opt->head].block];

	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++) {
		if (!opt_is_number(&in->locals[i]) || in->locals[i].maybe)
			continue;
		if (!opt_need(opt, (struct opt_need){.what = OPT_NEED_KIND,
					   .kind = in->locals[i].kind,
					   .number = (uint32_t)i}))
			return false;
	}
	return true;
}

static PyObject *sequence_of(PyObject *iterator)
{
	return ((struct opt_list_iterator *)iterator)->it_seq
		       ? (PyObject *)((struct opt_list_iterator *)iterator)->it_seq
		       : NULL;
}

/* An iterator on the stack on entry. */
static bool enter_iterator(
	struct opt *opt, PyObject *object, int number, struct opt_item *item)
{
	if (Py_IS_TYPE(object, &PyRangeIter_Type)) {
		item->kind = OPT_RANGE;
	} else if (Py_IS_TYPE(object, &PyListIter_Type)) {
		item->kind = OPT_LIST;
		item->object = sequence_of(object);
	} else if (Py_IS_TYPE(object, &PyTupleIter_Type)) {
		item->kind = OPT_TUPLE;
		item->object = sequence_of(object);
	} else if (opt->hybrid && opt_pair_example(object, item)) {
		item->kind = Py_IS_TYPE(object, &PyEnum_Type) ? OPT_ENUMERATE : OPT_ZIP;
	} else {
		return true;
	}
	return opt_need(opt, (struct opt_need){.what = OPT_NEED_ITERATOR,
				     .number = (uint32_t)number,
				     .object = (PyObject *)Py_TYPE(object)});
}

static bool enter_state(struct opt *opt)
{
	int locals = opt->compiled->code->co_nlocalsplus;

	memset(&opt->state, 0, sizeof(opt->state));
	for (int i = 0; i < locals; i++) {
		if (!enter_local(opt, (uint32_t)i))
			return false;
	}
	for (int i = 0; i < opt->ir->ops[opt->head].depth; i++) {
		PyObject *object = _PyFrame_Stackbase(opt->frame)[i];
		struct opt_item item = {.kind = OPT_FRAME, .object = object};

		if (object && !enter_iterator(opt, object, i, &item))
			return false;
		if (!opt_push(opt, item))
			return false;
	}
	for (int i = 0; i < locals; i++) {
		if (opt->flagged >> i & 1)
			opt->flag_slot[i] = opt_stack_slot(opt, OPT_STACK) + i;
	}
	return true;
}

static bool analyse(struct opt *opt)
{
	bool changed = true;

	opt->in[opt->ir->ops[opt->head].block] = opt->state;
	opt->in[opt->ir->ops[opt->head].block].reached = true;
	for (int pass = 0; changed; pass++) {
		if (pass == MAX_PASSES)
			return opt_refuse(opt, "types do not settle");
		changed = false;
		if (!do_blocks(opt, &changed))
			return false;
	}
	return true;
}

/* Whether there is something to win where the baseline does part of the work: going in and
 * out costs as much as a few of its operations. */
static bool is_worth_it(struct opt *opt)
{
	int natives = 0, generics = 0;

	for (int i = opt->head; i <= opt->tail && opt->hybrid; i++) {
		const struct ir_op *op = &opt->ir->ops[i];

		if (!opt->body[op->block] || !opt->in[op->block].reached)
			continue;
		if (opt->boxed[i] || opt_is_avoided(opt, i)) {
			generics++;
			continue;
		}
		switch (op->opcode) {
		case BINARY_OP:
		case COMPARE_OP:
		case UNARY_NEGATIVE:
		case UNARY_INVERT:
		case BINARY_SUBSCR:
		case STORE_SUBSCR:
		case UNPACK_SEQUENCE:
		case BUILD_SLICE:
		case CALL: natives++; break;
		default: break;
		}
	}
	if (opt->hybrid && (natives < MIN_NATIVES || 2 * natives < generics))
		return opt_refuse(opt, "too little to win");
	return true;
}

/* A number in a local keeps the object that was there until the exit. */
static bool need_plain(struct opt *opt)
{
	for (uint32_t i = 0; i < OPT_LOCALS && !opt->hybrid; i++) {
		if (opt->flagged & opt->numbered & 1ull << i &&
			!opt_need(opt,
				(struct opt_need){.what = OPT_NEED_PLAIN, .number = i}))
			return false;
	}
	return true;
}

static void emit_ends(struct opt *opt, int fail)
{
	static const uint8_t leave[] = {0x48, 0x89, 0xf8, 0xc9, 0xc3};
	/* add $FRAME_SIZE, %rsp; and with jmp *%rdi */
	uint8_t back[] = {
		0x48, 0x81, 0xc4, FRAME_SIZE & 255, FRAME_SIZE >> 8, 0, 0, 0xff, 0xe7};
	int address = emit_label(&opt->emit);

	if (opt->hybrid)
		opt_lower_ends(opt);
	emit_cold(&opt->emit, true);
	emit_bind(&opt->emit, opt->exit_common);
	emit_stencil(&opt->emit, STENCIL_OPT_EXIT,
		&(struct emit_holes){.a = (uintptr_t)opt->fragment, .target = address});
	emit_bytes(&opt->emit, leave, sizeof(leave));
	emit_bind(&opt->emit, address);
	emit_bytes(&opt->emit, back, sizeof(back));
	emit_bind(&opt->emit, fail);
	emit_bytes(&opt->emit, back, 7);
	emit_jump(&opt->emit, emit_label_at(&opt->emit, opt->fragment->loop->go_on));
	emit_cold(&opt->emit, false);
}

static bool emit_code(struct opt *opt)
{
	static const uint8_t room[] = {
		0x48, 0x81, 0xec, FRAME_SIZE & 255, FRAME_SIZE >> 8, 0, 0};
	bool changed = false;
	int fail;

	opt_close_shares(opt);
	emit_begin(&opt->emit, jit.memory);
	opt->fragment->record_count = opt->fragment->value_count = 0;
	opt->reload_count = 0;
	opt->emitting = true;
	opt->exit_common = emit_label(&opt->emit);
	fail = emit_label(&opt->emit);
	opt->lower.unwind = emit_label(&opt->emit);
	opt->lower.reraise = emit_label(&opt->emit);
	opt->lower.deopt = emit_label(&opt->emit);
	for (int i = 0; i < opt->ir->block_count; i++)
		opt->labels[i] = emit_label(&opt->emit);
	emit_bytes(&opt->emit, room, sizeof(room));
	emit_stencil(&opt->emit, STENCIL_OPT_ENTER,
		&(struct emit_holes){.a = (uintptr_t)opt->fragment, .exit = fail});
	opt_asm_restore(opt);
	if (!do_blocks(opt, &changed) || opt->refusal)
		return false;
	emit_ends(opt, fail);
	return true;
}

/* The first emission tells which slots are worth a register. */
static bool choose_homes(struct opt *opt)
{
	opt->weights = calloc(2 * OPT_SLOTS, sizeof(*opt->weights));
	if (!opt->weights || !emit_code(opt))
		return false;
	emit_end(&opt->emit);
	opt->homes = calloc(2 * OPT_SLOTS, 1);
	if (!opt->homes)
		return false;
	opt_asm_choose(opt, !opt->plain_stencils);
	free(opt->weights);
	opt->weights = NULL;
	return true;
}

static bool emit_all(struct opt *opt)
{
	/* What Python code may run in, or a guard that fails anywhere, keeps no registers. */
	if (!opt->hybrid && !jit.stress_deopt && !choose_homes(opt))
		return false;
	if (!emit_code(opt))
		return false;
	opt->fragment->start = emit_commit(&opt->emit);
	opt->fragment->size = opt->emit.size;
	if (opt->fragment->start && opt->hybrid)
		opt_lower_commit(opt);
	return opt->fragment->start != NULL;
}

static void list_flags(struct opt *opt)
{
	struct opt_fragment *f = opt->fragment;

	f->flags = calloc(OPT_LOCALS, sizeof(int));
	if (!f->flags) {
		opt_refuse(opt, "out of memory");
		return;
	}
	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++) {
		if (opt->flagged >> i & 1)
			f->flags[f->flag_count++] = opt->flag_slot[i];
	}
}

/* For who works on this: STABLERUN_TRACE_OPT=1 says what became of each hot loop. */
static void trace(const struct opt *opt, bool good)
{
	if (!getenv("STABLERUN_TRACE_OPT"))
		return;
	fprintf(stderr, "loop at line %d of %s: %s\n",
		line_of(opt, &opt->outer->ops[opt->head]),
		PyUnicode_AsUTF8(opt->outer->code->co_qualname),
		good	       ? (opt->hybrid ? "optimised, with calls" : "optimised")
		: opt->refusal ? opt->refusal
			       : "not emitted");
	if (!good || !opt->hybrid)
		return;
	for (int i = opt->head; i <= opt->tail; i++) {
		const struct ir_op *op = &opt->outer->ops[i];

		if (opt->boxed[i] || opt_is_avoided(opt, i))
			fprintf(stderr, "  line %d: %s %u on objects%s\n",
				line_of(opt, op), ir_opcode_name(op->opcode), op->oparg,
				opt_is_avoided(opt, i) ? ", failed" : "");
	}
}

static struct opt_fragment *compile(const struct ir *ir, int head,
	_PyInterpreterFrame *frame, struct compiled *compiled, struct opt_loop *loop,
	bool hybrid)
{
	struct opt *opt = calloc(1, sizeof(*opt));
	struct opt_fragment *fragment = calloc(1, sizeof(*fragment));
	bool good = false;

	if (opt && fragment) {
		fragment->loop = loop;
		opt->ir = opt->outer = ir;
		opt->head = head;
		opt->frame = frame;
		opt->compiled = compiled;
		opt->fragment = fragment;
		opt->hybrid = hybrid;
		opt->in = calloc((size_t)ir->block_count + 1, sizeof(*opt->in));
		good = opt->in && (!hybrid || opt_lower_begin(opt)) &&
		       opt_find_loop(opt) && enter_state(opt) && analyse(opt) &&
		       need_plain(opt) && need_numbers(opt) && is_worth_it(opt);
		list_flags(opt);
		good = good && !opt->refusal && emit_all(opt);
		if (good && jit.symbols)
			compile_tell(ir->code, &opt->emit, "optimised");
		trace(opt, good);
		emit_release(&opt->emit);
		opt_lower_end(opt);
		free(opt->homes);
		free(opt->weights);
		free(opt->in);
	}
	free(opt);
	if (good)
		return fragment;
	opt_fragment_free(fragment);
	return NULL;
}

struct opt_fragment *opt_compile(const struct ir *ir, int head,
	_PyInterpreterFrame *frame, struct compiled *compiled, struct opt_loop *loop)
{
	struct opt_fragment *fragment = NULL;

	if (!loop->avoid_count)
		fragment = compile(ir, head, frame, compiled, loop, false);
	if (!fragment)
		fragment = compile(ir, head, frame, compiled, loop, true);
	return fragment;
}

void opt_fragment_free(struct opt_fragment *fragment)
{
	if (!fragment)
		return;
	for (uint32_t i = 0; i < fragment->own.cache_count; i++)
		cache_release(&fragment->own.caches[i]);
	free(fragment->own.caches);
	free(fragment->own.exits);
	free(fragment->own.exit_entries);
	for (size_t i = 0; i < fragment->need_count; i++) {
		if (fragment->needs[i].owns)
			Py_DECREF(fragment->needs[i].object);
	}
	if (fragment->start) {
		if (jit.symbols)
			symbols_unload(jit.symbols, fragment->start);
		codemem_release(jit.memory, fragment->start);
		jit.timers.code_bytes -= fragment->size;
	}
	free(fragment->needs);
	free(fragment->constants);
	free(fragment->flags);
	free(fragment->records);
	free(fragment->values);
	free(fragment);
}
