/* Objects in loops: attributes of instances, iteration over lists, pairs. */
#include "jit/cache_shape.h"
#include "jit/iterators.h"
#include "jit/opt_asm.h"

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
	return true;
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
	if (!owner.local)
		opt_check_shared(opt, depth);
	if (!opt_wants_number(opt))
		kind = OPT_FRAME;
	if (kind == OPT_FRAME && !example)
		example = value;
	holes.a = opt_object_at(opt, &owner, depth);
	holes.b = Py_TYPE(owner.object)->tp_version_tag;
	holes.d = (uint64_t)place.offset;
	holes.deopt = opt_exit_here(opt);
	opt_pop(opt);
	if (kind == OPT_FRAME) {
		holes.c = opt_frame_at(opt, depth + !owner.local);
		opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = example});
	} else {
		holes.c = opt_asm_out(opt, opt_result_slot(opt, kind), kind == OPT_FLOAT);
	}
	opt_stencil(opt, ids[place.values][kind], holes);
	if (!owner.local && kind == OPT_FRAME)
		opt_release_under(opt, depth);
	else if (!owner.local)
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
	holes.b = Py_TYPE(owner.object)->tp_version_tag;
	holes.c = opt_asm_in(opt, value.slot, value.kind == OPT_FLOAT);
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

	if (pair.kind == OPT_PAIR)
		return opt_unpack_pair(opt);
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

/* The owner is let go once something of it is on the stack: not its last reference. */
bool opt_release_under(struct opt *opt, int depth)
{
	opt_stencil(opt, STENCIL_OPT_RELEASE_UNDER,
		(struct emit_holes){.a = opt_frame_at(opt, depth),
			.b = opt_frame_at(opt, depth + 1)});
	return true;
}

/* Before that. */
void opt_check_shared(struct opt *opt, int depth)
{
	if (opt->hybrid)
		opt_stencil(opt, STENCIL_OPT_CHECK_SHARED,
			(struct emit_holes){.a = opt_frame_at(opt, depth),
				.deopt = opt_exit_here(opt)});
}

bool opt_get_iter(struct opt *opt)
{
	int depth = opt->state.depth - 1;
	struct opt_item item = opt->state.stack[depth];
	bool is_tuple = item.object && PyTuple_CheckExact(item.object);
	struct emit_holes holes = {0};

	if (opt->inlined || (item.kind != OPT_FRAME && item.kind != OPT_CONST) ||
		!item.object || (!is_tuple && !PyList_CheckExact(item.object)))
		return opt_refuse(opt, "iteration over other than a list");
	if (item.kind == OPT_CONST)
		opt_own(opt, depth);
	item = opt->state.stack[depth];
	holes.a = opt_object_at(opt, &item, depth);
	holes.b = opt_frame_at(opt, depth + !item.local);
	holes.deopt = opt_exit_saved(opt);
	opt_stencil(opt, is_tuple ? STENCIL_OPT_ITERATE_TUPLE : STENCIL_OPT_ITERATE_LIST,
		holes);
	if (!item.local)
		opt_release_under(opt, depth);
	opt_pop(opt);
	return opt_push(opt, (struct opt_item){.kind = is_tuple ? OPT_TUPLE : OPT_LIST,
				     .object = item.object});
}

static bool is_sequence(PyObject *object)
{
	return object && (PyList_CheckExact(object) || PyTuple_CheckExact(object) ||
				 PyUnicode_CheckExact(object));
}

/* Objects/enumobject.c, Python/bltinmodule.c. */
bool opt_pair_example(PyObject *object, struct opt_item *item)
{
	struct {
		PyObject ob_base;
		Py_ssize_t size;
		PyObject *over;
	} *own = (void *)object;
	PyObject *inner[2] = {NULL, NULL};

	if (Py_IS_TYPE(object, &PyEnum_Type)) {
		inner[0] = inner[1] = own->over;
	} else if (Py_IS_TYPE(object, &PyZip_Type) && own->size == 2) {
		inner[0] = PyTuple_GET_ITEM(own->over, 0);
		inner[1] = PyTuple_GET_ITEM(own->over, 1);
	}
	for (int i = 0; i < 2; i++) {
		PyObject *sequence;

		if (!inner[i] || (!Py_IS_TYPE(inner[i], &PyListIter_Type) &&
					 !Py_IS_TYPE(inner[i], &PyTupleIter_Type) &&
					 !Py_IS_TYPE(inner[i], &PyUnicodeIter_Type)))
			return false;
		sequence = ((struct sequence_iterator *)inner[i])->sequence;
		if (!is_sequence(sequence))
			return false;
		*(i ? &item->other : &item->object) = sequence;
	}
	return true;
}

bool opt_call_pair(struct opt *opt, PyObject *callee, int count)
{
	const struct ir_op *next = &opt->ir->ops[opt->number + 1];
	const struct opt_item *arguments = &opt->state.stack[opt->state.depth - count];
	bool is_zip = callee == (PyObject *)&PyZip_Type;
	PyObject *first = count > 0 ? arguments[0].object : NULL;
	PyObject *second = count > 1 ? arguments[1].object : NULL;

	if (!opt->hybrid || opt->inlined || next->opcode != GET_ITER ||
		next->flags & IR_LEADER || !is_sequence(first) || count > 2 ||
		(is_zip && !is_sequence(second)) || !opt_generic(opt))
		return opt_refuse(opt, "call of a type");
	opt->skip = 1;
	opt_pop(opt);
	return opt_push(opt, (struct opt_item){.kind = is_zip ? OPT_ZIP : OPT_ENUMERATE,
				     .object = first,
				     .other = second});
}

/* list.append of a list: the function and the list, not looked at yet. */
bool opt_load_method(struct opt *opt)
{
	int depth = opt->state.depth - 1;
	struct opt_item self = opt->state.stack[depth];
	PyObject *method;

	if (opt->inlined || self.kind != OPT_FRAME || !self.local || !self.object ||
		!PyList_CheckExact(self.object))
		return opt_refuse(opt, "method");
	method = _PyType_Lookup(&PyList_Type, name_of(opt));
	if (!method || method != PyInterpreterState_Get()->callable_cache.list_append)
		return opt_refuse(opt, "method");
	opt_stencil(opt, STENCIL_OPT_CHECK_TYPE,
		(struct emit_holes){.a = opt_object_at(opt, &self, depth),
			.b = (uintptr_t)&PyList_Type,
			.deopt = opt_exit_here(opt)});
	opt_pop(opt);
	return opt_push(opt, (struct opt_item){.kind = OPT_CONST, .object = method}) &&
	       opt_push(opt, self);
}

/* The call of list.append. */
bool opt_call_method(struct opt *opt)
{
	static const enum stencils ids[] = {STENCIL_OPT_APPEND_FRAME,
		STENCIL_OPT_APPEND_INT, STENCIL_OPT_APPEND_FLOAT,
		STENCIL_OPT_APPEND_BOOL};
	int depth = opt->state.depth - 3;
	struct opt_item *method = &opt->state.stack[depth];
	struct opt_item self = method[1], value = method[2];
	struct emit_holes holes = {0};

	if (opt->inlined ||
		method->object != PyInterpreterState_Get()->callable_cache.list_append ||
		self.kind != OPT_FRAME)
		return opt_refuse(opt, "call of a method");
	if (method->kind == OPT_FRAME)
		opt_stencil(opt, STENCIL_OPT_CHECK_OBJECT,
			(struct emit_holes){.a = opt_frame_at(opt, depth),
				.b = (uintptr_t)method->object,
				.deopt = opt_exit_here(opt)});
	if (!self.local)
		opt_check_shared(opt, depth + 1);
	if (opt_is_number(&value) && opt_is_of_local(opt, &value)) {
		/* The list and the local have one object. */
		if (!opt->hybrid)
			return opt_refuse(opt, "a local's number in a list");
		opt_sync_local(opt, value.slot);
		opt->state.stack[depth + 2] = (struct opt_item){
			.kind = OPT_FRAME, .local = true, .slot = value.slot};
		value = opt->state.stack[depth + 2];
	}
	if (!opt_is_number(&value)) {
		opt_own(opt, depth + 2);
		value = opt->state.stack[depth + 2];
		if (value.kind != OPT_FRAME)
			return opt_refuse(opt, "call of a method");
	}
	holes.a = opt_object_at(opt, &self, depth + 1);
	holes.b = opt_is_number(&value)
			  ? opt_asm_in(opt, value.slot, value.kind == OPT_FLOAT)
			  : opt_frame_at(opt, depth + 2);
	holes.deopt = opt_exit_saved(opt);
	opt_stencil(opt, ids[value.kind], holes);
	if (!self.local)
		opt_stencil(opt, STENCIL_OPT_RELEASE,
			(struct emit_holes){.a = opt_frame_at(opt, depth + 1)});
	if (method->kind == OPT_FRAME)
		opt_stencil(opt, STENCIL_OPT_RELEASE,
			(struct emit_holes){.a = opt_frame_at(opt, depth)});
	opt->state.depth = depth;
	return opt_push(opt, (struct opt_item){.kind = OPT_CONST, .object = Py_None});
}
