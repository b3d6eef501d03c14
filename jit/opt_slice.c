/* Slices of lists, without slice objects. */
#include "jit/opt_asm.h"

/* Start, stop and step of the slice on top of the stack, None as PySlice_Unpack() has it. */
struct slice {
	int start, stop; /* slots */
	long step;
};

static bool is_none(const struct opt_item *item)
{
	return item->kind == OPT_CONST && item->object == Py_None;
}

static bool find_step(const struct opt *opt, const struct opt_item *item, long *step)
{
	int32_t known;

	*step = 1;
	if (is_none(item))
		return true;
	if (item->kind != OPT_INT || !opt_asm_known(opt, item->slot, &known))
		return false;
	*step = known;
	return known != 0;
}

static bool find_slice(struct opt *opt, int first, uint32_t count, struct slice *slice)
{
	const struct opt_item *items = &opt->state.stack[first];

	slice->step = 1;
	if ((!is_none(&items[0]) && items[0].kind != OPT_INT) ||
		(!is_none(&items[1]) && items[1].kind != OPT_INT) ||
		(count == 3 && !find_step(opt, &items[2], &slice->step)))
		return false;
	slice->start = is_none(&items[0])
			       ? opt_int_constant(opt, slice->step < 0 ? LONG_MAX : 0)
			       : items[0].slot;
	slice->stop = is_none(&items[1]) ? opt_int_constant(opt,
						   slice->step < 0 ? LONG_MIN : LONG_MAX)
					 : items[1].slot;
	return true;
}

static bool is_list(const struct opt_item *item)
{
	return item->kind == OPT_FRAME && item->local && item->object &&
	       PyList_CheckExact(item->object);
}

static bool load_slice(struct opt *opt, int depth, const struct slice *slice)
{
	struct opt_item list = opt->state.stack[depth];
	struct emit_holes holes = {.a = opt_object_at(opt, &list, depth),
		.d = (uint64_t)slice->step,
		.e = opt_frame_at(opt, depth)};

	holes.b = opt_asm_in(opt, slice->start, false);
	holes.c = opt_asm_in(opt, slice->stop, false);
	holes.deopt = opt_exit_saved(opt);
	opt_stencil(opt, STENCIL_OPT_SLICE, holes);
	opt->state.depth = depth;
	return opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = list.object});
}

static bool store_slice(struct opt *opt, int depth, const struct slice *slice)
{
	struct opt_item list = opt->state.stack[depth + 1];
	struct opt_item value = opt->state.stack[depth];
	struct emit_holes holes = {
		.a = opt_object_at(opt, &list, depth + 1), .d = opt_frame_at(opt, depth)};

	if (value.kind != OPT_FRAME || value.local || slice->step != 1)
		return opt_refuse(opt, "store to a slice");
	holes.b = opt_asm_in(opt, slice->start, false);
	holes.c = opt_asm_in(opt, slice->stop, false);
	holes.deopt = opt_exit_saved(opt);
	opt_stencil(opt, STENCIL_OPT_PUT_SLICE, holes);
	opt->state.depth = depth;
	return true;
}

bool opt_build_slice(struct opt *opt, uint32_t count)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];
	int first = opt->state.depth - (int)count;
	bool stores = op[1].opcode == STORE_SUBSCR;
	struct slice slice;

	if (opt->inlined || op[1].flags & IR_LEADER || op[1].handler != op->handler ||
		(op[1].opcode != BINARY_SUBSCR && !stores) ||
		!is_list(&opt->state.stack[first - 1]) ||
		!find_slice(opt, first, count, &slice))
		return opt_refuse(opt, "slice");
	opt->skip = 1;
	return stores ? store_slice(opt, first - 2, &slice)
		      : load_slice(opt, first - 1, &slice);
}

PyObject *opt_slice(PyObject *object, long start, long stop, long step)
{
	PyListObject *list = (PyListObject *)object;
	Py_ssize_t count;
	PyObject *result;
	int enabled;

	if (!list || !PyList_CheckExact(object))
		return NULL;
	count = PySlice_AdjustIndices(Py_SIZE(list), &start, &stop, step);
	/* Without a collection, which might run Python code. */
	enabled = PyGC_Disable();
	result = PyList_New(count);
	if (enabled)
		PyGC_Enable();
	if (!result) {
		PyErr_Clear();
		return NULL;
	}
	for (Py_ssize_t i = 0, from = start; i < count; i++, from += step)
		PyList_SET_ITEM(result, i, Py_NewRef(list->ob_item[from]));
	return result;
}

/* Whether an element goes without anybody noticing, `count` times at most. */
static bool is_quiet(const PyObject *object, Py_ssize_t count)
{
	return Py_REFCNT(object) > count || PyLong_CheckExact(object) ||
	       PyFloat_CheckExact(object) || PyUnicode_CheckExact(object);
}

int opt_put_slice(PyObject *object, long start, long stop, PyObject *values)
{
	PyListObject *list = (PyListObject *)object;
	Py_ssize_t count;

	if (!list || !PyList_CheckExact(object) || !PyList_CheckExact(values) ||
		object == values || Py_REFCNT(values) != 1)
		return 0;
	count = PySlice_AdjustIndices(Py_SIZE(list), &start, &stop, 1);
	if (count != Py_SIZE(values))
		return 0;
	for (Py_ssize_t i = 0; i < count; i++) {
		if (!is_quiet(list->ob_item[start + i], count))
			return 0;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *old = list->ob_item[start + i];

		list->ob_item[start + i] = PyList_GET_ITEM(values, i);
		PyList_SET_ITEM(values, i, old);
	}
	Py_DECREF(values);
	return 1;
}
