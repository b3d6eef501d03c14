/* Calls of C functions that an inline cache makes. */
#include "jit/cache_builtin.h"

#include "jit/jit.h"

/* What the builtins do most, in line. */
static enum stencils find_special(const struct builtin_plan *plan, PyObject *callable)
{
	struct callable_cache *known = &jit.interpreter->callable_cache;

	if (callable == known->len && plan->given == 1)
		return STENCIL_BUILTIN_LENGTH;
	if (callable == known->isinstance && plan->given == 2)
		return STENCIL_BUILTIN_INSTANCE;
	if (callable == known->list_append && plan->given == 1 &&
		plan->what == BUILTIN_METHOD)
		return STENCIL_BUILTIN_APPEND;
	return STENCIL_BUILTIN_VECTOR;
}

/* The work by a function's calling convention; anything else, mistakes in the number of
 * arguments included, is left to PyObject_Vectorcall(). */
static enum stencils find_work(const struct builtin_plan *plan, int flags)
{
	switch (flags) {
	case METH_NOARGS:
		return plan->given == 0 ? STENCIL_BUILTIN_NONE : STENCIL_BUILTIN_VECTOR;
	case METH_O:
		return plan->given == 1 && !plan->named ? STENCIL_BUILTIN_ONE
							: STENCIL_BUILTIN_VECTOR;
	case METH_FASTCALL:
		return plan->named ? STENCIL_BUILTIN_VECTOR : STENCIL_BUILTIN_FAST;
	case METH_FASTCALL | METH_KEYWORDS: return STENCIL_BUILTIN_NAMED;
	default: return STENCIL_BUILTIN_VECTOR;
	}
}

static void plan_work(
	struct builtin_plan *plan, PyObject *callable, const PyMethodDef *definition)
{
	plan->told_by = definition;
	plan->function = (const void *)(uintptr_t)definition->ml_meth;
	plan->work = plan->named ? STENCIL_BUILTIN_VECTOR : find_special(plan, callable);
	if (plan->work == STENCIL_BUILTIN_VECTOR)
		plan->work = find_work(plan, definition->ml_flags & ~METH_COEXIST);
}

bool builtin_plan(struct builtin_plan *plan, const struct cache *cache, PyObject **base)
{
	PyObject *callable = base[0] ? base[0] : base[1];

	*plan = (struct builtin_plan){
		.slot = cache->slot,
		.given = cache->oparg,
		.named = cache->name ? (uint32_t)PyTuple_GET_SIZE(cache->name) : 0,
		.names = cache->name,
	};
	if (!base[0] && Py_IS_TYPE(callable, &PyCFunction_Type)) {
		plan->what = BUILTIN_FUNCTION;
		plan_work(plan, callable, ((PyCFunctionObject *)callable)->m_ml);
		return true;
	}
	if (base[0] && Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
		plan->what = BUILTIN_METHOD;
		plan_work(plan, callable, ((PyMethodDescrObject *)callable)->d_method);
		return Py_IS_TYPE(base[1], PyDescr_TYPE(callable));
	}
	if (!base[0] && PyType_Check(callable) &&
		_PyType_HasFeature((PyTypeObject *)callable, Py_TPFLAGS_IMMUTABLETYPE) &&
		!_PyType_HasFeature((PyTypeObject *)callable, Py_TPFLAGS_HEAPTYPE)) {
		plan->what = BUILTIN_CLASS;
		plan->told_by = callable;
		plan->work = STENCIL_BUILTIN_VECTOR;
		return true;
	}
	return false;
}

static void emit_work(
	struct emit *emit, const struct builtin_plan *plan, const struct emit_holes *ends)
{
	struct emit_holes holes = {.a = plan->slot,
		.b = plan->given - plan->named,
		.c = (uintptr_t)plan->function,
		.e = (uintptr_t)plan->names,
		.f = ends->f};

	if (plan->work == STENCIL_BUILTIN_VECTOR) {
		if (plan->what == BUILTIN_METHOD)
			holes.b++;
		else
			holes.a += sizeof(PyObject *);
		holes.b |= PY_VECTORCALL_ARGUMENTS_OFFSET;
	}
	emit_stencil(emit, plan->work, &holes);
}

static void emit_drop(struct emit *emit, const struct builtin_plan *plan,
	const struct emit_holes *ends, uint32_t entry)
{
	emit_stencil(emit, STENCIL_BUILTIN_DROP,
		&(struct emit_holes){
			.a = plan->slot + entry * sizeof(PyObject *), .f = ends->f});
}

void builtin_emit(
	struct emit *emit, const struct builtin_plan *plan, const struct emit_holes *ends)
{
	static const enum stencils guards[] = {
		[BUILTIN_FUNCTION] = STENCIL_BUILTIN_FUNCTION,
		[BUILTIN_METHOD] = STENCIL_BUILTIN_METHOD,
		[BUILTIN_CLASS] = STENCIL_BUILTIN_CLASS,
	};
	bool method = plan->what == BUILTIN_METHOD;

	emit_stencil(emit, guards[plan->what],
		&(struct emit_holes){.a = plan->slot,
			.d = (uintptr_t)plan->told_by,
			.exit = ends->exit});
	emit_work(emit, plan, ends);
	/* The order is ceval.c's: self, arguments, callable. */
	if (method)
		emit_drop(emit, plan, ends, 1);
	for (uint32_t i = 0; i < plan->given; i++)
		emit_drop(emit, plan, ends, i + 2);
	emit_drop(emit, plan, ends, method ? 0 : 1);
	emit_stencil(emit, STENCIL_BUILTIN_END, ends);
}
