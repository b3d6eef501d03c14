/* Iteration that an inline cache does. */
#include "jit/cache_iterate.h"

#include "jit/compiled.h"
#include "jit/table.h"

static bool plan_generator(struct iterate_plan *plan, const PyGenObject *generator)
{
	PyCodeObject *code = (PyCodeObject *)generator->gi_code;

	plan->work = plan->sends ? STENCIL_RESUME_SEND : STENCIL_RESUME_ITERATE;
	plan->type = Py_TYPE(generator);
	plan->callee = table_compiled(code);
	return plan->callee && plan->callee->start;
}

static enum stencils find_work(const PyTypeObject *type)
{
	if (type == &PyRangeIter_Type)
		return STENCIL_ITERATE_RANGE;
	if (type == &PyListIter_Type)
		return STENCIL_ITERATE_LIST;
	if (type == &PyTupleIter_Type)
		return STENCIL_ITERATE_TUPLE;
	return STENCIL_ITERATE_OTHER;
}

bool iterate_plan(
	struct iterate_plan *plan, const struct cache *cache, PyObject *iterator)
{
	*plan = (struct iterate_plan){.slot = cache->slot,
		.sends = cache->kind == CACHE_SEND,
		.sent_slot = cache->oparg};
	if (PyGen_CheckExact(iterator) || (plan->sends && PyCoro_CheckExact(iterator)))
		return plan_generator(plan, (PyGenObject *)iterator);
	if (plan->sends)
		return false;
	plan->work = find_work(Py_TYPE(iterator));
	plan->function = Py_TYPE(iterator)->tp_iternext;
	return plan->function != NULL;
}

void iterate_emit(
	struct emit *emit, const struct iterate_plan *plan, const struct emit_holes *ends)
{
	struct emit_holes holes = {.a = plan->slot, .f = ends->f, .exit = ends->exit};

	if (plan->callee) {
		holes.b = (uintptr_t)plan->callee->code;
		holes.d = (uintptr_t)plan->type;
		holes.g = (uintptr_t)plan->callee->entries;
		holes.patches = 1u << HOLES_HOLE_B;
		emit_stencil(emit, STENCIL_RESUME_GUARD, &holes);
		holes.patches = 0;
		holes.b = plan->sent_slot;
		if (plan->sends)
			emit_stencil(emit, STENCIL_RESUME_SENDS, &holes);
	}
	holes = *ends;
	holes.a = plan->slot;
	holes.b = plan->sent_slot;
	holes.c = (uintptr_t)plan->function;
	if (plan->callee)
		holes.callee = emit_label_at(emit, plan->callee->resume);
	emit_stencil(emit, plan->work, &holes);
}
