/* Objects in loops: attributes of instances, iteration over lists, pairs. */
#include "jit/cache_shape.h"
#include "jit/opt_state.h"

static uint64_t at(int slot)
{
	return (uint64_t)(int64_t)opt_slot_at(slot);
}

int opt_kind_of(PyObject *object, PyObject **example)
{
	*example = NULL;
	if (PyFloat_CheckExact(object))
		return OPT_FLOAT;
	if (PyLong_CheckExact(object))
		return OPT_INT;
	if (PyBool_Check(object))
		return OPT_BOOL;
	*example = object;
	return OPT_FRAME;
}

/* Its own place, or that of the local that it is borrowed from. */
uint64_t opt_object_at(const struct opt *opt, const struct opt_item *item, int depth)
{
	if (item->local)
		return offsetof(_PyInterpreterFrame, localsplus) +
		       (uint64_t)item->slot * sizeof(PyObject *);
	return opt_frame_at(opt, depth);
}

/* Where instances of a type have an attribute. */
struct place {
	bool values;
	long offset;
};

static bool find_place(
	struct opt *opt, PyObject *object, PyObject *name, struct place *place)
{
	PyTypeObject *type = Py_TYPE(object);
	PyObject *found;
	Py_ssize_t offset;

	if (type->tp_getattro != PyObject_GenericGetAttr ||
		type->tp_setattro != PyObject_GenericSetAttr)
		return opt_refuse(opt, "attribute access of its own");
	found = _PyType_Lookup(type, name);
	if (shape_is_slot(type, found, &offset)) {
		if (((PyMemberDescrObject *)found)->d_member->flags)
			return opt_refuse(opt, "member");
		*place = (struct place){false, offset};
	} else if (!found && type->tp_flags & Py_TPFLAGS_MANAGED_DICT &&
		   *_PyObject_ValuesPointer(object)) {
		PyDictKeysObject *keys = ((PyHeapTypeObject *)type)->ht_cached_keys;
		Py_ssize_t index = _PyDictKeys_StringLookup(keys, name);

		if (index < 0)
			return opt_refuse(opt, "attribute");
		*place = (struct place){true, index * (long)sizeof(PyObject *)};
	} else {
		return opt_refuse(opt, "attribute");
	}
	if (!type->tp_version_tag)
		return opt_refuse(opt, "type without a version");
	return opt_need(opt, (struct opt_need){.what = OPT_NEED_TYPE,
				     .number = type->tp_version_tag,
				     .object = (PyObject *)type});
}

static PyObject *value_at(PyObject *object, const struct place *place)
{
	char *start =
		place->values ? (char *)*_PyObject_ValuesPointer(object) : (char *)object;

	return *(PyObject **)(start + place->offset);
}

static PyObject *name_of(const struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];

	return PyTuple_GET_ITEM(opt->ir->code->co_names, op->oparg);
}

bool opt_load_attribute(struct opt *opt)
{
	static const enum stencils ids[2][4] = {
		{STENCIL_OPT_LOAD_slot_FRAME, STENCIL_OPT_LOAD_slot_INT,
			STENCIL_OPT_LOAD_slot_FLOAT, STENCIL_OPT_LOAD_slot_BOOL},
		{STENCIL_OPT_LOAD_values_FRAME, STENCIL_OPT_LOAD_values_INT,
			STENCIL_OPT_LOAD_values_FLOAT, STENCIL_OPT_LOAD_values_BOOL},
	};
	int depth = opt->state.depth - 1, kind;
	struct opt_item owner = opt->state.stack[depth];
	struct emit_holes holes = {0};
	struct place place;
	PyObject *value, *example;

	if (opt->inlined || owner.kind != OPT_FRAME || !owner.object)
		return opt_refuse(opt, "attribute of what is not known");
	if (!find_place(opt, owner.object, name_of(opt), &place))
		return false;
	value = value_at(owner.object, &place);
	if (!value)
		return opt_refuse(opt, "attribute not set");
	kind = opt_kind_of(value, &example);
	if (kind == OPT_FRAME && !owner.local)
		return opt_refuse(opt, "attribute of an attribute");
	holes.a = opt_object_at(opt, &owner, depth);
	holes.b = (uintptr_t)Py_TYPE(owner.object);
	holes.d = (uint64_t)place.offset;
	holes.deopt = opt_exit_here(opt);
	opt_pop(opt);
	if (kind == OPT_FRAME) {
		holes.c = opt_frame_at(opt, depth);
		opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = example});
	} else {
		holes.c = at(opt_result_slot(opt, kind));
	}
	opt_stencil(opt, ids[place.values][kind], holes);
	if (!owner.local)
		opt_stencil(opt, STENCIL_OPT_RELEASE,
			(struct emit_holes){.a = opt_frame_at(opt, depth)});
	return true;
}

bool opt_store_attribute(struct opt *opt)
{
	static const enum stencils ids[2][2] = {
		{STENCIL_OPT_STORE_slot_INT, STENCIL_OPT_STORE_slot_FLOAT},
		{STENCIL_OPT_STORE_values_INT, STENCIL_OPT_STORE_values_FLOAT},
	};
	int depth = opt->state.depth - 2;
	struct opt_item value = opt->state.stack[depth];
	struct opt_item owner = opt->state.stack[depth + 1];
	struct emit_holes holes = {0};
	struct place place;

	if (opt->inlined || owner.kind != OPT_FRAME || !owner.object || !owner.local ||
		(value.kind != OPT_INT && value.kind != OPT_FLOAT))
		return opt_refuse(opt, "store to an attribute");
	if (!find_place(opt, owner.object, name_of(opt), &place))
		return false;
	holes.a = opt_object_at(opt, &owner, depth + 1);
	holes.b = (uintptr_t)Py_TYPE(owner.object);
	holes.c = at(value.slot);
	holes.d = (uint64_t)place.offset;
	holes.deopt = opt_exit_here(opt);
	opt_stencil(opt, ids[place.values][value.kind == OPT_FLOAT], holes);
	opt_pop(opt);
	opt_pop(opt);
	return true;
}

bool opt_unpack(struct opt *opt)
{
	int depth = opt->state.depth - 1;
	struct opt_item pair = opt->state.stack[depth];
	PyObject *first, *second;

	if (opt->inlined || opt->ir->ops[opt->number].oparg != 2 ||
		pair.kind != OPT_FRAME || pair.local || !pair.object ||
		!PyTuple_CheckExact(pair.object) || Py_SIZE(pair.object) != 2)
		return opt_refuse(opt, "unpacking");
	opt_kind_of(PyTuple_GET_ITEM(pair.object, 0), &first);
	opt_kind_of(PyTuple_GET_ITEM(pair.object, 1), &second);
	if (!first || !second)
		return opt_refuse(opt, "unpacking of numbers");
	opt_stencil(opt, STENCIL_OPT_UNPACK_PAIR,
		(struct emit_holes){.a = opt_frame_at(opt, depth),
			.b = opt_frame_at(opt, depth + 1),
			.deopt = opt_exit_here(opt)});
	opt_pop(opt);
	return opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = second}) &&
	       opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = first});
}

bool opt_get_iter(struct opt *opt)
{
	int depth = opt->state.depth - 1;
	struct opt_item list = opt->state.stack[depth];

	if (opt->inlined || list.kind != OPT_FRAME || !list.local || !list.object ||
		!PyList_CheckExact(list.object))
		return opt_refuse(opt, "iteration over other than a list");
	opt_stencil(opt, STENCIL_OPT_ITERATE_LIST,
		(struct emit_holes){.a = opt_object_at(opt, &list, depth),
			.b = opt_frame_at(opt, depth),
			.deopt = opt_exit_here(opt)});
	opt_pop(opt);
	return opt_push(opt, (struct opt_item){.kind = OPT_LIST, .object = list.object});
}
