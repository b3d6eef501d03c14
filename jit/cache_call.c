/* Calls that an inline cache makes straight into compiled code. */
#include "jit/cache_call.h"

#include <stddef.h>

#include "jit/compiled.h"
#include "jit/table.h"

enum {
	FRAME_MAX = 1 << 20,
	CLEAR_ONE_BY_ONE = 8, /* locals; more are cleared in a loop */
};

/* What type_call() does comes down to tp_alloc() and a Python __init__(). */
static bool plan_class(struct call_plan *plan, PyTypeObject *type)
{
	PyObject *init;

	if (Py_TYPE(type) != &PyType_Type || type->tp_new != PyBaseObject_Type.tp_new ||
		!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) ||
		type->tp_flags & Py_TPFLAGS_IS_ABSTRACT)
		return false;
	init = _PyType_Lookup(type, &_Py_ID(__init__));
	if (!init || !Py_IS_TYPE(init, &PyFunction_Type) ||
		!_PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG))
		return false;
	plan->how = CALL_CLASS;
	plan->type = type;
	plan->function = (PyFunctionObject *)init;
	return true;
}

static bool plan_callable(struct call_plan *plan, PyObject **base)
{
	PyObject *callable = base[0] ? base[0] : base[1];

	plan->how = base[0] ? CALL_METHOD : CALL_FUNCTION;
	if (!base[0] && Py_IS_TYPE(callable, &PyMethod_Type)) {
		callable = ((PyMethodObject *)callable)->im_func;
		plan->how = CALL_BOUND;
	}
	if (!base[0] && PyType_Check(callable))
		return plan_class(plan, (PyTypeObject *)callable);
	plan->function = (PyFunctionObject *)callable;
	return Py_IS_TYPE(callable, &PyFunction_Type);
}

/* Place of a parameter by its name, which is interned as a rule; -1: not found so. */
static int find_parameter(const PyCodeObject *code, PyObject *name)
{
	int count = code->co_argcount + code->co_kwonlyargcount;

	for (int i = code->co_posonlyargcount; i < count; i++)
		if (PyTuple_GET_ITEM(code->co_localsplusnames, i) == name)
			return i;
	return -1;
}

/* What was not given is a default. */
static bool plan_defaults(
	struct call_plan *plan, const PyCodeObject *code, const bool *filled)
{
	PyObject *defaults = plan->function->func_defaults;
	int count = defaults ? (int)PyTuple_GET_SIZE(defaults) : 0;

	for (int i = 0; i < plan->parameters; i++) {
		int number = i - (code->co_argcount - count);

		if (filled[i])
			continue;
		if (i >= code->co_argcount || number < 0)
			return false;
		plan->source[i] = ~number;
		plan->has_defaults = true;
	}
	return true;
}

/* Every parameter is given once, by place or by name, or has a default. */
static bool plan_parameters(
	struct call_plan *plan, const PyCodeObject *code, const struct cache *cache)
{
	bool filled[CALL_PARAMETERS] = {false};
	int named = cache->name ? (int)PyTuple_GET_SIZE(cache->name) : 0;
	int first = plan->how == CALL_FUNCTION ? 2 : 1;
	int places = (int)cache->oparg - named + (first == 1);

	if (code->co_flags & (CO_VARARGS | CO_VARKEYWORDS) ||
		!(code->co_flags & CO_OPTIMIZED) || plan->parameters > CALL_PARAMETERS ||
		places > code->co_argcount)
		return false;
	for (int i = 0; i < places; i++) {
		plan->source[i] = first + i;
		filled[i] = true;
	}
	for (int i = 0; i < named; i++) {
		int place = find_parameter(code, PyTuple_GET_ITEM(cache->name, i));

		if (place < 0 || filled[place])
			return false;
		plan->source[place] = first + places + i;
		filled[place] = true;
	}
	/* The instance waits in the first entry. */
	if (plan->how == CALL_CLASS)
		plan->source[0] = 0;
	return plan_defaults(plan, code, filled);
}

static size_t frame_size(const PyCodeObject *code)
{
	return sizeof(PyObject *) * ((size_t)(code->co_nlocalsplus + code->co_stacksize) +
					    FRAME_SPECIALS_SIZE);
}

bool call_plan(struct call_plan *plan, const struct cache *cache, PyObject **base)
{
	PyCodeObject *code;

	*plan = (struct call_plan){.slot = cache->slot, .given = cache->oparg};
	if (!plan_callable(plan, base))
		return false;
	code = (PyCodeObject *)plan->function->func_code;
	plan->callee = table_compiled(code);
	plan->parameters = code->co_argcount + code->co_kwonlyargcount;
	return plan->callee && plan->callee->start && frame_size(code) < FRAME_MAX &&
	       plan_parameters(plan, code, cache);
}

bool call_plan_method(
	struct call_plan *plan, PyFunctionObject *function, int given, uint32_t slot)
{
	PyCodeObject *code = (PyCodeObject *)function->func_code;

	*plan = (struct call_plan){
		.how = CALL_SHARED, .function = function, .slot = slot};
	plan->callee = table_compiled(code);
	plan->parameters = given;
	for (int i = 0; i < given; i++)
		plan->source[i] = i;
	return plan->callee && plan->callee->start && frame_size(code) < FRAME_MAX &&
	       code->co_argcount == given && !code->co_kwonlyargcount &&
	       !(code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) &&
	       code->co_flags & CO_OPTIMIZED;
}

static uint64_t local_at(int local)
{
	return offsetof(_PyInterpreterFrame, localsplus) +
	       (uint64_t)local * sizeof(PyObject *);
}

void call_emit_room(struct emit *emit, const struct call_plan *plan,
	const struct emit_holes *ends, enum stencils stencil)
{
	const PyCodeObject *code = (PyCodeObject *)plan->function->func_code;

	emit_stencil(emit, stencil,
		&(struct emit_holes){.c = frame_size(code),
			.d = plan->how == CALL_CLASS ? 2 : 1,
			.exit = ends->exit});
}

static void emit_callable(
	struct emit *emit, const struct call_plan *plan, const struct emit_holes *ends)
{
	static const enum stencils stencils[] = {
		[CALL_FUNCTION] = STENCIL_CALL_FUNCTION,
		[CALL_METHOD] = STENCIL_CALL_METHOD,
		[CALL_BOUND] = STENCIL_CALL_BOUND,
		[CALL_CLASS] = STENCIL_CALL_CLASS,
	};
	const struct PyCodeObject *code = (PyCodeObject *)plan->function->func_code;
	struct emit_holes holes = {
		.f = ends->f, .exit = ends->exit, .error = ends->error};

	call_emit_room(emit, plan, ends, STENCIL_CALL_ROOM);
	holes.a = plan->slot;
	holes.b = (uintptr_t)code;
	holes.d = (uintptr_t)plan->type;
	holes.e = plan->type ? plan->type->tp_version_tag : 0;
	holes.g = (uintptr_t)plan->function;
	holes.patches = 1u << HOLES_HOLE_B;
	emit_stencil(emit, stencils[plan->how], &holes);
	holes.patches = 0;
	if (plan->has_defaults) {
		holes.a = (uint64_t)PyTuple_GET_SIZE(plan->function->func_defaults);
		emit_stencil(emit, STENCIL_CALL_DEFAULTS, &holes);
	}
	holes.a = plan->slot;
	holes.b = plan->given + 2;
	if (plan->how == CALL_BOUND)
		emit_stencil(emit, STENCIL_CALL_UNBIND, &holes);
	else if (plan->how == CALL_CLASS)
		emit_stencil(emit, STENCIL_CALL_NEW, &holes);
}

static void emit_parameter(struct emit *emit, const struct call_plan *plan, int parameter)
{
	int source = plan->source[parameter];
	struct emit_holes holes = {.b = local_at(parameter)};

	if (source < 0) {
		holes.a = offsetof(PyTupleObject, ob_item) +
			  (uint64_t)~source * sizeof(PyObject *);
		emit_stencil(emit, STENCIL_CALL_DEFAULT, &holes);
		return;
	}
	holes.a = plan->slot + (uint64_t)source * sizeof(PyObject *);
	emit_stencil(emit,
		plan->how == CALL_SHARED || (plan->how == CALL_CLASS && source == 0)
			? STENCIL_CALL_SHARE
			: STENCIL_CALL_MOVE,
		&holes);
}

void call_emit_frame(
	struct emit *emit, const struct call_plan *plan, const struct emit_holes *ends)
{
	const struct PyCodeObject *code = (PyCodeObject *)plan->function->func_code;
	struct emit_holes holes = {
		.a = local_at(plan->parameters), .b = local_at(code->co_nlocalsplus)};

	for (int i = 0; i < plan->parameters; i++)
		emit_parameter(emit, plan, i);
	if (code->co_nlocalsplus - plan->parameters > CLEAR_ONE_BY_ONE) {
		emit_stencil(emit, STENCIL_CALL_CLEAR_MANY, &holes);
	} else {
		for (int i = plan->parameters; i < code->co_nlocalsplus; i++)
			emit_stencil(emit, STENCIL_CALL_CLEAR,
				&(struct emit_holes){.b = local_at(i)});
	}
	holes = *ends;
	holes.a = plan->slot;
	holes.b = (uintptr_t)code;
	holes.c = frame_size(code);
	holes.callee = emit_label_at(emit, plan->callee->start);
	emit_stencil(emit,
		plan->how == CALL_CLASS ? STENCIL_CALL_ENTER_INIT : STENCIL_CALL_ENTER,
		&holes);
}

void call_emit(
	struct emit *emit, const struct call_plan *plan, const struct emit_holes *ends)
{
	emit_callable(emit, plan, ends);
	call_emit_frame(emit, plan, ends);
}
