/* Lowering by the baseline, a row for each instruction; locals, constants, the stack. */
#include "jit/lower_ops.h"

#include <stddef.h>

int lower_function(struct lower *lower, const void *function)
{
	return emit_label_at(lower->emit, function);
}

PyObject *lower_name(const struct lower *lower, uint32_t number)
{
	return PyTuple_GET_ITEM(lower->ir->code->co_names, number);
}

/* Pops, frees the register for the result, loads arguments: what most operations begin
 * with. Returns the mask of operands that are owned. */
uint32_t lower_take_one(struct lower *lower)
{
	struct lower_value a = lower_pop(lower);

	lower_spill(lower);
	lower_argument(lower, 0, a);
	return lower_owned(a) ? RUNTIME_OWNS_A : 0;
}

uint32_t lower_take_two(struct lower *lower)
{
	struct lower_value b = lower_pop(lower);
	struct lower_value a = lower_pop(lower);

	lower_spill(lower);
	lower_argument(lower, 0, a);
	lower_argument(lower, 1, b);
	return (lower_owned(a) ? RUNTIME_OWNS_A : 0) |
	       (lower_owned(b) ? RUNTIME_OWNS_B : 0);
}

void lower_call_helper(
	struct lower *lower, enum stencils id, runtime_op *work, int target)
{
	uint32_t oparg = lower_op(lower)->oparg;

	lower_flush(lower, 0);
	lower_stencil(lower, id,
		(struct emit_holes){
			.a = lower_slot_at(lower, lower->depth),
			.b = oparg,
			.callee = lower_function(lower, (const void *)(uintptr_t)work),
			.target = target,
			.error = lower_error(lower),
		});
}

/* Makes the abstract stack `depth` deep, all in slots. */
void lower_set_depth(struct lower *lower, int depth)
{
	while (lower->depth > depth)
		lower_pop(lower);
	while (lower->depth < depth)
		lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	for (int i = 0; i < depth; i++)
		lower->stack[i] = (struct lower_value){LOWER_SLOT, (uint32_t)i};
}

void lower_poll(struct lower *lower, int number)
{
	int deopt = lower_deopt(lower, number);

	lower_stencil(lower, STENCIL_POLL,
		(struct emit_holes){.error = lower_error(lower), .deopt = deopt});
}

static void lower_generic(struct lower *lower, runtime_op *work)
{
	const struct ir_op *op = lower_op(lower);
	int depth = op->depth + ir_stack_effect(op->opcode, op->oparg, false);

	lower_call_helper(lower, STENCIL_GENERIC, work, 0);
	lower_set_depth(lower, depth);
	if (op->opcode == CALL_FUNCTION_EX)
		lower_poll(lower, lower->number + 1);
}

static void lower_load_fast(struct lower *lower)
{
	uint32_t local = lower_op(lower)->oparg;

	if (!ir_is_bound(lower->bound, local))
		lower_stencil(lower, STENCIL_CHECK_LOCAL,
			(struct emit_holes){.a = lower_local_at(local),
				.b = local,
				.error = lower_error_unbound(lower)});
	lower_push(lower, LOWER_LOCAL, local);
}

void lower_store_fast(struct lower *lower)
{
	uint32_t local = lower_op(lower)->oparg;
	struct lower_value value = lower_pop(lower);

	lower_save_local(lower, local);
	lower_argument(lower, 0, value);
	lower_stencil(lower,
		lower_owned(value) ? STENCIL_STORE_LOCAL : STENCIL_STORE_LOCAL_NEW,
		(struct emit_holes){.a = lower_local_at(local)});
}

static void lower_delete_fast(struct lower *lower)
{
	uint32_t local = lower_op(lower)->oparg;

	lower_save_local(lower, local);
	if (!ir_is_bound(lower->bound, local))
		lower_stencil(lower, STENCIL_CHECK_LOCAL,
			(struct emit_holes){.a = lower_local_at(local),
				.b = local,
				.error = lower_error(lower)});
	lower_stencil(lower, STENCIL_DELETE_LOCAL,
		(struct emit_holes){.a = lower_local_at(local)});
}

static void lower_load_deref(struct lower *lower)
{
	uint32_t local = lower_op(lower)->oparg;

	lower_spill(lower);
	lower_stencil(lower, STENCIL_LOAD_CELL,
		(struct emit_holes){.a = lower_local_at(local),
			.b = local,
			.error = lower_error(lower)});
	lower_push_top(lower);
}

static void lower_store_deref(struct lower *lower)
{
	struct lower_value value = lower_pop(lower);

	lower_argument(lower, 0, value);
	lower_stencil(lower,
		lower_owned(value) ? STENCIL_STORE_CELL : STENCIL_STORE_CELL_NEW,
		(struct emit_holes){.a = lower_local_at(lower_op(lower)->oparg)});
}

void lower_pop_top(struct lower *lower)
{
	struct lower_value value = lower_pop(lower);

	if (!lower_owned(value))
		return;
	lower_argument(lower, 0, value);
	lower_stencil(lower, STENCIL_DROP, (struct emit_holes){0});
}

static void lower_copy(struct lower *lower)
{
	int place = lower->depth - (int)lower_op(lower)->oparg;
	struct lower_value value = lower->stack[place];

	if (!lower_owned(value)) {
		lower_push(lower, value.where, value.number);
		return;
	}
	lower_spill(lower);
	lower_argument(lower, 0, lower->stack[place]);
	lower_stencil(lower, STENCIL_TOP_NEW, (struct emit_holes){0});
	lower_push_top(lower);
}

static void lower_swap(struct lower *lower)
{
	int last = lower->depth - 1;
	int place = lower->depth - (int)lower_op(lower)->oparg;
	struct lower_value a = lower->stack[last];
	struct lower_value b = lower->stack[place];

	if (!lower_owned(a) && !lower_owned(b)) {
		lower->stack[last] = b;
		lower->stack[place] = a;
		return;
	}
	lower_flush(lower, place);
	lower_stencil(lower, STENCIL_SWAP,
		(struct emit_holes){.a = lower_slot_at(lower, last),
			.b = lower_slot_at(lower, place)});
}

static void lower_unpack_sequence(struct lower *lower)
{
	uint32_t count = lower_op(lower)->oparg;
	uint32_t owned = lower_take_one(lower);

	lower_stencil(lower, STENCIL_UNPACK,
		(struct emit_holes){.a = lower_slot_at(lower, lower->depth),
			.b = owned,
			.c = count,
			.error = lower_error(lower)});
	for (uint32_t i = 0; i < count; i++)
		lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
}

static void lower_list_append(struct lower *lower)
{
	int list = lower->depth - (int)lower_op(lower)->oparg - 1;

	lower_take_owned(lower);
	lower_stencil(lower, STENCIL_LIST_APPEND,
		(struct emit_holes){
			.a = lower_slot_at(lower, list), .error = lower_error(lower)});
}

static void lower_copy_free_vars(struct lower *lower)
{
	const PyCodeObject *code = lower->ir->code;
	uint32_t count = lower_op(lower)->oparg;
	uint32_t first = (uint32_t)code->co_nlocalsplus - count;

	for (uint32_t i = 0; i < count; i++)
		lower_stencil(lower, STENCIL_COPY_FREE,
			(struct emit_holes){.a = lower_local_at(first + i),
				.b = offsetof(PyTupleObject, ob_item) +
				     i * sizeof(PyObject *)});
}

/* The stack does not change and nothing is done. */
static void lower_nothing(struct lower *lower)
{
	(void)lower;
}

static void lower_kw_names(struct lower *lower)
{
	lower->names_const = lower_op(lower)->oparg + 1;
}

static void lower_load_const(struct lower *lower)
{
	lower_push(lower, LOWER_CONST, lower_op(lower)->oparg);
}

static void lower_push_null(struct lower *lower)
{
	lower_push(lower, LOWER_NULL, 0);
}

typedef void lowering(struct lower *lower);

static lowering *const lowerings[256] = {
	[NOP] = lower_nothing,
	[PRECALL] = lower_nothing,
	[RESUME] = lower_resume,
	[LOAD_FAST] = lower_load_fast,
	[LOAD_CLOSURE] = lower_load_fast,
	[LOAD_CONST] = lower_load_const,
	[STORE_FAST] = lower_store_fast,
	[DELETE_FAST] = lower_delete_fast,
	[LOAD_DEREF] = lower_load_deref,
	[STORE_DEREF] = lower_store_deref,
	[POP_TOP] = lower_pop_top,
	[PUSH_NULL] = lower_push_null,
	[COPY] = lower_copy,
	[SWAP] = lower_swap,
	[LOAD_GLOBAL] = lower_load_global,
	[LOAD_ATTR] = lower_load_attr,
	[STORE_ATTR] = lower_store_attr,
	[LOAD_METHOD] = lower_load_method,
	[KW_NAMES] = lower_kw_names,
	[CALL] = lower_call,
	[BINARY_OP] = lower_binary_op,
	[BINARY_SUBSCR] = lower_binary_subscr,
	[STORE_SUBSCR] = lower_store_subscr,
	[UNPACK_SEQUENCE] = lower_unpack_sequence,
	[COMPARE_OP] = lower_compare_op,
	[CONTAINS_OP] = lower_contains_op,
	[IS_OP] = lower_is_op,
	[LIST_APPEND] = lower_list_append,
	[COPY_FREE_VARS] = lower_copy_free_vars,
	[UNARY_NOT] = lower_unary_not,
	[POP_JUMP_FORWARD_IF_FALSE] = lower_pop_jump,
	[POP_JUMP_FORWARD_IF_TRUE] = lower_pop_jump,
	[POP_JUMP_BACKWARD_IF_FALSE] = lower_pop_jump,
	[POP_JUMP_BACKWARD_IF_TRUE] = lower_pop_jump,
	[POP_JUMP_FORWARD_IF_NONE] = lower_pop_jump_none,
	[POP_JUMP_FORWARD_IF_NOT_NONE] = lower_pop_jump_none,
	[POP_JUMP_BACKWARD_IF_NONE] = lower_pop_jump_none,
	[POP_JUMP_BACKWARD_IF_NOT_NONE] = lower_pop_jump_none,
	[JUMP_IF_FALSE_OR_POP] = lower_jump_or_pop,
	[JUMP_IF_TRUE_OR_POP] = lower_jump_or_pop,
	[JUMP_FORWARD] = lower_jump,
	[JUMP_BACKWARD] = lower_jump,
	[JUMP_BACKWARD_NO_INTERRUPT] = lower_jump,
	[FOR_ITER] = lower_for_iter,
	[SEND] = lower_send,
	[RETURN_VALUE] = lower_return_value,
	[YIELD_VALUE] = lower_yield_value,
	[RETURN_GENERATOR] = lower_return_generator,
	[RAISE_VARARGS] = lower_reraise_op,
	[RERAISE] = lower_reraise_op,
	[END_ASYNC_FOR] = lower_end_async_for,
};

bool lower_instruction(struct lower *lower)
{
	uint8_t opcode = lower_op(lower)->opcode;
	runtime_op *work = runtime_find(opcode);

	if (lowerings[opcode])
		lowerings[opcode](lower);
	else if (work)
		lower_generic(lower, work);
	else
		return false;
	return true;
}

const char *lower_describe(uint8_t opcode)
{
	switch (opcode) {
	case PRECALL:
	case KW_NAMES: return "compiled: part of the CALL that follows";
	case NOP: return "compiled: to nothing";
	default: break;
	}
	if (lowerings[opcode])
		return "compiled: to code of its own";
	return runtime_find(opcode) ? "compiled: to a call of a C function" : NULL;
}
