/* The state while a code object's operations become stencils. */
#include "jit/lower.h"

#include <stddef.h>
#include <stdlib.h>

uint32_t lower_local_at(uint32_t local)
{
	return (uint32_t)(offsetof(_PyInterpreterFrame, localsplus) +
			  local * sizeof(PyObject *));
}

uint32_t lower_slot_at(const struct lower *lower, int slot)
{
	return lower_local_at((uint32_t)(lower->ir->code->co_nlocalsplus + slot));
}

void lower_push(struct lower *lower, enum lower_where where, uint32_t number)
{
	lower->stack[lower->depth++] = (struct lower_value){(uint8_t)where, number};
}

void lower_push_top(struct lower *lower)
{
	lower_push(lower, LOWER_TOP, (uint32_t)lower->depth);
}

struct lower_value lower_pop(struct lower *lower)
{
	return lower->stack[--lower->depth];
}

bool lower_owned(struct lower_value value)
{
	return value.where == LOWER_SLOT || value.where == LOWER_TOP;
}

void lower_stencil(struct lower *lower, enum stencils id, struct emit_holes holes)
{
	holes.f = (uintptr_t)(_PyCode_CODE(lower->ir->code) + lower_op(lower)->index);
	emit_stencil(lower->emit, id, &holes);
}

static bool is_low(const PyObject *object)
{
	return (uintptr_t)object <= INT32_MAX;
}

void lower_argument(struct lower *lower, int position, struct lower_value value)
{
	static const enum stencils ids[3][4] = {
		{STENCIL_ARG0_SLOT, STENCIL_ARG0_TOP, STENCIL_ARG0_CONST,
			STENCIL_ARG0_CONST32},
		{STENCIL_ARG1_SLOT, STENCIL_ARG1_TOP, STENCIL_ARG1_CONST,
			STENCIL_ARG1_CONST32},
		{STENCIL_ARG2_SLOT, STENCIL_ARG2_TOP, STENCIL_ARG2_CONST,
			STENCIL_ARG2_CONST32},
	};
	const enum stencils *id = ids[position];
	PyObject *object;

	switch ((enum lower_where)value.where) {
	case LOWER_SLOT:
		lower_stencil(lower, id[0],
			(struct emit_holes){
				.a = lower_slot_at(lower, (int)value.number)});
		break;
	case LOWER_LOCAL:
		lower_stencil(lower, id[0],
			(struct emit_holes){.a = lower_local_at(value.number)});
		break;
	case LOWER_TOP: lower_stencil(lower, id[1], (struct emit_holes){0}); break;
	case LOWER_CONST:
		object = PyTuple_GET_ITEM(lower->ir->code->co_consts, value.number);
		lower_stencil(lower, is_low(object) ? id[3] : id[2],
			(struct emit_holes){.a = (uintptr_t)object});
		break;
	case LOWER_NULL: lower_stencil(lower, id[3], (struct emit_holes){.a = 0}); break;
	}
}

static void settle(struct lower *lower, int place)
{
	struct lower_value *value = &lower->stack[place];
	struct emit_holes holes = {.a = lower_slot_at(lower, place)};

	switch ((enum lower_where)value->where) {
	case LOWER_SLOT: return;
	case LOWER_TOP: lower_stencil(lower, STENCIL_SPILL, holes); break;
	case LOWER_NULL: lower_stencil(lower, STENCIL_PUT_NULL, holes); break;
	case LOWER_LOCAL:
	case LOWER_CONST:
		lower_argument(lower, 0, *value);
		lower_stencil(lower, STENCIL_PUT_NEW, holes);
		break;
	}
	*value = (struct lower_value){LOWER_SLOT, (uint32_t)place};
}

void lower_spill(struct lower *lower)
{
	for (int i = lower->depth - 1; i >= 0; i--) {
		if (lower->stack[i].where == LOWER_TOP) {
			settle(lower, i);
			return;
		}
	}
}

void lower_flush(struct lower *lower, int from)
{
	for (int i = from; i < lower->depth; i++)
		settle(lower, i);
}

void lower_save_local(struct lower *lower, uint32_t local)
{
	for (int i = 0; i < lower->depth; i++)
		if (lower->stack[i].where == LOWER_LOCAL &&
			lower->stack[i].number == local)
			settle(lower, i);
}

int lower_label(struct lower *lower, int number)
{
	if (!lower->labels[number])
		lower->labels[number] = emit_label(lower->emit);
	return lower->labels[number];
}

static void *grow(
	struct lower *lower, void *array, uint32_t used, uint32_t *room, size_t size)
{
	void *bigger = array;

	if (used < *room)
		return array;
	bigger = realloc(array, (*room * 2 + 16) * size);
	if (!bigger) {
		lower->failed = true;
		return NULL;
	}
	*room = *room * 2 + 16;
	return bigger;
}

static bool add_entry(struct lower *lower, int place)
{
	static const uint8_t kinds[] = {
		[LOWER_TOP] = EXIT_TOP,
		[LOWER_LOCAL] = EXIT_LOCAL,
		[LOWER_CONST] = EXIT_CONST,
		[LOWER_NULL] = EXIT_NULL,
	};
	struct compiled *compiled = lower->compiled;
	struct lower_value value = lower->stack[place];
	struct exit_entry *entries = grow(lower, compiled->exit_entries,
		compiled->entry_count, &compiled->entry_room, sizeof(*entries));

	if (!entries)
		return false;
	compiled->exit_entries = entries;
	entries[compiled->entry_count++] =
		(struct exit_entry){(uint16_t)place, kinds[value.where], value.number};
	return true;
}

/* Records an exit with the stack as it is now. Returns its number, or -1. */
static int add_exit(struct lower *lower, uint32_t index, uint32_t lookup)
{
	struct compiled *compiled = lower->compiled;
	struct exit *exits = grow(lower, compiled->exits, compiled->exit_count,
		&compiled->exit_room, sizeof(*exits));
	struct exit *exit;

	if (!exits)
		return -1;
	compiled->exits = exits;
	exit = &exits[compiled->exit_count];
	*exit = (struct exit){.index = index,
		.pair = index,
		.lookup = lookup,
		.depth = (uint16_t)lower->depth,
		.entries = compiled->entry_count};
	for (int i = 0; i < lower->depth; i++) {
		if (lower->stack[i].where == LOWER_SLOT)
			continue;
		if (!add_entry(lower, i))
			return -1;
		exit->entry_count++;
	}
	return (int)compiled->exit_count++;
}

int lower_record(struct lower *lower)
{
	uint32_t index = lower_op(lower)->index;

	return add_exit(lower, index, index);
}

static int exit_label(struct lower *lower, int number, int common)
{
	int label = emit_label(lower->emit);

	emit_cold(lower->emit, true);
	emit_bind(lower->emit, label);
	emit_stencil(lower->emit, STENCIL_EXIT_NUMBER,
		&(struct emit_holes){.a = (uint64_t)number, .cont = common});
	emit_cold(lower->emit, false);
	return label;
}

int lower_error_at(struct lower *lower, uint32_t lookup)
{
	return exit_label(
		lower, add_exit(lower, lower_op(lower)->index, lookup), lower->unwind);
}

int lower_error(struct lower *lower)
{
	return lower_error_at(lower, lower_op(lower)->index);
}

/* What _PyCode_Quicken() makes one instruction of with a LOAD_FAST behind it. */
static bool pairs(const struct ir *ir, int number)
{
	const struct ir_op *op = &ir->ops[number];

	return (op->opcode == LOAD_FAST || op->opcode == STORE_FAST ||
		       op->opcode == LOAD_CONST) &&
	       op[1].index == op->index + 1 && !(op[1].flags & IR_LEADER);
}

/* The op that begins the pair which a load is in the second of, or the load itself. Pairs
 * are made from the left: of three loads the first two are one. */
static int first_of_pair(const struct ir *ir, int number)
{
	int first = number;

	while (first > 0 && pairs(ir, first - 1))
		first--;
	while (first + 1 < number)
		first += ir->ops[first + 1].opcode == LOAD_FAST ||
					 (ir->ops[first].opcode == STORE_FAST &&
						 ir->ops[first + 1].opcode ==
							 STORE_FAST) ||
					 (ir->ops[first].opcode == LOAD_FAST &&
						 ir->ops[first + 1].opcode == LOAD_CONST)
				 ? 2
				 : 1;
	return first < number ? first : number;
}

int lower_error_unbound(struct lower *lower)
{
	uint32_t index = lower_op(lower)->index;
	int number = add_exit(lower, index, index);

	if (number >= 0)
		lower->compiled->exits[number].pair =
			lower->ir->ops[first_of_pair(lower->ir, lower->number)].index;
	return exit_label(lower, number, lower->unwind);
}

int lower_reraise(struct lower *lower)
{
	uint32_t index = lower_op(lower)->index;

	return exit_label(lower, add_exit(lower, index, index), lower->reraise);
}

int lower_deopt(struct lower *lower, int number)
{
	const struct ir *ir = lower->ir;
	uint32_t index = ir->ops[number].index;

	/* Prefixes belong to the instruction that the interpreter goes on at. */
	while (index > 0 && ir->op_at[index - 1] == number)
		index--;
	return exit_label(lower, add_exit(lower, index, index), lower->deopt);
}

uint32_t lower_exit(struct lower *lower)
{
	uint32_t index = lower_op(lower)->index;

	return (uint32_t)add_exit(lower, index, index);
}
