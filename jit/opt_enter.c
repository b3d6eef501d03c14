/* What an optimised loop finds on entry, and needs. */
#include "jit/iterators.h"
#include "jit/opt_asm.h"

#include <string.h>

/* What a local is on entry, by what it is now. */
static bool enter_local(struct opt *opt, uint32_t local)
{
	PyObject *object = opt->frame->localsplus[local];
	bool live = opt->live[opt->ir->ops[opt->head].block] >> local & 1;
	bool written = opt->written >> local & 1;
	struct opt_item *item = &opt->state.locals[local];
	struct opt_need need = {.number = local};
	int overflow;

	*item = (struct opt_item){.kind = OPT_FRAME};
	if (!live || !object)
		return true;
	item->object = object;
	if (PyFloat_CheckExact(object)) {
		need.kind = OPT_FLOAT;
	} else if (PyBool_Check(object)) {
		need.kind = OPT_BOOL;
	} else if (PyLong_CheckExact(object)) {
		PyLong_AsLongAndOverflow(object, &overflow);
		if (overflow)
			return true;
		need.kind = OPT_INT;
	} else if (!written &&
		   (PyFunction_Check(object) || PyCFunction_CheckExact(object))) {
		*item = (struct opt_item){.kind = OPT_CONST, .object = object};
		need.what = OPT_NEED_OBJECT;
		need.object = object;
		return opt_need(opt, need);
	} else {
		return true;
	}
	*item = (struct opt_item){
		.kind = need.kind, .slot = (int16_t)local, .synced = opt->hybrid};
	return true;
}

/* What is a number at the head must be one on entry. */
bool opt_need_numbers(struct opt *opt)
{
	const struct opt_state *in = &opt->in[opt->ir->ops[opt->head].block];

	for (int i = 0; i < opt->compiled->code->co_nlocalsplus; i++) {
		if (!opt_is_number(&in->locals[i]) || in->locals[i].maybe)
			continue;
		if (!opt_need(opt, (struct opt_need){.what = OPT_NEED_KIND,
					   .kind = in->locals[i].kind,
					   .number = (uint32_t)i}))
			return false;
	}
	return true;
}

static PyObject *sequence_of(PyObject *iterator)
{
	return ((struct sequence_iterator *)iterator)->sequence;
}

/* An iterator on the stack on entry. */
static bool enter_iterator(
	struct opt *opt, PyObject *object, int number, struct opt_item *item)
{
	if (Py_IS_TYPE(object, &PyRangeIter_Type)) {
		item->kind = OPT_RANGE;
	} else if (Py_IS_TYPE(object, &PyListIter_Type)) {
		item->kind = OPT_LIST;
		item->object = sequence_of(object);
	} else if (Py_IS_TYPE(object, &PyTupleIter_Type)) {
		item->kind = OPT_TUPLE;
		item->object = sequence_of(object);
	} else if (opt->hybrid && opt_pair_example(object, item)) {
		item->kind = Py_IS_TYPE(object, &PyEnum_Type) ? OPT_ENUMERATE : OPT_ZIP;
	} else {
		return true;
	}
	return opt_need(opt, (struct opt_need){.what = OPT_NEED_ITERATOR,
				     .number = (uint32_t)number,
				     .object = (PyObject *)Py_TYPE(object)});
}

bool opt_enter_state(struct opt *opt)
{
	int locals = opt->compiled->code->co_nlocalsplus;

	memset(&opt->state, 0, sizeof(opt->state));
	for (int i = 0; i < locals; i++) {
		if (!enter_local(opt, (uint32_t)i))
			return false;
	}
	for (int i = 0; i < opt->ir->ops[opt->head].depth; i++) {
		PyObject *object = _PyFrame_Stackbase(opt->frame)[i];
		struct opt_item item = {.kind = OPT_FRAME, .object = object};

		if (object && !enter_iterator(opt, object, i, &item))
			return false;
		if (!opt_push(opt, item))
			return false;
	}
	for (int i = 0; i < locals; i++) {
		if (opt->flagged >> i & 1)
			opt->flag_slot[i] = opt_stack_slot(opt, OPT_STACK) + i;
	}
	return true;
}
