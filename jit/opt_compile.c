/* Compiling a loop: types by abstract interpretation until nothing changes, then code. */
#include "jit/opt_state.h"

#include <stdlib.h>
#include <string.h>

#include "jit/codemem.h"
#include "jit/compile.h"
#include "jit/jit.h"
#include "jit/symbols.h"

enum { MAX_PASSES = 20, FRAME_SIZE = 8 * OPT_SLOTS };

_Static_assert(FRAME_SIZE % 16 == 0, "the stack must stay aligned");

/* What two ways into a block know of a local. False: they do not go together. */
static bool join_local(
	struct opt *opt, int block, int local, const struct opt_item *b, bool *changed)
{
	struct opt_item *a = &opt->in[block].locals[local];

	if (a->kind == b->kind) {
		if (a->kind == OPT_CONST && a->object != b->object)
			return opt_refuse(opt, "constants differ");
		return true;
	}
	if (opt->live[block] >> local & 1)
		return opt_refuse(opt, "a local has two types");
	/* Not read any more: whether the frame or the slot has it is known at run time. */
	if (!(opt->flagged >> local & 1))
		return opt_refuse(opt, "a dead local has two types");
	if (a->kind == OPT_FRAME && opt_is_number(b)) {
		*a = *b;
		*changed = true;
		return true;
	}
	if (b->kind == OPT_FRAME && opt_is_number(a))
		return true;
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
		if (in->stack[i].kind != opt->state.stack[i].kind)
			return opt_refuse(opt, "a stack entry has two types");
	}
	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++) {
		if (!join_local(opt, block, i, &opt->state.locals[i], changed))
			return false;
	}
	return true;
}

/* The label for going on at an op, with the stack flushed: in the loop, or out of it. */
static int edge(struct opt *opt, int number, bool *changed)
{
	int block = opt->ir->ops[number].block;

	if (number >= opt->head && number <= opt->tail && opt->body[block]) {
		if (!join(opt, block, changed))
			return 0;
		return opt->labels[block];
	}
	return opt_exit_to(opt, number, &opt->state);
}

static void poll(struct opt *opt, int target)
{
	if (opt->emitting)
		opt_stencil(opt, STENCIL_OPT_POLL,
			(struct emit_holes){
				.deopt = opt_exit_to(opt, target, &opt->state)});
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
	if (number > opt->tail || !opt->body[block])
		go(opt, label);
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

	if (!opt_is_number(&top) ||
		(operands == 2 &&
			!opt_is_number(&opt->state.stack[opt->state.depth - 2])))
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
		opt_stencil(opt, STENCIL_OPT_POLL, (struct emit_holes){.deopt = leave});
		emit_jump(&opt->emit, label);
		emit_cold(&opt->emit, false);
		label = way;
	}
	opt->state = with;
	if (operands == 2) {
		opt_compare_jump(opt, compare, when, label);
	} else {
		bool is_float = top.kind == OPT_FLOAT;

		top = opt->state.stack[opt->state.depth - 1];
		opt_stencil(opt,
			is_float ? (when ? STENCIL_OPT_JUMP_TRUE_FLOAT
					 : STENCIL_OPT_JUMP_FALSE_FLOAT)
				 : (when ? STENCIL_OPT_JUMP_TRUE_INT
					 : STENCIL_OPT_JUMP_FALSE_INT),
			(struct emit_holes){.a = (uint64_t)(int64_t)opt_slot_at(top.slot),
				.target = label});
	}
	opt->state.depth = with.depth - operands;
	return !opt->refusal;
}

/* The stencil for the next item of an iterator, and what that is. */
static bool next_item(struct opt *opt, const struct opt_item *iterator, enum stencils *id,
	struct opt_item *item)
{
	PyObject *list = iterator->object, *example;

	*item = (struct opt_item){.kind = OPT_INT};
	*id = STENCIL_OPT_FOR_RANGE;
	if (iterator->kind == OPT_RANGE)
		return true;
	if (iterator->kind != OPT_LIST || !list || !PyList_CheckExact(list) ||
		!Py_SIZE(list))
		return opt_refuse(opt, "iteration over other than a range or a list");
	item->kind = (uint8_t)opt_kind_of(PyList_GET_ITEM(list, 0), &example);
	item->object = example;
	switch (item->kind) {
	case OPT_INT: *id = STENCIL_OPT_FOR_LIST_INT; return true;
	case OPT_FLOAT: *id = STENCIL_OPT_FOR_LIST_FLOAT; return true;
	case OPT_FRAME: *id = STENCIL_OPT_FOR_LIST_FRAME; return true;
	default: return opt_refuse(opt, "iteration over bools");
	}
}

static bool for_iter(struct opt *opt, const struct ir_op *op, bool *changed)
{
	int depth = opt->state.depth - 1;
	struct emit_holes holes = {.a = opt_frame_at(opt, depth)};
	struct opt_item item;
	struct opt_state with;
	enum stencils id;

	if (!next_item(opt, &opt->state.stack[depth], &id, &item) || !opt_flush(opt))
		return false;
	with = opt->state;
	opt->state.depth--;
	holes.target = edge(opt, op->target, changed);
	opt->state = with;
	if (opt->refusal)
		return false;
	holes.deopt = opt_exit_here(opt);
	holes.exit = opt_exit_to(opt, opt->number, &opt->state);
	item.id = ++opt->ids;
	if (item.kind == OPT_FRAME) {
		holes.b = opt_frame_at(opt, depth + 1);
	} else {
		item.slot = (int16_t)opt_stack_slot(opt, depth + 1);
		holes.b = (uint64_t)(int64_t)opt_slot_at(item.slot);
	}
	opt_push(opt, item);
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

/* The last op of a block, and where it goes on. */
static bool end_block(struct opt *opt, const struct ir_op *op, bool *changed)
{
	bool good;

	switch (op->opcode) {
	case JUMP_FORWARD:
	case JUMP_BACKWARD: return jump(opt, op, changed);
	case FOR_ITER: good = for_iter(opt, op, changed); break;
	case COMPARE_OP: /* with the jump behind it */
		good = pop_jump(opt, op + 1, (int)op->oparg, changed);
		opt->number++;
		break;
	default:
		good = is_pop_jump(op->opcode) ? pop_jump(opt, op, -1, changed)
					       : opt_op(opt);
		break;
	}
	return good && fall(opt, opt->number + 1 + opt->skip, changed);
}

static int line_of(const struct opt *opt, const struct ir_op *op)
{
	int line = PyCode_Addr2Line(
		opt->outer->code, (int)(op->index * sizeof(_Py_CODEUNIT)));

	return line > 0 ? line : 0;
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
	if (opt->emitting)
		emit_bind(&opt->emit, opt->labels[number]);
	if (jit.statistics)
		opt_stencil(opt, STENCIL_COUNT_BLOCK,
			(struct emit_holes){
				.a = (uint64_t)(block->last - block->first + 1),
				.b = (uintptr_t)&jit.timers.bytecodes_compiled});
	for (opt->number = block->first;; opt->number += 1 + opt->skip) {
		const struct ir_op *op = &opt->ir->ops[opt->number];
		bool fused = op->opcode == COMPARE_OP && opt->number + 1 == block->last &&
			     is_pop_jump(op[1].opcode);

		opt->skip = 0;
		if (opt->emitting)
			emit_line(&opt->emit, line_of(opt, op), op->index, op->opcode);
		if (jit.stress_deopt)
			opt_stencil(opt, STENCIL_STRESS,
				(struct emit_holes){.deopt = opt_exit_here(opt)});
		if (opt->number == block->last || fused)
			return end_block(opt, op, changed);
		if (op->target != IR_NONE)
			return opt_refuse(opt, "jump inside a block");
		if (!opt_op(opt) || opt->refusal)
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
			if (opt->emitting)
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
	*item = (struct opt_item){.kind = need.kind, .slot = (int16_t)local};
	need.what = OPT_NEED_KIND;
	return opt_need(opt, need);
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

		if (object && Py_IS_TYPE(object, &PyRangeIter_Type)) {
			item = (struct opt_item){.kind = OPT_RANGE};
			if (!opt_need(opt, (struct opt_need){.what = OPT_NEED_RANGE,
						   .number = (uint32_t)i}))
				return false;
		}
		if (object && Py_IS_TYPE(object, &PyListIter_Type)) {
			item.kind = OPT_LIST;
			item.object =
				(PyObject *)((struct opt_list_iterator *)object)->it_seq;
			if (!opt_need(opt, (struct opt_need){.what = OPT_NEED_LIST,
						   .number = (uint32_t)i}))
				return false;
		}
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

/* A number in a local keeps the object that was there until the exit. */
static bool need_plain(struct opt *opt)
{
	for (uint32_t i = 0; i < OPT_LOCALS; i++) {
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

static bool emit_all(struct opt *opt)
{
	static const uint8_t room[] = {
		0x48, 0x81, 0xec, FRAME_SIZE & 255, FRAME_SIZE >> 8, 0, 0};
	bool changed = false;
	int fail;

	opt_close_shares(opt);
	emit_begin(&opt->emit, jit.memory);
	opt->emitting = true;
	opt->exit_common = emit_label(&opt->emit);
	fail = emit_label(&opt->emit);
	for (int i = 0; i < opt->ir->block_count; i++)
		opt->labels[i] = emit_label(&opt->emit);
	emit_bytes(&opt->emit, room, sizeof(room));
	emit_stencil(&opt->emit, STENCIL_OPT_ENTER,
		&(struct emit_holes){.a = (uintptr_t)opt->fragment, .exit = fail});
	if (!do_blocks(opt, &changed) || opt->refusal)
		return false;
	emit_ends(opt, fail);
	opt->fragment->start = emit_commit(&opt->emit);
	opt->fragment->size = opt->emit.size;
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
		good	       ? "optimised"
		: opt->refusal ? opt->refusal
			       : "not emitted");
}

struct opt_fragment *opt_compile(const struct ir *ir, int head,
	_PyInterpreterFrame *frame, struct compiled *compiled, struct opt_loop *loop)
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
		good = opt_find_loop(opt) && enter_state(opt) && analyse(opt) &&
		       need_plain(opt);
		list_flags(opt);
		good = good && !opt->refusal && emit_all(opt);
		if (good && jit.symbols)
			compile_tell(ir->code, &opt->emit, "optimised");
		trace(opt, good);
		emit_release(&opt->emit);
	}
	free(opt);
	if (good)
		return fragment;
	opt_fragment_free(fragment);
	return NULL;
}

void opt_fragment_free(struct opt_fragment *fragment)
{
	if (!fragment)
		return;
	for (size_t i = 0; i < fragment->need_count; i++) {
		Py_XDECREF(fragment->needs[i].object);
		Py_XDECREF(fragment->needs[i].code);
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
