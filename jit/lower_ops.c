/* Lowering by the baseline, one function an instruction (or kind of instructions). */
#include "jit/lower.h"

#include <stddef.h>

#include "jit/cache.h"
#include "jit/except.h"
#include "jit/jit.h"
#include "jit/runtime.h"

static int at_function(struct lower *lower, const void *function)
{
	return emit_label_at(lower->emit, function);
}

static PyObject *name_of(const struct lower *lower, uint32_t number)
{
	return PyTuple_GET_ITEM(lower->ir->code->co_names, number);
}

/* Pops, frees the register for the result, loads arguments: what most operations begin
 * with. Returns the mask of operands that are owned. */
static uint32_t take_one(struct lower *lower)
{
	struct lower_value a = lower_pop(lower);

	lower_spill(lower);
	lower_argument(lower, 0, a);
	return lower_owned(a) ? RUNTIME_OWNS_A : 0;
}

static uint32_t take_two(struct lower *lower)
{
	struct lower_value b = lower_pop(lower);
	struct lower_value a = lower_pop(lower);

	lower_spill(lower);
	lower_argument(lower, 0, a);
	lower_argument(lower, 1, b);
	return (lower_owned(a) ? RUNTIME_OWNS_A : 0) |
	       (lower_owned(b) ? RUNTIME_OWNS_B : 0);
}

static void generic(struct lower *lower, enum stencils id, runtime_op *work, int target)
{
	uint32_t oparg = lower_op(lower)->oparg;

	lower_flush(lower, 0);
	lower_stencil(lower, id,
		(struct emit_holes){
			.a = lower_slot_at(lower, lower->depth),
			.b = oparg,
			.callee = at_function(lower, (const void *)(uintptr_t)work),
			.target = target,
			.error = lower_error(lower),
		});
}

/* Makes the abstract stack `depth` deep, all in slots. */
static void set_depth(struct lower *lower, int depth)
{
	while (lower->depth > depth)
		lower_pop(lower);
	while (lower->depth < depth)
		lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	for (int i = 0; i < depth; i++)
		lower->stack[i] = (struct lower_value){LOWER_SLOT, (uint32_t)i};
}

static void poll(struct lower *lower, int number)
{
	int deopt = lower_deopt(lower, number);

	lower_stencil(lower, STENCIL_POLL,
		(struct emit_holes){.error = lower_error(lower), .deopt = deopt});
}

static void lower_generic(struct lower *lower, runtime_op *work)
{
	const struct ir_op *op = lower_op(lower);
	int depth = op->depth + ir_stack_effect(op->opcode, op->oparg, false);

	generic(lower, STENCIL_GENERIC, work, 0);
	set_depth(lower, depth);
	if (op->opcode == CALL_FUNCTION_EX)
		poll(lower, lower->number + 1);
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

static void lower_store_fast(struct lower *lower)
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

static void lower_pop_top(struct lower *lower)
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

/* A cache's place: what is compiled in line from the interpreter's cache, or a jump to the
 * newest stub. */
static struct cache *cache_begin(struct lower *lower, enum cache_kind kind,
	PyObject *name, uint32_t owned, uint32_t slot)
{
	const struct ir_op *op = lower_op(lower);
	struct compiled *compiled = lower->compiled;
	struct cache *cache = &compiled->caches[compiled->cache_count++];

	*cache = (struct cache){
		.kind = (uint8_t)kind,
		.owned = (uint8_t)owned,
		.oparg = op->oparg,
		.slot = slot,
		.index = op->index,
		.name = name,
		.owner = compiled,
		.patience = jit.threshold > 1 ? CACHE_WARM : 2,
		.next_label = emit_label(lower->emit),
		.miss_label = emit_label(lower->emit),
		.error_label = lower_error(lower),
	};
	return cache;
}

/* The miss code of a cache: a C function does the work. */
static void cache_miss(struct lower *lower, const struct cache *cache, enum stencils miss)
{
	struct emit_holes holes = {.a = (uintptr_t)cache,
		.b = cache->slot,
		.error = cache->error_label,
		.cont = cache->next_label,
		.target = cache->target_label};

	if (cache->kind >= CACHE_CALL) {
		holes.a = cache->slot;
		holes.b = (uintptr_t)cache;
		holes.c = cache->oparg + sizeof(PyObject *);
	}
	emit_bind(lower->emit, cache->miss_label);
	lower_stencil(lower, miss, holes);
}

/* `seed` is compiled in line where there is one. */
static void cache_end(struct lower *lower, struct cache *cache, enum stencils miss,
	struct cache_seed *seed)
{
	uint32_t number = (uint32_t)(cache - lower->compiled->caches);
	int chain = emit_label(lower->emit);

	if (seed) {
		seed->holes.exit = chain;
		seed->holes.error = cache->error_label;
		seed->holes.target = cache->target_label;
		if (jit.stress_deopt)
			lower_stencil(lower, STENCIL_STRESS_GUARD,
				(struct emit_holes){.exit = chain});
		lower_stencil(lower, seed->stencil, seed->holes);
		emit_bind(lower->emit, cache->next_label);
		emit_cold(lower->emit, true);
		emit_bind(lower->emit, chain);
	}
	emit_stencil(lower->emit, STENCIL_JUMP,
		&(struct emit_holes){.target = cache->miss_label,
			.patches = 1u << HOLES_TARGET,
			.tag = number});
	if (!seed) {
		emit_bind(lower->emit, cache->next_label);
		emit_cold(lower->emit, true);
	}
	cache_miss(lower, cache, miss);
	emit_cold(lower->emit, false);
}

static void cache_place(struct lower *lower, enum cache_kind kind, PyObject *name,
	uint32_t owned, uint32_t slot, enum stencils miss)
{
	struct cache *cache = cache_begin(lower, kind, name, owned, slot);
	struct cache_seed seed;
	bool in_line =
		cache_seed(lower->ir->code, cache, lower_op(lower)->adaptive, &seed);

	cache_end(lower, cache, miss, in_line ? &seed : NULL);
}

/* The same for operands, with a stencil for those that are the most common. */
static void cache_operands(struct lower *lower, enum cache_kind kind, uint32_t owned,
	int stencil, struct emit_holes holes, enum stencils miss)
{
	struct cache *cache =
		cache_begin(lower, kind, NULL, owned, lower_slot_at(lower, lower->depth));
	struct cache_seed seed = {(enum stencils)stencil, holes};

	cache_end(lower, cache, miss, stencil < 0 ? NULL : &seed);
}

static void lower_load_global(struct lower *lower)
{
	uint32_t oparg = lower_op(lower)->oparg;

	lower_spill(lower);
	if (oparg & 1)
		lower_push(lower, LOWER_NULL, 0);
	cache_place(lower, CACHE_GLOBAL, name_of(lower, oparg >> 1), 0, 0,
		STENCIL_GLOBAL_MISS);
	lower_push_top(lower);
}

static void lower_load_attr(struct lower *lower)
{
	uint32_t owned = take_one(lower);

	cache_place(lower, CACHE_ATTRIBUTE, name_of(lower, lower_op(lower)->oparg), owned,
		0, STENCIL_ATTRIBUTE_MISS);
	lower_push_top(lower);
}

static void lower_store_attr(struct lower *lower)
{
	struct lower_value owner = lower_pop(lower);
	struct lower_value value = lower_pop(lower);
	uint32_t owned = (lower_owned(owner) ? RUNTIME_OWNS_A : 0) |
			 (lower_owned(value) ? RUNTIME_OWNS_B : 0);

	lower_spill(lower);
	lower_argument(lower, 0, owner);
	lower_argument(lower, 1, value);
	cache_place(lower, CACHE_STORE, name_of(lower, lower_op(lower)->oparg), owned, 0,
		STENCIL_STORE_MISS);
}

static void lower_load_method(struct lower *lower)
{
	uint32_t owned = take_one(lower);

	cache_place(lower, CACHE_METHOD, name_of(lower, lower_op(lower)->oparg), owned,
		lower_slot_at(lower, lower->depth), STENCIL_METHOD_MISS);
	lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
}

/* The free variable with the cell of the class that super() means, or -1. */
static int class_cell(PyCodeObject *code)
{
	for (int i = code->co_nlocals + code->co_nplaincellvars; i < code->co_nlocalsplus;
		i++) {
		PyObject *name = PyTuple_GET_ITEM(code->co_localsplusnames, i);

		if (PyUnicode_CompareWithASCIIString(name, "__class__") == 0)
			return i;
	}
	return -1;
}

/* super().NAME, where NAME is called at once and super is the name of a global: one step.
 * The call of super() and the load of NAME raise at their own instructions. */
static bool super_method(struct lower *lower, int base)
{
	const struct ir_op *op = lower_op(lower);
	PyCodeObject *code = lower->ir->code;
	int local = class_cell(code);
	struct emit_holes holes = {.a = lower_slot_at(lower, base), .b = (uint64_t)local};

	if (op->oparg || local < 0 || lower->number < 2 || !code->co_argcount ||
		op[-1].opcode != PRECALL || op[-2].opcode != LOAD_GLOBAL ||
		!(op[-2].oparg & 1) || op[1].opcode != LOAD_METHOD ||
		op->flags & IR_LEADER || op[-1].flags & IR_LEADER ||
		op[1].flags & IR_LEADER ||
		_PyLocals_GetKind(code->co_localspluskinds, 0) & CO_FAST_CELL ||
		PyUnicode_CompareWithASCIIString(
			name_of(lower, op[-2].oparg >> 1), "super"))
		return false;
	lower_flush(lower, base);
	lower_spill(lower);
	while (lower->depth > base)
		lower_pop(lower);
	holes.c = (uintptr_t)name_of(lower, op[1].oparg);
	holes.error = lower_error(lower);
	lower->number++;
	holes.target = lower_error(lower);
	lower->number--;
	lower_stencil(lower, STENCIL_SUPER_METHOD, holes);
	lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	lower->skip = 1;
	poll(lower, lower->number + 2);
	return true;
}

static void lower_call(struct lower *lower)
{
	uint32_t oparg = lower_op(lower)->oparg;
	int base = lower->depth - (int)oparg - 2;
	PyObject *names = NULL;

	if (lower->names_const)
		names = PyTuple_GET_ITEM(
			lower->ir->code->co_consts, lower->names_const - 1);
	lower->names_const = 0;
	if (super_method(lower, base))
		return;
	lower_flush(lower, base);
	lower_spill(lower);
	while (lower->depth > base)
		lower_pop(lower);
	cache_place(lower, CACHE_CALL, names, 0, lower_slot_at(lower, base),
		STENCIL_CALL_MISS);
	lower_push_top(lower);
	poll(lower, lower->number + 1);
}

/* Whether the interpreter has seen operands that are no strings. */
static bool saw_numbers(const struct ir_op *op)
{
	return op->adaptive == BINARY_OP_ADD_INT || op->adaptive == BINARY_OP_ADD_FLOAT;
}

/* `s += t` where s is a local that is stored to next (BINARY_OP_INPLACE_ADD_UNICODE in
 * ceval.c): a string is appended to in place, behind the code; the code goes on where
 * `over` is bound, after the store. False: it is not that. */
static bool append_string(struct lower *lower, int *over)
{
	const struct ir_op *op = lower_op(lower);
	const struct ir_op *next = op + 1;
	struct lower_value left = lower->stack[lower->depth - 2];
	struct lower_value right = lower->stack[lower->depth - 1];
	struct emit *emit = lower->emit;
	int append;
	int error;

	if ((op->oparg != NB_ADD && op->oparg != NB_INPLACE_ADD) || saw_numbers(op) ||
		next->opcode != STORE_FAST || next->flags & IR_LEADER ||
		left.where != LOWER_LOCAL || left.number != next->oparg)
		return false;
	lower->depth -= 2;
	lower_spill(lower);
	lower_save_local(lower, left.number);
	append = emit_label(emit);
	*over = emit_label(emit);
	error = lower_error(lower);
	lower_stencil(lower, STENCIL_CHECK_STRING,
		(struct emit_holes){.a = lower_local_at(left.number), .exit = append});
	emit_cold(emit, true);
	emit_bind(emit, append);
	lower_argument(lower, 0, right);
	lower_stencil(lower, STENCIL_APPEND_STRING,
		(struct emit_holes){
			.a = op->oparg << RUNTIME_OWNS_BITS |
			     (lower_owned(right) ? RUNTIME_OWNS_B : 0),
			.b = lower_local_at(left.number),
			.error = error,
			.cont = *over,
		});
	emit_cold(emit, false);
	lower->depth += 2;
	return true;
}

_Static_assert(
	STENCIL_ADD_OO == STENCIL_ADD_BB + 3 &&
		STENCIL_SUBTRACT_OO == STENCIL_SUBTRACT_BB + 3 &&
		STENCIL_MULTIPLY_OO == STENCIL_MULTIPLY_BB + 3 &&
		STENCIL_DIVIDE_OO == STENCIL_DIVIDE_BB + 3 &&
		STENCIL_AND_OO == STENCIL_AND_BB + 3 &&
		STENCIL_OR_OO == STENCIL_OR_BB + 3 &&
		STENCIL_XOR_OO == STENCIL_XOR_BB + 3 &&
		STENCIL_SHIFT_LEFT_OO == STENCIL_SHIFT_LEFT_BB + 3 &&
		STENCIL_SHIFT_RIGHT_OO == STENCIL_SHIFT_RIGHT_BB + 3 &&
		STENCIL_FLOOR_DIVIDE_OO == STENCIL_FLOOR_DIVIDE_BB + 3 &&
		STENCIL_REMAINDER_OO == STENCIL_REMAINDER_BB + 3 &&
		STENCIL_COMPARE_GREATER_EQUAL_OO == STENCIL_COMPARE_LESS_BB + 23 &&
		STENCIL_JUMP_IF_GREATER_EQUAL_OO == STENCIL_JUMP_IF_LESS_BB + 23 &&
		STENCIL_JUMP_UNLESS_GREATER_EQUAL_OO == STENCIL_JUMP_UNLESS_LESS_BB + 23,
	"variants by ownership follow each other");

/* The stencil for an operation on numbers by who owns the operands, or -1. */
static int number_stencil(uint32_t operation, uint32_t owned)
{
	static const int first[] = {
		[NB_ADD] = STENCIL_ADD_BB,
		[NB_SUBTRACT] = STENCIL_SUBTRACT_BB,
		[NB_MULTIPLY] = STENCIL_MULTIPLY_BB,
		[NB_TRUE_DIVIDE] = STENCIL_DIVIDE_BB,
		[NB_AND] = STENCIL_AND_BB,
		[NB_OR] = STENCIL_OR_BB,
		[NB_XOR] = STENCIL_XOR_BB,
		[NB_LSHIFT] = STENCIL_SHIFT_LEFT_BB,
		[NB_RSHIFT] = STENCIL_SHIFT_RIGHT_BB,
		[NB_FLOOR_DIVIDE] = STENCIL_FLOOR_DIVIDE_BB,
		[NB_REMAINDER] = STENCIL_REMAINDER_BB,
		[NB_POWER] = -1,
		[NB_MATRIX_MULTIPLY] = -1,
	};
	int stencil;

	/* Exact ints and floats have no operations in place of their own. */
	if (operation >= NB_INPLACE_ADD)
		operation -= NB_INPLACE_ADD;
	stencil = first[operation];
	return stencil < 0 ? -1 : stencil + (int)owned;
}

static void lower_binary_op(struct lower *lower)
{
	uint32_t oparg = lower_op(lower)->oparg;
	int over;
	bool appends = append_string(lower, &over);
	uint32_t owned = take_two(lower);

	cache_operands(lower, CACHE_BINARY, owned, number_stencil(oparg, owned),
		(struct emit_holes){0}, STENCIL_BINARY_MISS);
	lower_push_top(lower);
	if (!appends)
		return;
	lower->number++;
	lower_store_fast(lower);
	lower->number--;
	lower->skip = 1;
	emit_bind(lower->emit, over);
}

/* What the interpreter has seen, or a list. */
static int subscript_stencil(const struct ir_op *op)
{
	switch (op->adaptive) {
	case BINARY_SUBSCR_TUPLE_INT: return STENCIL_SUBSCRIPT_TUPLE;
	case BINARY_SUBSCR_DICT: return STENCIL_SUBSCRIPT_DICT;
	default: return STENCIL_SUBSCRIPT_LIST;
	}
}

static void lower_binary_subscr(struct lower *lower)
{
	uint32_t owned = take_two(lower);

	cache_operands(lower, CACHE_SUBSCRIPT, owned, subscript_stencil(lower_op(lower)),
		(struct emit_holes){.a = owned}, STENCIL_SUBSCRIPT_MISS);
	lower_push_top(lower);
}

static void lower_store_subscr(struct lower *lower)
{
	struct lower_value key = lower_pop(lower);
	struct lower_value container = lower_pop(lower);
	struct lower_value value = lower_pop(lower);
	uint32_t owned = (lower_owned(container) ? RUNTIME_OWNS_A : 0) |
			 (lower_owned(key) ? RUNTIME_OWNS_B : 0) |
			 (lower_owned(value) ? RUNTIME_OWNS_C : 0);

	lower_spill(lower);
	lower_argument(lower, 0, container);
	lower_argument(lower, 1, key);
	lower_argument(lower, 2, value);
	cache_operands(lower, CACHE_STORE_SUBSCRIPT, owned, STENCIL_STORE_SUBSCRIPT_LIST,
		(struct emit_holes){.a = owned}, STENCIL_STORE_SUBSCRIPT_MISS);
}

static void lower_unpack_sequence(struct lower *lower)
{
	uint32_t count = lower_op(lower)->oparg;
	uint32_t owned = take_one(lower);

	lower_stencil(lower, STENCIL_UNPACK,
		(struct emit_holes){.a = lower_slot_at(lower, lower->depth),
			.b = owned,
			.c = count,
			.error = lower_error(lower)});
	for (uint32_t i = 0; i < count; i++)
		lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
}

/* A jump that follows and takes the truth of what an operation makes, or NULL. */
static const struct ir_op *fused_jump(const struct lower *lower)
{
	const struct ir_op *next = lower_op(lower) + 1;

	if (lower->number + 1 >= lower->ir->op_count || next->flags & IR_LEADER)
		return NULL;
	switch (next->opcode) {
	case POP_JUMP_FORWARD_IF_FALSE:
	case POP_JUMP_FORWARD_IF_TRUE:
	case POP_JUMP_BACKWARD_IF_FALSE:
	case POP_JUMP_BACKWARD_IF_TRUE: return next;
	default: return NULL;
	}
}

/* Where a jump back goes first: a poll stands between. The jump must become the one on
 * the opposite outcome, over the poll. */
static void jump_back(struct lower *lower, int number)
{
	const struct ir_op *op = &lower->ir->ops[number];
	uint32_t target = lower->ir->ops[op->target].index;
	int current = lower->number;
	int deopt = lower_deopt(lower, op->target);

	lower->number = number;
	lower_stencil(lower, STENCIL_POLL,
		(struct emit_holes){
			.error = lower_error_at(lower, target ? target - 1 : 0),
			.deopt = deopt});
	emit_jump(lower->emit, lower_label(lower, op->target));
	lower->number = current;
}

/* Emits a conditional jump with stencils for the two outcomes; `number` is the jump's op.
 * The stack is the one after it, and in its slots. */
static void conditional(struct lower *lower, int number, bool when, enum stencils if_true,
	enum stencils if_false, struct emit_holes holes)
{
	const struct ir_op *op = &lower->ir->ops[number];
	int over;

	if (!(op->flags & IR_BACKWARD)) {
		holes.target = lower_label(lower, op->target);
		lower_stencil(lower, when ? if_true : if_false, holes);
		return;
	}
	over = emit_label(lower->emit);
	holes.target = over;
	lower_stencil(lower, when ? if_false : if_true, holes);
	jump_back(lower, number);
	emit_bind(lower->emit, over);
}

static bool jumps_when_true(const struct ir_op *op)
{
	return op->opcode == POP_JUMP_FORWARD_IF_TRUE ||
	       op->opcode == POP_JUMP_BACKWARD_IF_TRUE;
}

/* Takes two operands with everything below them in its slots, for a jump. */
static uint32_t take_two_to_jump(struct lower *lower)
{
	struct lower_value b = lower_pop(lower);
	struct lower_value a = lower_pop(lower);

	lower_flush(lower, 0);
	lower_argument(lower, 0, a);
	lower_argument(lower, 1, b);
	return (lower_owned(a) ? RUNTIME_OWNS_A : 0) |
	       (lower_owned(b) ? RUNTIME_OWNS_B : 0);
}

/* The stencil for a comparison of numbers, of those that follow `first`. */
static enum stencils compare_stencil(
	enum stencils first, uint32_t operation, uint32_t owned)
{
	return (enum stencils)((uint32_t)first + operation * 4 + owned);
}

/* Compares and jumps where the outcome is `when`. */
static void compare_jump(struct lower *lower, int number, bool when, uint32_t owned)
{
	const struct ir_op *jump = &lower->ir->ops[number];
	uint32_t oparg = lower_op(lower)->oparg;
	bool back = jump->flags & IR_BACKWARD;
	int over = back ? emit_label(lower->emit) : lower_label(lower, jump->target);
	struct cache *cache;
	struct cache_seed seed;

	when ^= back;
	cache = cache_begin(lower, CACHE_COMPARE, NULL, owned, 0);
	cache->oparg |= when ? RUNTIME_WHEN : 0;
	cache->target_label = over;
	seed = (struct cache_seed){compare_stencil(when ? STENCIL_JUMP_IF_LESS_BB
							: STENCIL_JUMP_UNLESS_LESS_BB,
					   oparg, owned),
		{0}};
	cache_end(lower, cache, STENCIL_COMPARE_MISS_JUMP, &seed);
	if (back) {
		jump_back(lower, number);
		emit_bind(lower->emit, over);
	}
}

static void lower_compare_op(struct lower *lower)
{
	uint32_t oparg = lower_op(lower)->oparg;
	const struct ir_op *jump = fused_jump(lower);
	uint32_t owned = jump ? take_two_to_jump(lower) : take_two(lower);

	if (jump) {
		compare_jump(lower, lower->number + 1, jumps_when_true(jump), owned);
		lower->skip = 1;
		return;
	}
	cache_operands(lower, CACHE_COMPARE, owned,
		(int)compare_stencil(STENCIL_COMPARE_LESS_BB, oparg, owned),
		(struct emit_holes){0}, STENCIL_COMPARE_MISS);
	lower_push_top(lower);
}

static void lower_contains_op(struct lower *lower)
{
	uint32_t negate = lower_op(lower)->oparg;
	const struct ir_op *jump = fused_jump(lower);
	uint32_t owned = jump ? take_two_to_jump(lower) : take_two(lower);
	struct emit_holes holes = {.a = owned, .b = negate, .error = lower_error(lower)};

	if (jump) {
		conditional(lower, lower->number + 1, jumps_when_true(jump) != negate,
			STENCIL_CONTAINS_JUMP_TRUE, STENCIL_CONTAINS_JUMP_FALSE, holes);
		lower->skip = 1;
		return;
	}
	lower_stencil(lower, STENCIL_CONTAINS, holes);
	lower_push_top(lower);
}

static void take_owned(struct lower *lower)
{
	struct lower_value value = lower_pop(lower);

	lower_flush(lower, 0);
	lower_argument(lower, 0, value);
	if (!lower_owned(value))
		lower_stencil(lower, STENCIL_OWN0, (struct emit_holes){0});
}

static void lower_is_op(struct lower *lower)
{
	uint32_t negate = lower_op(lower)->oparg;
	const struct ir_op *jump = fused_jump(lower);
	struct emit_holes holes = {.a = negate};

	if (!jump) {
		holes.c = take_two(lower);
		lower_stencil(lower, STENCIL_IS, holes);
		lower_push_top(lower);
		return;
	}
	holes.c = take_two_to_jump(lower);
	conditional(lower, lower->number + 1, jumps_when_true(jump) != negate,
		STENCIL_IS_JUMP_TRUE, STENCIL_IS_JUMP_FALSE, holes);
	lower->skip = 1;
}

static void lower_list_append(struct lower *lower)
{
	int list = lower->depth - (int)lower_op(lower)->oparg - 1;

	take_owned(lower);
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

static void lower_unary_not(struct lower *lower)
{
	uint32_t owned = take_one(lower);

	lower_stencil(lower, STENCIL_NOT,
		(struct emit_holes){.a = owned, .error = lower_error(lower)});
	lower_push_top(lower);
}

static void lower_pop_jump(struct lower *lower)
{
	struct lower_value a = lower_pop(lower);
	bool owned = lower_owned(a);

	lower_flush(lower, 0);
	lower_argument(lower, 0, a);
	conditional(lower, lower->number, jumps_when_true(lower_op(lower)),
		owned ? STENCIL_JUMP_TRUE_OWNED : STENCIL_JUMP_TRUE,
		owned ? STENCIL_JUMP_FALSE_OWNED : STENCIL_JUMP_FALSE,
		(struct emit_holes){.error = lower_error(lower)});
}

static void lower_pop_jump_none(struct lower *lower)
{
	uint8_t opcode = lower_op(lower)->opcode;
	struct lower_value a = lower_pop(lower);
	bool owned = lower_owned(a);

	lower_flush(lower, 0);
	lower_argument(lower, 0, a);
	conditional(lower, lower->number,
		opcode == POP_JUMP_FORWARD_IF_NONE || opcode == POP_JUMP_BACKWARD_IF_NONE,
		owned ? STENCIL_JUMP_NONE_OWNED : STENCIL_JUMP_NONE,
		owned ? STENCIL_JUMP_NOT_NONE_OWNED : STENCIL_JUMP_NOT_NONE,
		(struct emit_holes){0});
}

static void lower_jump_or_pop(struct lower *lower)
{
	const struct ir_op *op = lower_op(lower);
	struct lower_value a;

	lower_flush(lower, 0);
	a = lower->stack[lower->depth - 1];
	lower_argument(lower, 0, a);
	lower_stencil(lower,
		op->opcode == JUMP_IF_TRUE_OR_POP ? STENCIL_JUMP_TRUE
						  : STENCIL_JUMP_FALSE,
		(struct emit_holes){.error = lower_error(lower),
			.target = lower_label(lower, op->target)});
	lower_pop_top(lower);
}

static void lower_jump(struct lower *lower)
{
	const struct ir_op *op = lower_op(lower);

	lower_flush(lower, 0);
	if (op->opcode == JUMP_BACKWARD)
		jump_back(lower, lower->number);
	else
		emit_jump(lower->emit, lower_label(lower, op->target));
	lower->dead = true;
}

static void lower_for_iter(struct lower *lower)
{
	const struct ir_op *op = lower_op(lower);
	uint32_t slot;
	int end = emit_label(lower->emit);
	struct cache *cache;

	lower_flush(lower, 0);
	slot = lower_slot_at(lower, lower->depth - 1);
	cache = cache_begin(lower, CACHE_ITERATE, NULL, 0, slot);
	cache->target_label = end;
	cache_end(lower, cache, STENCIL_ITERATE_MISS, NULL);
	emit_cold(lower->emit, true);
	emit_bind(lower->emit, end);
	lower_stencil(lower, STENCIL_ITERATE_END,
		(struct emit_holes){.a = slot,
			.error = cache->error_label,
			.target = lower_label(lower, op->target)});
	emit_cold(lower->emit, false);
	lower_push_top(lower);
}

static void lower_send(struct lower *lower)
{
	struct cache *cache;

	lower_flush(lower, 0);
	cache = cache_begin(
		lower, CACHE_SEND, NULL, 0, lower_slot_at(lower, lower->depth - 2));
	cache->oparg = lower_slot_at(lower, lower->depth - 1);
	cache->target_label = lower_label(lower, lower_op(lower)->target);
	cache_end(lower, cache, STENCIL_SEND_MISS, NULL);
}

/* `mov %rdi, %rax; leave; ret` */
static void leave(struct lower *lower)
{
	static const uint8_t bytes[] = {0x48, 0x89, 0xf8, 0xc9, 0xc3};

	emit_bytes(lower->emit, bytes, sizeof(bytes));
	lower->dead = true;
}

enum { DROP_ONE_BY_ONE = 10 }; /* locals; more are dropped by a C function */

static void lower_return_value(struct lower *lower)
{
	uint32_t locals = (uint32_t)lower->ir->code->co_nlocalsplus;
	int over = emit_label(lower->emit);
	int other = emit_label(lower->emit);

	take_owned(lower);
	lower_stencil(lower, STENCIL_RETURN, (struct emit_holes){.target = other});
	if (locals > DROP_ONE_BY_ONE) {
		lower_stencil(
			lower, STENCIL_RETURN_DROP_ALL, (struct emit_holes){.a = locals});
	} else {
		for (uint32_t i = 0; i < locals; i++)
			lower_stencil(lower, STENCIL_RETURN_DROP,
				(struct emit_holes){.a = lower_local_at(i)});
	}
	lower_stencil(lower, STENCIL_RETURN_END, (struct emit_holes){0});
	emit_bind(lower->emit, over);
	leave(lower);
	emit_cold(lower->emit, true);
	emit_bind(lower->emit, other);
	lower_stencil(lower, STENCIL_RETURN_OTHER,
		(struct emit_holes){.a = locals, .cont = over});
	emit_cold(lower->emit, false);
}

static void lower_yield_value(struct lower *lower)
{
	take_owned(lower);
	lower_stencil(lower, STENCIL_YIELD,
		(struct emit_holes){
			.a = (uint64_t)(lower->ir->code->co_nlocalsplus + lower->depth)});
	leave(lower);
}

static void lower_return_generator(struct lower *lower)
{
	lower_flush(lower, 0);
	lower_stencil(lower, STENCIL_GENERIC_LEAVE,
		(struct emit_holes){
			.a = lower_slot_at(lower, lower->depth),
			.callee = at_function(
				lower, (const void *)(uintptr_t)runtime_return_generator),
			.error = lower_error(lower),
		});
	leave(lower);
}

/* Instructions that raise: 1 means that the exception has its traceback already. */
static void lower_raise(struct lower *lower, bool ends)
{
	lower_flush(lower, 0);
	generic(lower, STENCIL_GENERIC_JUMP, runtime_find(lower_op(lower)->opcode),
		lower_reraise(lower));
	if (ends)
		lower->dead = true;
	else
		set_depth(lower, lower->depth - 2);
}

/* Code with a loop is compiled before it is quickened; other code that is compiled after
 * CPython's QUICKENING_WARMUP_DELAY was quickened by the interpreter. */
static void count_calls(struct lower *lower)
{
	if (lower->ir->has_loop || jit.threshold <= EXCEPT_WARM)
		lower_stencil(lower, STENCIL_COUNT_BLOCK,
			(struct emit_holes){
				.a = 1, .b = (uintptr_t)&lower->compiled->calls});
}

static void lower_resume(struct lower *lower)
{
	count_calls(lower);
	if (lower_op(lower)->oparg < 2)
		poll(lower, lower->number + 1);
	else
		lower_stencil(lower, STENCIL_POLL_TRACING,
			(struct emit_holes){
				.deopt = lower_deopt(lower, lower->number + 1)});
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

static void lower_reraise_op(struct lower *lower)
{
	lower_raise(lower, true);
}

static void lower_end_async_for(struct lower *lower)
{
	lower_raise(lower, false);
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
