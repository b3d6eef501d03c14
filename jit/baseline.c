/* The baseline: intermediate code to native code by stencils, every value an object. */
#include "jit/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "jit/cache.h"
#include "jit/check.h"
#include "jit/jit.h"
#include "jit/lower.h"
#include "jit/opt.h"

/* Where native code is entered, in order. Both keep the return address and the frame
 * pointer in the same places, so that one unwind record does for all code. */
static const uint8_t prologue_start[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
};
static const uint8_t prologue_resume[] = {
	0x55, 0x48, 0x89, 0xe5, 0xff, 0xe7, /* jmp *%rdi */
};

int baseline_count_caches(const struct ir *ir)
{
	int count = 0;

	for (int i = 0; i < ir->op_count; i++) {
		switch (ir->ops[i].opcode) {
		case LOAD_GLOBAL:
		case LOAD_ATTR:
		case LOAD_METHOD:
		case STORE_ATTR:
		case BINARY_OP:
		case BINARY_SUBSCR:
		case STORE_SUBSCR:
		case COMPARE_OP:
		case FOR_ITER:
		case SEND:
		case CALL: count++; break;
		default: break;
		}
	}
	return count;
}

static int begin(struct lower *lower, struct ir *ir)
{
	size_t stack = (size_t)ir->code->co_stacksize + 2;
	size_t loops = 0;

	lower->stack = calloc(stack, sizeof(*lower->stack));
	lower->labels = calloc((size_t)ir->op_count + 1, sizeof(*lower->labels));
	lower->bound = calloc((size_t)ir->local_words + 1, sizeof(*lower->bound));
	lower->compiled->entries = calloc((size_t)Py_SIZE(ir->code), sizeof(uint32_t));
	lower->compiled->caches =
		calloc((size_t)baseline_count_caches(ir) + 1, sizeof(struct cache));
	for (int i = 0; i < ir->op_count; i++)
		loops += (ir->ops[i].flags & IR_LOOP) != 0;
	lower->compiled->loops = calloc(loops + 1, sizeof(struct opt_loop));
	lower->loop_labels = calloc(loops + 1, sizeof(int));
	if (!lower->compiled->loops || !lower->loop_labels)
		return -1;
	if (loops && jit.tier2 > 0)
		lower->compiled->ops =
			calloc((size_t)Py_SIZE(ir->code), sizeof(struct compiled_op));
	return lower->compiled->caches && lower->stack && lower->labels && lower->bound &&
			       lower->compiled->entries
		       ? 0
		       : -1;
}

static void end(struct lower *lower)
{
	free(lower->stack);
	free(lower->labels);
	free(lower->loop_labels);
	free(lower->bound);
}

static void common_ends(struct lower *lower)
{
	static const uint8_t leave[] = {0x48, 0x89, 0xf8, 0xc9, 0xc3};
	struct emit *emit = lower->emit;
	struct emit_holes holes = {.a = (uintptr_t)lower->compiled, .cont = lower->leave};

	emit_cold(emit, true);
	emit_bind(emit, lower->unwind);
	emit_stencil(emit, STENCIL_UNWIND, &holes);
	emit_bind(emit, lower->reraise);
	emit_stencil(emit, STENCIL_RERAISE, &holes);
	emit_bind(emit, lower->deopt);
	emit_stencil(emit, STENCIL_DEOPT, &holes);
	emit_bind(emit, lower->leave_null);
	emit_stencil(emit, STENCIL_LEAVE_NULL, NULL);
	emit_bind(emit, lower->leave);
	/* mov %rdi, %rax; leave; ret */
	emit_bytes(emit, leave, sizeof(leave));
	emit_cold(emit, false);
}

/* Counts the turns of a loop, and goes into its optimised form where there is one. */
static void count_loop(struct lower *lower, const struct ir_op *op)
{
	struct compiled *compiled = lower->compiled;
	struct opt_loop *loop = &compiled->loops[compiled->loop_count];

	*loop = (struct opt_loop){
		.turns = (int32_t)jit.tier2, .head = op->index, .compiled = compiled};
	for (int i = 0; i < lower->ir->op_count; i++) {
		const struct ir_op *from = &lower->ir->ops[i];

		loop->warms |= from->opcode == JUMP_BACKWARD &&
			       &lower->ir->ops[from->target] == op;
	}
	lower->loop_labels[compiled->loop_count++] = emit_label(lower->emit);
	emit_stencil(lower->emit, STENCIL_LOOP_HEAD,
		&(struct emit_holes){.a = (uintptr_t)loop});
	emit_bind(lower->emit, lower->loop_labels[compiled->loop_count - 1]);
}

static void enter_block(struct lower *lower, const struct ir_op *op)
{
	const struct ir_block *block = &lower->ir->blocks[op->block];

	lower->dead = false;
	lower->depth = 0;
	while (lower->depth < op->depth)
		lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	memcpy(lower->bound, block->bound,
		sizeof(uint64_t) * (size_t)lower->ir->local_words);
	if (op->flags & IR_LOOP)
		emit_align(lower->emit, 16);
	emit_bind(lower->emit, lower_label(lower, lower->number));
	if (op->flags & IR_LOOP && jit.tier2 > 0)
		count_loop(lower, op);
	if (jit.statistics)
		lower_stencil(lower, STENCIL_COUNT_BLOCK,
			(struct emit_holes){
				.a = (uint64_t)(block->last - block->first + 1),
				.b = (uintptr_t)&jit.timers.bytecodes_compiled});
}

/* For --check-stack: before every instruction, the stack as the frame has it. */
static void check_depth(struct lower *lower, const struct ir_op *op)
{
	check_effect(op->opcode, op->oparg);
	if (lower->depth != op->depth)
		check_failed(lower->ir->code, op->index,
			"the stack is compiled at another depth");
	lower_stencil(lower, STENCIL_CHECK_STACK,
		(struct emit_holes){
			.a = (uintptr_t)lower->compiled, .b = lower_exit(lower)});
}

/* Optimised code that has to give up at an instruction goes on here. */
static void way_in(struct lower *lower, const struct ir_op *op)
{
	int record = lower_record(lower);

	if (record < 0)
		return;
	emit_bind(lower->emit, lower_label(lower, lower->number));
	lower->compiled->ops[op->index].exit = (uint32_t)record;
}

static void lower_op_at(struct lower *lower)
{
	const struct ir_op *op = lower_op(lower);

	if (op->flags & IR_LEADER) {
		if (!lower->dead)
			lower_flush(lower, 0);
		enter_block(lower, op);
	}
	if (lower->dead)
		return;
	if (jit.check_stack && !lower->names_const)
		check_depth(lower, op);
	if (lower->compiled->ops && !(op->flags & IR_LEADER) && !lower->names_const)
		way_in(lower, op);
	if (jit.stress_deopt && !lower->names_const)
		lower_stencil(lower, STENCIL_STRESS,
			(struct emit_holes){.deopt = lower_deopt(lower, lower->number)});
	if (!lower_instruction(lower)) {
		lower_flush(lower, 0);
		emit_jump(lower->emit, lower_deopt(lower, lower->number));
		lower->dead = true;
	}
	for (int i = 0; i <= lower->skip; i++)
		ir_bind_local(lower->ir, op + i, lower->bound);
}

/* The source line of each code unit, for the line table. NULL without memory. */
static int *find_lines(PyCodeObject *code)
{
	int count = (int)Py_SIZE(code);
	int *lines = calloc((size_t)count + 1, sizeof(*lines));
	PyCodeAddressRange range;
	int unit = 0;

	if (!lines)
		return NULL;
	_PyCode_InitAddressRange(code, &range);
	while (unit < count && _PyLineTable_NextAddressRange(&range))
		for (; unit < count && unit * (int)sizeof(_Py_CODEUNIT) < range.ar_end;
			unit++)
			lines[unit] = range.ar_line > 0 ? range.ar_line : 0;
	return lines;
}

static void lower_all(struct lower *lower)
{
	struct ir *ir = lower->ir;
	int *lines = find_lines(ir->code);

	emit_bytes(lower->emit, prologue_start, sizeof(prologue_start));
	for (lower->number = 0; lower->number < ir->op_count && !lower->failed;
		lower->number += 1 + lower->skip) {
		const struct ir_op *op = lower_op(lower);

		lower->skip = 0;
		if (!(op->flags & IR_REACHED)) {
			if (op->flags & IR_LEADER)
				lower->dead = true;
			continue;
		}
		if (lines)
			emit_line(lower->emit, lines[op->index], op->index, op->opcode);
		lower_op_at(lower);
	}
	free(lines);
}

static void fill_entries(struct lower *lower)
{
	struct ir *ir = lower->ir;

	for (int i = 0; i < ir->op_count; i++) {
		const struct ir_op *op = &ir->ops[i];
		uint32_t index = op->index;
		uint32_t address;

		if (!(op->flags & IR_REACHED) || !lower->labels[i])
			continue;
		address =
			(uint32_t)(uintptr_t)emit_address(lower->emit, lower->labels[i]);
		if (!(op->flags & (IR_ENTRY | IR_LEADER))) {
			if (lower->compiled->ops)
				lower->compiled->ops[index].address = address;
			continue;
		}
		lower->compiled->entries[index] = address;
		while (index > 0 && ir->op_at[index - 1] == i)
			lower->compiled->entries[--index] = address;
	}
}

static int commit(struct lower *lower, int resume)
{
	struct compiled *compiled = lower->compiled;
	struct emit *emit = lower->emit;

	compiled->start = emit_commit(emit);
	if (!compiled->start || lower->failed)
		return -1;
	compiled->size = emit->size;
	compiled->resume = emit_address(emit, resume);
	compiled->leave = emit_address(emit, lower->leave_null);
	fill_entries(lower);
	for (uint32_t i = 0; i < compiled->loop_count; i++)
		compiled->loops[i].go_on = emit_address(emit, lower->loop_labels[i]);
	for (uint32_t i = 0; i < compiled->cache_count; i++)
		cache_commit(&compiled->caches[i], emit);
	for (size_t i = 0; i < emit->patch_count; i++)
		compiled->caches[emit->patchpoints[i].tag].jump =
			emit->patchpoints[i].point;
	return 0;
}

int baseline_compile(struct ir *ir, struct emit *emit, struct compiled *compiled)
{
	struct lower lower = {.ir = ir, .emit = emit, .compiled = compiled};
	int resume = emit_label(emit);
	int result = -1;

	lower.unwind = emit_label(emit);
	lower.reraise = emit_label(emit);
	lower.deopt = emit_label(emit);
	lower.leave_null = emit_label(emit);
	lower.leave = emit_label(emit);
	if (!begin(&lower, ir)) {
		lower_all(&lower);
		common_ends(&lower);
		emit_cold(emit, true);
		emit_bind(emit, resume);
		emit_bytes(emit, prologue_resume, sizeof(prologue_resume));
		emit_cold(emit, false);
		result = commit(&lower, resume);
	}
	end(&lower);
	return result;
}
