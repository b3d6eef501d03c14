/* Operations that the optimising tier leaves to the baseline's lowering.
 *
 * Such an operation may run any Python code, so before it every number of a local that the
 * frame does not have yet is put there, as an object; the slots keep the numbers, and go
 * on being used after it. What it makes is an object of which nothing is known. */
#include "jit/opt_asm.h"

#include <stdlib.h>

#include "jit/baseline.h"
#include "jit/cache.h"
#include "jit/jit.h"

static uint64_t at(int slot)
{
	return (uint64_t)(int64_t)opt_slot_at(slot);
}

static uint64_t local_at(int local)
{
	return offsetof(_PyInterpreterFrame, localsplus) +
	       (uint64_t)local * sizeof(PyObject *);
}

PyObject *opt_example(int kind)
{
	static PyObject *number;

	if (kind == OPT_BOOL)
		return Py_True;
	if (kind == OPT_INT)
		return _PyLong_GetZero();
	if (!number)
		number = PyFloat_FromDouble(0.0);
	return number;
}

bool opt_is_avoided(const struct opt *opt, int number)
{
	const struct opt_loop *loop = opt->fragment->loop;

	for (int i = 0; i < loop->avoid_count; i++) {
		if (opt->outer->op_at[loop->avoid[i]] == number)
			return true;
	}
	return false;
}

void opt_sync_local(struct opt *opt, int local)
{
	static const enum stencils ids[2][3] = {
		{STENCIL_OPT_SYNC_INT, STENCIL_OPT_SYNC_FLOAT, STENCIL_OPT_SYNC_BOOL},
		{STENCIL_OPT_SYNC_FLAGGED_INT, STENCIL_OPT_SYNC_FLAGGED_FLOAT,
			STENCIL_OPT_SYNC_FLAGGED_BOOL},
	};
	struct opt_item *item = &opt->state.locals[local];
	bool flagged = opt->flagged >> local & 1;

	if (!opt_is_number(item) || item->synced || !(opt->written >> local & 1))
		return;
	opt_stencil(opt, ids[flagged][item->kind - OPT_INT],
		(struct emit_holes){.a = at(item->slot),
			.b = local_at(local),
			.c = flagged ? at(opt->flag_slot[local]) : 0});
	item->synced = true;
}

void opt_sync(struct opt *opt)
{
	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++)
		opt_sync_local(opt, i);
}

static void box_entry(struct opt *opt, int depth)
{
	static const enum stencils ids[] = {
		STENCIL_OPT_BOX_INT, STENCIL_OPT_BOX_FLOAT, STENCIL_OPT_BOX_BOOL};
	const struct opt_item *item = &opt->state.stack[depth];

	opt_stencil(opt, ids[item->kind - OPT_INT],
		(struct emit_holes){.a = at(item->slot), .b = opt_frame_at(opt, depth)});
}

/* The number of a local that the frame has as well. */
static bool is_in_frame(const struct opt *opt, const struct opt_item *item)
{
	const struct opt_item *local;

	if (item->slot >= opt->compiled->code->co_nlocalsplus)
		return false;
	local = &opt->state.locals[item->slot];
	return local->kind == item->kind && local->slot == item->slot &&
	       (local->synced || !(opt->written >> item->slot & 1)) && !local->maybe;
}

bool opt_is_of_local(const struct opt *opt, const struct opt_item *item)
{
	return item->slot < opt->compiled->code->co_nlocalsplus &&
	       opt->state.locals[item->slot].kind == item->kind &&
	       !opt->state.locals[item->slot].maybe;
}

bool opt_store_shared(struct opt *opt, uint32_t local, struct opt_item item)
{
	int other = item.slot;

	if (!opt_is_of_local(opt, &item) || other == (int)local)
		return false;
	opt_sync_local(opt, other);
	opt_save_local(opt, (int)local);
	opt_set_local(opt, local,
		(struct opt_item){
			.kind = OPT_FRAME, .local = true, .slot = (int16_t)other},
		opt->state.depth);
	opt_asm_move(opt, other, (int)local, item.kind == OPT_FLOAT);
	opt_mark_object(opt, local);
	opt->numbered |= 1ull << local;
	opt->state.locals[local] = (struct opt_item){
		.kind = item.kind, .slot = (int16_t)local, .synced = true};
	return true;
}

bool opt_own(struct opt *opt, int depth)
{
	struct opt_item *item = &opt->state.stack[depth];
	struct emit_holes holes = {.b = opt_frame_at(opt, depth)};

	if (opt_is_number(item)) {
		box_entry(opt, depth);
		item->object = opt_example(item->kind);
	} else if (item->kind == OPT_CONST) {
		holes.a = (uintptr_t)item->object;
		opt_stencil(opt, STENCIL_OPT_CONST, holes);
	} else if (item->kind == OPT_FRAME && item->local) {
		holes.a = local_at(item->slot);
		opt_stencil(opt, STENCIL_OPT_COPY, holes);
	} else if (item->kind == OPT_NULL) {
		opt_stencil(opt, STENCIL_PUT_NULL, (struct emit_holes){.a = holes.b});
		return true;
	} else if (item->kind == OPT_PAIR) {
		holes.a = holes.b;
		holes.b = opt_frame_at(opt, depth + 1);
		holes.c = item->slot >= 0 ? at(item->slot) : 0;
		opt_stencil(opt,
			item->slot >= 0 ? STENCIL_OPT_PAIR_INT : STENCIL_OPT_PAIR_OBJECTS,
			holes);
		*item = (struct opt_item){.kind = OPT_FRAME};
		return true;
	} else {
		return true;
	}
	*item = (struct opt_item){.kind = OPT_FRAME, .object = item->object};
	return true;
}

/* A stack entry as the lowering has it; the state has it as an object afterwards. */
static struct lower_value take_entry(struct opt *opt, int depth)
{
	struct opt_item *item = &opt->state.stack[depth];
	struct lower_value value = {LOWER_SLOT, (uint32_t)depth};

	if (opt_is_number(item) && is_in_frame(opt, item))
		value = (struct lower_value){LOWER_LOCAL, (uint32_t)item->slot};
	else if ((opt_is_number(item) || item->kind == OPT_CONST) && item->constant)
		value = (struct lower_value){LOWER_CONST, (uint32_t)item->constant - 1};
	else if (item->kind == OPT_FRAME && item->local)
		value = (struct lower_value){LOWER_LOCAL, (uint32_t)item->slot};
	else if (item->kind == OPT_NULL)
		return (struct lower_value){LOWER_NULL, 0};
	else
		opt_own(opt, depth);
	if (opt_is_number(item))
		item->object = opt_example(item->kind);
	if (opt_is_number(item) || item->kind == OPT_CONST || item->kind == OPT_FRAME)
		*item = (struct opt_item){.kind = OPT_FRAME, .object = item->object};
	return value;
}

/* Whether nobody can look at the frame while it is done. */
static bool is_blind(uint8_t opcode)
{
	switch (opcode) {
	case KW_NAMES:
	case COPY:
	case SWAP:
	case LOAD_CLOSURE:
	case LIST_APPEND: return true;
	default: return false;
	}
}

static bool is_possible(uint8_t opcode)
{
	switch (opcode) {
	case LOAD_FAST:
	case STORE_FAST:
	case POP_TOP:
	case RETURN_VALUE:
	case YIELD_VALUE:
	case SEND:
	case RETURN_GENERATOR:
	case RAISE_VARARGS:
	case RERAISE:
	case END_ASYNC_FOR:
	case GET_AWAITABLE:
	case GET_ANEXT:
	case PUSH_EXC_INFO:
	case POP_EXCEPT:
	case CHECK_EXC_MATCH:
	case CHECK_EG_MATCH:
	case WITH_EXCEPT_START:
	case PREP_RERAISE_STAR: return false;
	default: return lower_describe(opcode) != NULL;
	}
}

/* `s += t` becomes one with the store that follows: lower_operate.c. */
static int fused_ops(const struct opt *opt, const struct ir_op *op)
{
	const struct ir_op *next = op + 1;
	const struct opt_item *left;

	if (op->opcode != BINARY_OP ||
		(op->oparg != NB_ADD && op->oparg != NB_INPLACE_ADD) ||
		op->adaptive == BINARY_OP_ADD_INT ||
		op->adaptive == BINARY_OP_ADD_FLOAT || next->opcode != STORE_FAST ||
		next->flags & IR_LEADER)
		return 0;
	left = &opt->state.stack[opt->state.depth - 2];
	if (left->kind == OPT_FRAME)
		return left->local && (uint32_t)left->slot == next->oparg;
	return opt_is_number(left) && is_in_frame(opt, left) &&
	       (uint32_t)left->slot == next->oparg;
}

/* How many entries on top an operation makes. */
int opt_count_results(const struct ir_op *op)
{
	switch (op->opcode) {
	case LOAD_METHOD: return 2;
	case LOAD_GLOBAL: return 1 + (op->oparg & 1);
	case UNPACK_SEQUENCE: return (int)op->oparg;
	case UNPACK_EX: return (int)((op->oparg & 0xff) + 1 + (op->oparg >> 8));
	case BEFORE_WITH:
	case MATCH_KEYS: return 2;
	case STORE_SUBSCR:
	case STORE_ATTR:
	case STORE_GLOBAL:
	case STORE_NAME:
	case STORE_DEREF:
	case DELETE_SUBSCR:
	case DELETE_ATTR:
	case DELETE_GLOBAL:
	case DELETE_NAME:
	case DELETE_DEREF:
	case DELETE_FAST:
	case LIST_APPEND:
	case SET_ADD:
	case MAP_ADD:
	case LIST_EXTEND:
	case SET_UPDATE:
	case DICT_UPDATE:
	case DICT_MERGE:
	case KW_NAMES:
	case MAKE_CELL:
	case COPY_FREE_VARS:
	case SETUP_ANNOTATIONS:
	case PRINT_EXPR: return 0;
	default: return 1;
	}
}

/* What an operation makes, where its name says it: a bool, or no number. */
static PyObject *result_example(const struct ir_op *op)
{
	switch (op->opcode) {
	case BUILD_STRING:
	case FORMAT_VALUE:
	case BUILD_TUPLE:
	case BUILD_LIST:
	case BUILD_SET:
	case BUILD_MAP:
	case BUILD_SLICE:
	case MAKE_FUNCTION: return (PyObject *)&PyType_Type;
	case CONTAINS_OP:
	case IS_OP:
	case UNARY_NOT: return Py_True;
	default: return NULL;
	}
}

static void after(struct opt *opt, const struct ir_op *op, int fused)
{
	struct opt_state *state = &opt->state;
	int depth = op->depth + ir_stack_effect(op->opcode, op->oparg, false);
	int results = opt_count_results(op);
	struct opt_item swapped;

	if (op->opcode == SWAP) {
		swapped = state->stack[depth - 1];
		state->stack[depth - 1] = state->stack[depth - (int)op->oparg];
		state->stack[depth - (int)op->oparg] = swapped;
		return;
	}
	if (op->opcode == COPY) {
		state->stack[depth - 1] = state->stack[depth - 1 - (int)op->oparg];
		state->depth = depth;
		return;
	}
	if (op->opcode == DELETE_FAST)
		state->locals[op->oparg] = (struct opt_item){.kind = OPT_FRAME};
	if (fused) {
		state->locals[op[1].oparg] = (struct opt_item){
			.kind = OPT_FRAME, .object = state->stack[depth - 1].object};
		state->depth = depth - 1;
		return;
	}
	for (int i = depth - results; i < depth; i++)
		state->stack[i] = (struct opt_item){
			.kind = OPT_FRAME, .object = result_example(op)};
	if (op->opcode == LOAD_GLOBAL && results == 2)
		state->stack[depth - 2].kind = OPT_NULL;
	state->depth = depth;
}

/* Operands in place, the numbers of locals in the frame where somebody may look. */
static void prepare(struct opt *opt, const struct ir_op *op)
{
	if (!is_blind(op->opcode))
		opt_sync(opt);
	for (int i = 0; i < opt->state.depth; i++)
		opt->lower.stack[i] = take_entry(opt, i);
	opt->lower.depth = opt->state.depth;
	opt->lower.number = opt->number;
	opt->lower.skip = 0;
}

static bool lower_here(struct opt *opt, int fused)
{
	struct lower *lower = &opt->lower;

	if (!opt->emitting)
		return true;
	if (!lower_instruction(lower))
		return opt_refuse(opt, "not lowered");
	lower->dead = false;
	if (lower->skip != fused)
		return opt_refuse(opt, "lowered with the next");
	lower_flush(lower, 0);
	return !lower->failed || opt_refuse(opt, "out of memory");
}

bool opt_generic(struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];
	int fused = fused_ops(opt, op);

	if (!opt->hybrid || opt->inlined || !is_possible(op->opcode))
		return opt_refuse(opt, ir_opcode_name(op->opcode));
	prepare(opt, op);
	if (!lower_here(opt, fused))
		return false;
	opt->skip = fused;
	after(opt, op, fused);
	return true;
}

bool opt_generic_jump(struct opt *opt, const struct ir_op *op, bool *changed)
{
	bool fused = op->opcode == COMPARE_OP || op->opcode == CONTAINS_OP;
	const struct ir_op *jump = op + fused;
	int target_depth = opt->state.depth - 1 - fused;
	int next_depth = target_depth;
	struct opt_state with;

	if (!opt->hybrid || !is_possible(op->opcode))
		return opt_refuse(opt, ir_opcode_name(op->opcode));
	if (op->opcode == FOR_ITER)
		next_depth += 2;
	else if (op->opcode == JUMP_IF_TRUE_OR_POP || op->opcode == JUMP_IF_FALSE_OR_POP)
		target_depth++;
	prepare(opt, op);
	with = opt->state;
	opt->state.depth = target_depth;
	if (!opt_edge_label(opt, jump->target, changed))
		return false;
	opt->state = with;
	opt->state.depth = next_depth;
	if (op->opcode == FOR_ITER)
		opt->state.stack[next_depth - 1] = (struct opt_item){.kind = OPT_FRAME};
	opt->number += fused;
	return lower_here(opt, fused);
}

/* The op that takes what the current one makes, found by the depths of the stack. */
bool opt_wants_number(const struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];
	int place = op->depth + ir_stack_effect(op->opcode, op->oparg, false) - 1;
	int last = opt->ir->blocks[op->block].last;

	if (!opt->hybrid)
		return true;
	for (int i = opt->number + 1; i <= last; i++) {
		const struct ir_op *next = &opt->ir->ops[i];
		int after_it =
			next->depth + ir_stack_effect(next->opcode, next->oparg, false);

		if (after_it - opt_count_results(next) > place)
			continue;
		switch (next->opcode) {
		case COPY:
		case SWAP: continue;
		case CALL:
		case BUILD_LIST:
		case BUILD_TUPLE:
		case BUILD_MAP:
		case BUILD_SET:
		case LIST_APPEND:
		case SET_ADD:
		case MAP_ADD:
		case FORMAT_VALUE:
		case CONTAINS_OP:
		case STORE_ATTR:
		case STORE_FAST:
		case STORE_NAME:
		case STORE_GLOBAL:
		case STORE_DEREF: return false;
		case STORE_SUBSCR: return place == next->depth - 1;
		default: return true;
		}
	}
	return true;
}

enum stencils opt_unbox_stencil(int kind, bool borrowed)
{
	static const enum stencils ids[2][3] = {
		{STENCIL_OPT_UNBOX_OWNED_INT, STENCIL_OPT_UNBOX_OWNED_FLOAT,
			STENCIL_OPT_UNBOX_OWNED_BOOL},
		{STENCIL_OPT_UNBOX_INT, STENCIL_OPT_UNBOX_FLOAT, STENCIL_OPT_UNBOX_BOOL},
	};

	return ids[borrowed][kind - OPT_INT];
}

bool opt_unbox(struct opt *opt, int depth, int kind)
{
	struct opt_item *item = &opt->state.stack[depth];
	struct emit_holes holes = {
		.a = opt_object_at(opt, item, depth), .deopt = opt_exit_here(opt)};
	int slot = opt_new_slot(opt);

	holes.b = at(slot);
	opt_stencil(opt, opt_unbox_stencil(kind, item->local), holes);
	*item = (struct opt_item){.kind = (uint8_t)kind, .slot = (int16_t)slot};
	return true;
}

/* Emits what is needed where an object's end may run Python code, out of the way; the
 * numbers in the frame are not relied on afterwards. */
static void out_of_way(
	struct opt *opt, enum stencils fast, enum stencils slow, struct emit_holes holes)
{
	struct opt_state before = opt->state;
	int back;

	if (!opt->emitting)
		return;
	holes.exit = emit_label(&opt->emit);
	opt_stencil(opt, fast, holes);
	back = emit_label(&opt->emit);
	emit_bind(&opt->emit, back);
	emit_cold(&opt->emit, true);
	emit_bind(&opt->emit, holes.exit);
	opt_sync(opt);
	holes.exit = holes.deopt = 0;
	if (slow == STENCIL_OPT_POP_SLOWLY && fast == STENCIL_OPT_PUT_FRAME)
		holes.a = holes.c;
	holes.f = (uintptr_t)(_PyCode_CODE(opt->compiled->code) +
			      opt->outer->ops[opt->number].index);
	holes.cont = back;
	opt_stencil(opt, slow, holes);
	emit_cold(&opt->emit, false);
	opt->state = before;
}

void opt_put_object(struct opt *opt, struct emit_holes holes)
{
	out_of_way(opt, STENCIL_OPT_PUT_FRAME, STENCIL_OPT_POP_SLOWLY, holes);
}

void opt_drop_entry(struct opt *opt, int depth)
{
	out_of_way(opt, STENCIL_OPT_POP, STENCIL_OPT_POP_SLOWLY,
		(struct emit_holes){.a = opt_frame_at(opt, depth)});
}

void opt_set_local(struct opt *opt, uint32_t local, struct opt_item item, int depth)
{
	struct emit_holes holes = {
		.a = opt_object_at(opt, &item, depth), .b = local_at((int)local)};

	if (item.local)
		out_of_way(opt, STENCIL_OPT_SET_COPY, STENCIL_OPT_SET_COPY_SLOWLY, holes);
	else
		out_of_way(opt, STENCIL_OPT_SET, STENCIL_OPT_SET_SLOWLY, holes);
}

int opt_iterator_end(struct opt *opt, int target, int depth)
{
	struct opt_state before = opt->state;
	int label;

	/* Elements may run Python code as they go; what looks at nothing leaves it to the
	 * baseline. */
	if (!opt->hybrid)
		return opt_exit_to(opt, opt->number, &opt->state);
	label = emit_label(&opt->emit);
	emit_cold(&opt->emit, true);
	emit_bind(&opt->emit, label);
	opt_sync(opt);
	opt_stencil(opt, STENCIL_OPT_FOR_END,
		(struct emit_holes){.a = opt_frame_at(opt, depth),
			.f = (uintptr_t)(_PyCode_CODE(opt->compiled->code) +
					 opt->outer->ops[opt->number].index),
			.target = target});
	emit_cold(&opt->emit, false);
	opt->state = before;
	return label;
}

bool opt_lower_begin(struct opt *opt)
{
	const struct ir *ir = opt->ir;
	struct compiled *own = &opt->fragment->own;
	struct lower *lower = &opt->lower;

	own->code = opt->compiled->code;
	own->entries = opt->compiled->entries;
	own->leave = opt->compiled->leave;
	own->resume = opt->compiled->resume;
	own->caches = calloc((size_t)baseline_count_caches(ir) + 1, sizeof(struct cache));
	lower->ir = (struct ir *)ir;
	lower->emit = &opt->emit;
	lower->compiled = own;
	lower->stack = calloc(OPT_STACK + 2, sizeof(*lower->stack));
	lower->labels = calloc((size_t)ir->op_count + 1, sizeof(*lower->labels));
	lower->bound = calloc((size_t)ir->local_words + 1, sizeof(*lower->bound));
	opt->boxed = calloc((size_t)ir->op_count + 1, 1);
	if (!own->caches || !lower->stack || !lower->labels || !lower->bound ||
		!opt->boxed)
		return opt_refuse(opt, "out of memory");
	return true;
}

void opt_lower_ends(struct opt *opt)
{
	static const uint8_t leave[] = {0x48, 0x89, 0xf8, 0xc9, 0xc3};
	/* mov %rbp, %rsp; jmp *%rdi: the baseline has no slots. */
	static const uint8_t back[] = {0x48, 0x89, 0xec, 0xff, 0xe7};
	struct emit *emit = &opt->emit;
	struct lower *lower = &opt->lower;
	struct emit_holes holes = {.a = (uintptr_t)lower->compiled};

	emit_cold(emit, true);
	emit_bind(emit, lower->unwind);
	emit_stencil(emit, STENCIL_OPT_UNWIND, &holes);
	emit_bytes(emit, back, sizeof(back));
	emit_bind(emit, lower->reraise);
	emit_stencil(emit, STENCIL_OPT_RERAISE, &holes);
	emit_bytes(emit, back, sizeof(back));
	emit_bind(emit, lower->deopt);
	emit_stencil(emit, STENCIL_DEOPT, &holes);
	emit_bytes(emit, leave, sizeof(leave));
	emit_cold(emit, false);
}

void opt_lower_commit(struct opt *opt)
{
	struct compiled *own = &opt->fragment->own;

	own->start = opt->fragment->start;
	for (uint32_t i = 0; i < own->cache_count; i++)
		cache_commit(&own->caches[i], &opt->emit);
	for (size_t i = 0; i < opt->emit.patch_count; i++)
		own->caches[opt->emit.patchpoints[i].tag].jump =
			opt->emit.patchpoints[i].point;
}

void opt_lower_end(struct opt *opt)
{
	free(opt->lower.stack);
	free(opt->lower.labels);
	free(opt->lower.bound);
	free(opt->boxed);
}
