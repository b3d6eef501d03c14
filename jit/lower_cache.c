/* Lowering by the baseline: the places of inline caches; names, attributes, calls. */
#include "jit/lower_ops.h"

#include "jit/jit.h"

/* A cache's place: what is compiled in line from the interpreter's cache, or a jump to the
 * newest stub. */
struct cache *lower_cache_begin(struct lower *lower, enum cache_kind kind, PyObject *name,
	uint32_t owned, uint32_t slot)
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
void lower_cache_end(struct lower *lower, struct cache *cache, enum stencils miss,
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

static void lower_cache(struct lower *lower, enum cache_kind kind, PyObject *name,
	uint32_t owned, uint32_t slot, enum stencils miss)
{
	struct cache *cache = lower_cache_begin(lower, kind, name, owned, slot);
	struct cache_seed seed;
	bool in_line =
		cache_seed(lower->ir->code, cache, lower_op(lower)->adaptive, &seed);

	lower_cache_end(lower, cache, miss, in_line ? &seed : NULL);
}

/* The same for operands, with a stencil for those that are the most common. */
void lower_operands(struct lower *lower, enum cache_kind kind, uint32_t owned,
	int stencil, struct emit_holes holes, enum stencils miss)
{
	struct cache *cache = lower_cache_begin(
		lower, kind, NULL, owned, lower_slot_at(lower, lower->depth));
	struct cache_seed seed = {(enum stencils)stencil, holes};

	lower_cache_end(lower, cache, miss, stencil < 0 ? NULL : &seed);
}

void lower_load_global(struct lower *lower)
{
	uint32_t oparg = lower_op(lower)->oparg;

	lower_spill(lower);
	if (oparg & 1)
		lower_push(lower, LOWER_NULL, 0);
	lower_cache(lower, CACHE_GLOBAL, lower_name(lower, oparg >> 1), 0, 0,
		STENCIL_GLOBAL_MISS);
	lower_push_top(lower);
}

void lower_load_attr(struct lower *lower)
{
	uint32_t owned = lower_take_one(lower);

	lower_cache(lower, CACHE_ATTRIBUTE, lower_name(lower, lower_op(lower)->oparg),
		owned, 0, STENCIL_ATTRIBUTE_MISS);
	lower_push_top(lower);
}

void lower_store_attr(struct lower *lower)
{
	struct lower_value owner = lower_pop(lower);
	struct lower_value value = lower_pop(lower);
	uint32_t owned = (lower_owned(owner) ? RUNTIME_OWNS_A : 0) |
			 (lower_owned(value) ? RUNTIME_OWNS_B : 0);

	lower_spill(lower);
	lower_argument(lower, 0, owner);
	lower_argument(lower, 1, value);
	lower_cache(lower, CACHE_STORE, lower_name(lower, lower_op(lower)->oparg), owned,
		0, STENCIL_STORE_MISS);
}

void lower_load_method(struct lower *lower)
{
	uint32_t owned = lower_take_one(lower);

	lower_cache(lower, CACHE_METHOD, lower_name(lower, lower_op(lower)->oparg), owned,
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
			lower_name(lower, op[-2].oparg >> 1), "super"))
		return false;
	lower_flush(lower, base);
	lower_spill(lower);
	while (lower->depth > base)
		lower_pop(lower);
	holes.c = (uintptr_t)lower_name(lower, op[1].oparg);
	holes.error = lower_error(lower);
	lower->number++;
	holes.target = lower_error(lower);
	lower->number--;
	lower_stencil(lower, STENCIL_SUPER_METHOD, holes);
	lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	lower_push(lower, LOWER_SLOT, (uint32_t)lower->depth);
	lower->skip = 1;
	lower_poll(lower, lower->number + 2);
	return true;
}

void lower_call(struct lower *lower)
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
	lower_cache(lower, CACHE_CALL, names, 0, lower_slot_at(lower, base),
		STENCIL_CALL_MISS);
	lower_push_top(lower);
	lower_poll(lower, lower->number + 1);
}
