/* Iteration in an optimised loop. */
#include "jit/opt_asm.h"

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
	holes.target = opt_edge(opt, op->target, changed);
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

bool opt_for_iter(struct opt *opt, const struct ir_op *op, bool *changed)
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
	holes.target = opt_edge(opt, op->target, changed);
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
