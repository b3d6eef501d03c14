/* Bytecode to intermediate code. */
#include "jit/ir.h"

#include <stdlib.h>
#include <string.h>

/* One row of a code object's exception table (Objects/exception_handling_notes.txt). */
struct row {
	int start, end; /* code units */
	int handler;	/* code unit */
	int depth;
	bool lasti;
};

static int decode_ops(struct ir *ir, const char **why)
{
	const _Py_CODEUNIT *units = _PyCode_CODE(ir->code);
	uint32_t count = (uint32_t)Py_SIZE(ir->code);
	uint32_t prefix = 0;
	uint32_t start = 0;

	for (uint32_t i = 0; i < count; i++)
		ir->op_at[i] = IR_NONE;
	for (uint32_t i = 0; i < count;) {
		uint8_t raw = _Py_OPCODE(units[i]);
		uint8_t opcode = _PyOpcode_Deopt[raw];
		struct ir_op *op = &ir->ops[ir->op_count];

		prefix = prefix << 8 | _Py_OPARG(units[i]);
		if (opcode == EXTENDED_ARG) {
			ir->op_at[i] = ir->op_count;
			i++;
			continue;
		}
		if (!opcode) {
			*why = "cache in the place of an instruction";
			return -1;
		}
		*op = (struct ir_op){
			.opcode = opcode,
			.adaptive = raw,
			.oparg = prefix,
			.index = i,
			.next = i + 1 + _PyOpcode_Caches[opcode],
			.target = IR_NONE,
			.depth = IR_NONE,
			.block = IR_NONE,
			.handler = IR_NONE,
		};
		ir->op_at[i] = ir->op_count++;
		prefix = 0;
		i = op->next;
		start = i;
	}
	if (start > count || (count && start != count)) {
		*why = "ends in the middle of an instruction";
		return -1;
	}
	return 0;
}

static int find_targets(struct ir *ir, const char **why)
{
	int count = (int)Py_SIZE(ir->code);

	for (int i = 0; i < ir->op_count; i++) {
		struct ir_op *op = &ir->ops[i];
		int unit = ir_jump_target(op->opcode, op->oparg, op->next);

		if (unit == IR_NONE)
			continue;
		if (unit < 0 || unit >= count || ir->op_at[unit] == IR_NONE) {
			*why = "jumps to no instruction";
			return -1;
		}
		op->target = ir->op_at[unit];
		ir->ops[op->target].flags |= IR_LEADER;
		if (op->target <= i) {
			op->flags |= IR_BACKWARD;
			ir->ops[op->target].flags |= IR_LOOP | IR_ENTRY;
			ir->has_loop |= op->opcode != JUMP_BACKWARD_NO_INTERRUPT;
		}
	}
	return 0;
}

static const unsigned char *parse_row(const unsigned char *at, struct row *row)
{
	int size;
	int depth;

	at = parse_varint((unsigned char *)at, &row->start);
	at = parse_varint((unsigned char *)at, &size);
	at = parse_varint((unsigned char *)at, &row->handler);
	at = parse_varint((unsigned char *)at, &depth);
	row->end = row->start + size;
	row->depth = depth >> 1;
	row->lasti = depth & 1;
	return at;
}

static int find_handlers(struct ir *ir, const char **why)
{
	PyObject *table = ir->code->co_exceptiontable;
	const unsigned char *at = (const unsigned char *)PyBytes_AS_STRING(table);
	const unsigned char *end = at + PyBytes_GET_SIZE(table);
	int count = (int)Py_SIZE(ir->code);

	while (at < end) {
		struct row row;

		at = parse_row(at, &row);
		if (row.handler >= count || row.end > count ||
			ir->op_at[row.handler] < 0) {
			*why = "exception table points to no instruction";
			return -1;
		}
		ir->ops[ir->op_at[row.handler]].flags |=
			IR_LEADER | IR_ENTRY | IR_HANDLER;
		for (int unit = row.start; unit < row.end; unit++) {
			int number = ir->op_at[unit];

			if (number < 0 || ir->ops[number].index != (uint32_t)unit)
				continue;
			ir->ops[number].handler = ir->op_at[row.handler];
			ir->ops[number].handler_depth = row.depth;
			ir->ops[number].handler_lasti = row.lasti;
		}
	}
	return 0;
}

/* The stack's depth at each op, from the entry on. */
struct walk {
	int *pending;
	int count;
};

static int reach(
	struct ir *ir, struct walk *walk, int number, int depth, const char **why)
{
	struct ir_op *op;

	if (number >= ir->op_count) {
		*why = "runs past its end";
		return -1;
	}
	op = &ir->ops[number];
	if (depth < 0 || depth > ir->code->co_stacksize) {
		*why = "stack too shallow or too deep";
		return -1;
	}
	if (op->flags & IR_REACHED) {
		if (op->depth == depth)
			return 0;
		*why = "stack depth differs between two ways";
		return -1;
	}
	op->flags |= IR_REACHED;
	op->depth = depth;
	walk->pending[walk->count++] = number;
	return 0;
}

static int walk_op(struct ir *ir, struct walk *walk, int number, const char **why)
{
	const struct ir_op *op = &ir->ops[number];
	int effect = ir_stack_effect(op->opcode, op->oparg, false);

	if (op->handler != IR_NONE &&
		reach(ir, walk, op->handler, op->handler_depth + op->handler_lasti + 1,
			why))
		return -1;
	if (op->target != IR_NONE &&
		reach(ir, walk, op->target,
			op->depth + ir_stack_effect(op->opcode, op->oparg, true), why))
		return -1;
	if (ir_ends(op->opcode))
		return 0;
	return reach(ir, walk, number + 1, op->depth + effect, why);
}

static int find_depths(struct ir *ir, const char **why)
{
	struct walk walk = {.pending = calloc((size_t)ir->op_count, sizeof(int))};
	int result;

	*why = "out of memory";
	if (!walk.pending)
		return -1;
	result = reach(ir, &walk, 0, 0, why);
	while (!result && walk.count)
		result = walk_op(ir, &walk, walk.pending[--walk.count], why);
	free(walk.pending);
	return result;
}

static void find_leaders(struct ir *ir)
{
	ir->ops[0].flags |= IR_LEADER | IR_ENTRY;
	for (int i = 0; i + 1 < ir->op_count; i++) {
		const struct ir_op *op = &ir->ops[i];

		if (op->target != IR_NONE || ir_ends(op->opcode))
			ir->ops[i + 1].flags |= IR_LEADER;
		/* A generator goes on behind where it left. */
		if (op->opcode == YIELD_VALUE || op->opcode == RETURN_GENERATOR)
			ir->ops[i + 1].flags |= IR_LEADER | IR_ENTRY;
	}
}

static int make_blocks(struct ir *ir)
{
	int count = 0;

	for (int i = 0; i < ir->op_count; i++)
		count += ir->ops[i].flags & IR_LEADER;
	ir->local_words = (ir->code->co_nlocalsplus + 63) / 64;
	ir->blocks = calloc((size_t)count, sizeof(*ir->blocks));
	ir->sets = malloc(sizeof(uint64_t) * (size_t)(count * ir->local_words + 1));
	if (!ir->blocks || !ir->sets)
		return -1;
	for (int i = 0; i < ir->op_count; i++) {
		if (ir->ops[i].flags & IR_LEADER) {
			struct ir_block *block = &ir->blocks[ir->block_count];

			block->first = i;
			block->bound = ir->sets + ir->block_count * ir->local_words;
			ir->block_count++;
		}
		ir->ops[i].block = ir->block_count - 1;
		ir->blocks[ir->block_count - 1].last = i;
	}
	return 0;
}

/* Intersects a block's set with `set`; true where that changed it. */
static bool meet(const struct ir *ir, int number, const uint64_t *set)
{
	uint64_t *bound = ir->blocks[ir->ops[number].block].bound;
	bool changed = false;

	for (int i = 0; i < ir->local_words; i++) {
		changed |= (bound[i] & ~set[i]) != 0;
		bound[i] &= set[i];
	}
	return changed;
}

void ir_bind_local(const struct ir *ir, const struct ir_op *op, uint64_t *set)
{
	uint32_t local = op->oparg;

	switch (op->opcode) {
	case STORE_FAST:
	case LOAD_FAST: /* it would have raised */
	case LOAD_CLOSURE:
	case MAKE_CELL: set[local / 64] |= 1ull << (local % 64); break;
	case DELETE_FAST: set[local / 64] &= ~(1ull << (local % 64)); break;
	case COPY_FREE_VARS:
		local = (uint32_t)(ir->code->co_nlocals + ir->code->co_nplaincellvars);
		for (uint32_t i = 0; i < op->oparg; i++, local++)
			set[local / 64] |= 1ull << (local % 64);
		break;
	default: break;
	}
}

/* An interrupt at a backward jump is looked up in the exception table at the code unit
 * before the jump's target (ceval.c: next_instr has moved by then). */
static int interrupt_handler(const struct ir *ir, const struct ir_op *op)
{
	uint32_t unit = ir->ops[op->target].index;

	while (unit > 0 && ir->op_at[--unit] == IR_NONE)
		;
	return ir->op_at[unit] == IR_NONE ? IR_NONE : ir->ops[ir->op_at[unit]].handler;
}

static bool flow_block(const struct ir *ir, const struct ir_block *block, uint64_t *set)
{
	bool changed = false;

	memcpy(set, block->bound, sizeof(uint64_t) * (size_t)ir->local_words);
	for (int i = block->first; i <= block->last; i++) {
		const struct ir_op *op = &ir->ops[i];
		int handler = IR_NONE;

		if (!(op->flags & IR_REACHED))
			return changed;
		if (op->handler != IR_NONE)
			changed |= meet(ir, op->handler, set);
		if (op->flags & IR_BACKWARD)
			handler = interrupt_handler(ir, op);
		ir_bind_local(ir, op, set);
		if (op->handler != IR_NONE)
			changed |= meet(ir, op->handler, set);
		if (handler != IR_NONE)
			changed |= meet(ir, handler, set);
		if (op->target != IR_NONE)
			changed |= meet(ir, op->target, set);
	}
	if (!ir_ends(ir->ops[block->last].opcode) && block->last + 1 < ir->op_count)
		changed |= meet(ir, block->last + 1, set);
	return changed;
}

static int argument_count(const PyCodeObject *code)
{
	return code->co_argcount + code->co_kwonlyargcount +
	       !!(code->co_flags & CO_VARARGS) + !!(code->co_flags & CO_VARKEYWORDS);
}

/* Locals that are bound whichever way a block was reached. */
static int find_bound(struct ir *ir)
{
	uint64_t *set = malloc(sizeof(uint64_t) * (size_t)(ir->local_words + 1));
	int arguments = argument_count(ir->code);
	bool changed = true;

	if (!set)
		return -1;
	memset(ir->sets, 0xff,
		sizeof(uint64_t) * (size_t)(ir->block_count * ir->local_words));
	if (ir->local_words)
		memset(ir->blocks[0].bound, 0,
			sizeof(uint64_t) * (size_t)ir->local_words);
	for (int i = 0; i < arguments; i++)
		ir->blocks[0].bound[i / 64] |= 1ull << (i % 64);
	while (changed) {
		changed = false;
		for (int i = 0; i < ir->block_count; i++)
			changed |= flow_block(ir, &ir->blocks[i], set);
	}
	free(set);
	return 0;
}

int ir_build(struct ir *ir, PyCodeObject *code, const char **why)
{
	size_t units = (size_t)Py_SIZE(code);

	*ir = (struct ir){.code = code};
	*why = "too big";
	if (!units || units > IR_MAX_OPS)
		return -1;
	*why = "out of memory";
	ir->ops = calloc(units, sizeof(*ir->ops));
	ir->op_at = calloc(units, sizeof(*ir->op_at));
	if (!ir->ops || !ir->op_at)
		return -1;
	if (decode_ops(ir, why) || find_targets(ir, why) || find_handlers(ir, why) ||
		find_depths(ir, why))
		return -1;
	find_leaders(ir);
	*why = "out of memory";
	if (make_blocks(ir) || find_bound(ir))
		return -1;
	*why = NULL;
	return 0;
}

void ir_release(struct ir *ir)
{
	free(ir->ops);
	free(ir->op_at);
	free(ir->blocks);
	free(ir->sets);
	*ir = (struct ir){0};
}

void ir_print(const struct ir *ir, FILE *file)
{
	fprintf(file, "%s (%s:%d): %d ops, %d blocks\n",
		PyUnicode_AsUTF8(ir->code->co_qualname),
		PyUnicode_AsUTF8(ir->code->co_filename), ir->code->co_firstlineno,
		ir->op_count, ir->block_count);
	for (int i = 0; i < ir->op_count; i++) {
		const struct ir_op *op = &ir->ops[i];

		if (op->flags & IR_LEADER)
			fprintf(file, "block %d:%s%s%s\n", op->block,
				op->flags & IR_LOOP ? " loop" : "",
				op->flags & IR_ENTRY ? " entry" : "",
				op->flags & IR_HANDLER ? " handler" : "");
		fprintf(file, "  %4d  %5u  [%2d]  %-28s %u", i, op->index, op->depth,
			ir_opcode_name(op->opcode), op->oparg);
		if (op->target != IR_NONE)
			fprintf(file, " -> %d", op->target);
		if (op->handler != IR_NONE)
			fprintf(file, "  except %d", op->handler);
		fputc('\n', file);
	}
}
