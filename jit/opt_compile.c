/* Compiling a loop: types by abstract interpretation until nothing changes, then code. */
#include "jit/opt_asm.h"

#include <stdlib.h>

#include "jit/cache.h"
#include "jit/codemem.h"
#include "jit/compile.h"
#include "jit/jit.h"

enum { MAX_PASSES = 20, MIN_NATIVES = 3, FRAME_SIZE = 8 * OPT_SLOTS };

_Static_assert(FRAME_SIZE % 16 == 0, "the stack must stay aligned");

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
	case FOR_ITER: return opt_for_iter(opt, op, changed);
	case COMPARE_OP: /* with the jump behind it */
		if (!is_fused(opt, op))
			return opt_op(opt);
		good = opt_pop_jump(opt, op + 1, (int)op->oparg, changed);
		opt->number++;
		break;
	default:
		good = is_pop_jump(op->opcode) ? opt_pop_jump(opt, op, -1, changed)
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
	case JUMP_BACKWARD: return opt_jump(opt, op, changed);
	default: break;
	}
	return attempt(opt, op, true, changed) && !opt->refusal &&
	       opt_fall(opt, opt->number + 1 + opt->skip, changed);
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
			return opt_fall(opt, opt->number + 1 + opt->skip, changed);
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
		       opt_find_loop(opt) && opt_enter_state(opt) && analyse(opt) &&
		       need_plain(opt) && opt_need_numbers(opt) && is_worth_it(opt);
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
