/* Inline caches: their life, and the stubs they grow. */
#include "jit/cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "jit/cache_builtin.h"
#include "jit/cache_call.h"
#include "jit/cache_iterate.h"
#include "jit/cache_operand.h"
#include "jit/cache_shape.h"
#include "jit/codemem.h"
#include "jit/compile.h"
#include "jit/compiled.h"
#include "jit/jit.h"
#include "jit/symbols.h"

static struct emit stub_emit;

void cache_commit(struct cache *cache, const struct emit *emit)
{
	cache->next = emit_address(emit, cache->next_label);
	cache->miss = emit_address(emit, cache->miss_label);
	cache->error = emit_address(emit, cache->error_label);
	if (cache->target_label)
		cache->target = emit_address(emit, cache->target_label);
}

static const char *kind_name(const struct cache *cache)
{
	static const char *const names[] = {
		[CACHE_GLOBAL] = "global",
		[CACHE_ATTRIBUTE] = "attribute",
		[CACHE_METHOD] = "method",
		[CACHE_STORE] = "store",
		[CACHE_SUBSCRIPT] = "subscript",
		[CACHE_STORE_SUBSCRIPT] = "subscript store",
		[CACHE_BINARY] = "operation",
		[CACHE_COMPARE] = "comparison",
		[CACHE_CALL] = "call",
		[CACHE_ITERATE] = "iteration",
		[CACHE_SEND] = "send",
	};

	return names[cache->kind];
}

static const char *cache_name(const struct cache *cache)
{
	const char *name = NULL;

	if (cache->name && PyUnicode_Check(cache->name))
		name = PyUnicode_AsUTF8(cache->name);
	return name ? name : "";
}

static void tell_symbols(const struct cache *cache, const struct cache_stub *stub)
{
	char name[256];
	PyCodeObject *code = cache->owner->code;
	const char *qualified = PyUnicode_AsUTF8(code->co_qualname);
	const char *file = PyUnicode_AsUTF8(code->co_filename);
	struct symbols_line line = {
		/* Finding the line takes long in long code: only for who wants to read it. */
		.line = jit.perf ? PyCode_Addr2Line(code, (int)cache->index * 2)
				 : code->co_firstlineno,
		.bytecode = cache->index,
		.opcode = _PyOpcode_Deopt[_Py_OPCODE(_PyCode_CODE(code)[cache->index])],
	};

	snprintf(name, sizeof(name), "%s.<%s %s>", qualified ? qualified : "?",
		kind_name(cache), cache_name(cache));
	symbols_load(jit.symbols, &(struct symbols_code){
					  .address = stub->address,
					  .size = stub_emit.size,
					  .name = name,
					  .file = file ? file : "?",
					  .first_line = code->co_firstlineno,
					  .lines = &line,
					  .line_count = 1,
					  .kind = "stub",
				  });
}

/* How many caches have ever come to a state. */
static uint64_t *state_counter(enum cache_state state)
{
	switch (state) {
	case CACHE_MONOMORPHIC: return &jit.timers.caches_monomorphic;
	case CACHE_POLYMORPHIC: return &jit.timers.caches_polymorphic;
	default: return &jit.timers.caches_megamorphic;
	}
}

static void set_state(struct cache *cache, enum cache_state state)
{
	if (cache->state == state)
		return;
	cache->state = (uint8_t)state;
	if (state != CACHE_EMPTY)
		++*state_counter(state);
}

static int point_jump(struct cache *cache, const void *target, const char *what)
{
	char why[160];

	snprintf(
		why, sizeof(why), "%s %s: %s", kind_name(cache), cache_name(cache), what);
	jit.timers.patches++;
	return patchpoint_set(
		&cache->jump, (uintptr_t)target, jit.memory, jit.symbols, why);
}

/* A full chain is dropped as a whole, or is the last one. */
static bool make_room(struct cache *cache)
{
	if (cache->count < CACHE_STUBS)
		return true;
	if (cache->retries++ < CACHE_RETRIES &&
		!point_jump(cache, cache->miss, "start anew")) {
		cache->count = 0;
		cache->misses = 0;
		set_state(cache, CACHE_EMPTY);
		return true;
	}
	set_state(cache, CACHE_MEGAMORPHIC);
	return false;
}

/* Whether the place has had stubs for the same class again and again: its version does not
 * last, and the chain is only in the way. */
static bool keeps_changing(struct cache *cache, const void *type)
{
	const struct cache_stub *stub = cache->stubs;

	for (int i = 0; i < cache->count && stub; i++, stub = stub->next) {
		if (stub->type != type)
			continue;
		if (timers_now() - stub->made > CACHE_LASTS ||
			++cache->changes < CACHE_CHANGES)
			return false;
		set_state(cache, CACHE_MEGAMORPHIC);
		point_jump(cache, cache->miss, "the class keeps changing");
		return true;
	}
	return false;
}

/* Emits a stub's code; `ends` has its continuations and the instruction. */
typedef void emitter(struct emit *emit, const void *what, const struct emit_holes *ends);

static void emit_seed(struct emit *emit, const void *what, const struct emit_holes *ends)
{
	const struct cache_seed *seed = what;
	struct emit_holes holes = seed->holes;

	holes.f = ends->f;
	holes.exit = ends->exit;
	holes.cont = ends->cont;
	holes.error = ends->error;
	holes.target = ends->target;
	emit_stencil(emit, seed->stencil, &holes);
}

static void emit_call(struct emit *emit, const void *what, const struct emit_holes *ends)
{
	call_emit(emit, what, ends);
}

/* The code of a stub. NULL: no memory. */
static void *emit_stub(struct cache *cache, emitter *emit, const void *what)
{
	struct emit_holes ends = {0};
	const void *behind =
		cache->count ? (const void *)patchpoint_get(&cache->jump) : cache->miss;

	emit_begin(&stub_emit, jit.memory);
	ends.f = (uintptr_t)(_PyCode_CODE(cache->owner->code) + cache->index);
	ends.exit = emit_label_at(&stub_emit, behind);
	ends.cont = emit_label_at(&stub_emit, cache->next);
	ends.error = emit_label_at(&stub_emit, cache->error);
	if (cache->target)
		ends.target = emit_label_at(&stub_emit, cache->target);
	if (jit.stress_deopt)
		emit_stencil(&stub_emit, STENCIL_STRESS_GUARD,
			&(struct emit_holes){.exit = ends.exit});
	emit(&stub_emit, what, &ends);
	return emit_commit(&stub_emit);
}

/* Makes a stub and puts it first. */
static struct cache_stub *add_stub(struct cache *cache, emitter *emit, const void *what)
{
	struct cache_stub *stub;
	uint64_t start = timers_now();

	if (!make_room(cache))
		return NULL;
	stub = calloc(1, sizeof(*stub));
	if (!stub)
		return NULL;
	stub->address = emit_stub(cache, emit, what);
	if (stub->address && stub_emit.patch_count)
		stub->guard = stub_emit.patchpoints[0].point;
	if (!stub->address ||
		point_jump(cache, stub->address, cache->count ? "another" : "first")) {
		if (stub->address)
			codemem_release(jit.memory, stub->address);
		free(stub);
		emit_end(&stub_emit);
		return NULL;
	}
	if (jit.symbols)
		tell_symbols(cache, stub);
	jit.timers.code_bytes += stub_emit.size;
	emit_end(&stub_emit);
	cache->patience = 2;
	stub->made = start;
	stub->next = cache->stubs;
	cache->stubs = stub;
	set_state(cache, cache->count++ ? CACHE_POLYMORPHIC : CACHE_MONOMORPHIC);
	jit.timers.us_compiling += timers_now() - start;
	return stub;
}

void cache_learn_global(struct cache *cache, _PyInterpreterFrame *frame)
{
	struct cache_seed seed;

	if (shape_global(frame->f_globals, frame->f_builtins, cache, &seed))
		add_stub(cache, emit_seed, &seed);
}

/* For one class or, of an attribute of a class, for that class. */
static void add_shape(
	struct cache *cache, PyObject *object, const struct cache_seed *seed)
{
	const void *type = PyType_Check(object) ? (const void *)object : Py_TYPE(object);
	struct cache_stub *stub;

	if (keeps_changing(cache, type))
		return;
	stub = add_stub(cache, emit_seed, seed);
	if (stub)
		stub->type = type;
}

void cache_learn_attribute(struct cache *cache, PyObject *object)
{
	struct cache_seed seed;

	if (shape_attribute(object, cache, &seed))
		add_shape(cache, object, &seed);
}

void cache_learn_method(struct cache *cache, PyObject *object)
{
	struct cache_seed seed;

	if (shape_method(object, cache, &seed))
		add_shape(cache, object, &seed);
}

void cache_learn_store(struct cache *cache, PyObject *object)
{
	struct cache_seed seed;

	if (shape_store(object, cache, &seed))
		add_shape(cache, object, &seed);
}

static void link_caller(struct cache_stub *stub, struct compiled *callee)
{
	stub->callee = callee;
	stub->next_caller = callee->callers;
	if (stub->next_caller)
		stub->next_caller->previous_caller = stub;
	callee->callers = stub;
}

static void emit_builtin(
	struct emit *emit, const void *what, const struct emit_holes *ends)
{
	builtin_emit(emit, what, ends);
}

void cache_learn_call(struct cache *cache, PyObject **base)
{
	struct call_plan plan;
	struct builtin_plan builtin;
	struct cache_stub *stub;

	if (builtin_plan(&builtin, cache, base)) {
		add_stub(cache, emit_builtin, &builtin);
		return;
	}
	if (!call_plan(&plan, cache, base))
		return;
	stub = add_stub(cache, emit_call, &plan);
	if (stub)
		link_caller(stub, plan.callee);
}

static void emit_operator(
	struct emit *emit, const void *what, const struct emit_holes *ends)
{
	operator_emit(emit, what, ends);
}

void cache_learn_operands(struct cache *cache, PyObject *a, PyObject *b)
{
	struct cache_seed seed;
	struct operator_plan plan;
	struct cache_stub *stub;

	if (operand_plan(cache, a, b, &seed)) {
		add_stub(cache, emit_seed, &seed);
		return;
	}
	if (cache->kind != CACHE_BINARY || !operator_plan(&plan, cache, a, b))
		return;
	stub = add_stub(cache, emit_operator, &plan);
	if (stub)
		link_caller(stub, plan.call.callee);
}

static void emit_iterate(
	struct emit *emit, const void *what, const struct emit_holes *ends)
{
	iterate_emit(emit, what, ends);
}

void cache_learn_iterate(struct cache *cache, PyObject *iterator)
{
	struct iterate_plan plan;
	struct cache_stub *stub;

	if (!iterate_plan(&plan, cache, iterator))
		return;
	stub = add_stub(cache, emit_iterate, &plan);
	if (stub && plan.callee)
		link_caller(stub, plan.callee);
}

static void unlink_caller(struct cache_stub *stub)
{
	if (!stub->callee)
		return;
	if (stub->previous_caller)
		stub->previous_caller->next_caller = stub->next_caller;
	else
		stub->callee->callers = stub->next_caller;
	if (stub->next_caller)
		stub->next_caller->previous_caller = stub->previous_caller;
	stub->callee = NULL;
}

void cache_release(struct cache *cache)
{
	while (cache->stubs) {
		struct cache_stub *stub = cache->stubs;

		cache->stubs = stub->next;
		unlink_caller(stub);
		compile_release(stub->address);
		free(stub);
	}
	cache->state = CACHE_EMPTY;
}

void cache_forget_callee(struct compiled *callee)
{
	while (callee->callers) {
		struct cache_stub *stub = callee->callers;

		jit.timers.patches++;
		patchpoint_set(&stub->guard, 0, jit.memory, jit.symbols,
			"call: the callee's code is gone");
		unlink_caller(stub);
	}
}
