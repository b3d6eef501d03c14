/* Elements of lists and tuples. */
#include "jit/opt_asm.h"

/* What an element of a list or tuple will be: as its first one is. */
static int element_kind(PyObject *container, PyObject **example)
{
	*example = NULL;
	if (Py_SIZE(container) == 0)
		return OPT_FRAME;
	return opt_kind_of(PySequence_Fast_GET_ITEM(container, 0), example);
}

static bool is_container(const struct opt_item *item)
{
	return item->kind == OPT_FRAME && item->object &&
	       (PyList_CheckExact(item->object) || PyTuple_CheckExact(item->object));
}

static bool is_indexed(const struct opt_item *item)
{
	return is_container(item) || (item->kind == OPT_FRAME && item->object &&
					     PyUnicode_CheckExact(item->object));
}

/* A character of a string. */
static bool subscript_string(struct opt *opt, int depth)
{
	struct opt_item index = opt->state.stack[depth + 1];
	struct opt_item string = opt->state.stack[depth];
	struct emit_holes holes = {0};

	if (string.kind == OPT_CONST) {
		opt_own(opt, depth);
		string = opt->state.stack[depth];
	}
	holes.a = opt_object_at(opt, &string, depth);
	holes.b = opt_asm_in(opt, index.slot, false);
	holes.c = opt_frame_at(opt, depth + !string.local);
	holes.deopt = opt_exit_saved(opt);
	opt_pop(opt);
	opt_pop(opt);
	opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = string.object});
	opt_stencil(opt, STENCIL_OPT_ELEMENT_STRING, holes);
	return string.local || opt_release_under(opt, depth);
}

bool opt_subscript(struct opt *opt)
{
	static const enum stencils ids[2][4] = {
		{STENCIL_OPT_ELEMENT_LIST_FRAME, STENCIL_OPT_ELEMENT_LIST_INT,
			STENCIL_OPT_ELEMENT_LIST_FLOAT, STENCIL_OPT_ELEMENT_LIST_BOOL},
		{STENCIL_OPT_ELEMENT_TUPLE_FRAME, STENCIL_OPT_ELEMENT_TUPLE_INT,
			STENCIL_OPT_ELEMENT_TUPLE_FLOAT, STENCIL_OPT_ELEMENT_TUPLE_BOOL},
	};
	int depth = opt->state.depth - 2;
	struct opt_item index = opt->state.stack[depth + 1];
	struct opt_item container = opt->state.stack[depth];
	struct emit_holes holes = {0};
	PyObject *example;
	int kind;

	if (opt->hybrid && index.kind == OPT_FRAME && index.object &&
		PyLong_CheckExact(index.object) && is_indexed(&container)) {
		if (!opt_unbox(opt, depth + 1, OPT_INT))
			return false;
		index = opt->state.stack[depth + 1];
	}
	if (index.kind == OPT_INT && container.object &&
		PyUnicode_CheckExact(container.object))
		return subscript_string(opt, depth);
	if (!is_container(&container) ||
		(index.kind != OPT_INT && index.kind != OPT_BOOL))
		return opt_refuse(opt, "subscript");
	kind = element_kind(container.object, &example);
	if (!container.local)
		opt_check_shared(opt, depth);
	if (kind != OPT_FRAME && !opt_wants_number(opt)) {
		example = opt_example(kind);
		kind = OPT_FRAME;
	}
	holes.a = opt_object_at(opt, &container, depth);
	holes.b = opt_asm_in(opt, index.slot, false);
	holes.deopt = opt_exit_here(opt);
	opt_pop(opt);
	opt_pop(opt);
	if (kind == OPT_FRAME) {
		holes.c = opt_frame_at(opt, depth + !container.local);
		opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = example});
	} else {
		holes.c = opt_asm_out(opt, opt_result_slot(opt, kind), kind == OPT_FLOAT);
	}
	opt_stencil(opt, ids[PyTuple_CheckExact(container.object)][kind], holes);
	if (!container.local && kind == OPT_FRAME)
		return opt_release_under(opt, depth);
	if (!container.local)
		opt_stencil(opt, STENCIL_OPT_RELEASE,
			(struct emit_holes){.a = opt_frame_at(opt, depth)});
	return true;
}

static bool put_object(struct opt *opt, int depth)
{
	struct opt_item container = opt->state.stack[depth + 1];
	struct opt_item index = opt->state.stack[depth + 2];
	struct emit_holes holes = {0};

	opt_own(opt, depth);
	if (opt->state.stack[depth].kind != OPT_FRAME)
		return opt_refuse(opt, "store to a subscript");
	holes.a = opt_object_at(opt, &container, depth + 1);
	holes.b = opt_asm_in(opt, index.slot, false);
	holes.c = opt_frame_at(opt, depth);
	holes.deopt = opt_exit_here(opt);
	opt->state.depth = depth;
	opt_put_object(opt, holes);
	return true;
}

bool opt_store_subscript(struct opt *opt)
{
	int depth = opt->state.depth - 3;
	struct opt_item value = opt->state.stack[depth];
	struct opt_item container = opt->state.stack[depth + 1];
	struct opt_item index = opt->state.stack[depth + 2];
	struct emit_holes holes = {0};

	if (!is_container(&container) || !PyList_CheckExact(container.object) ||
		(index.kind != OPT_INT && index.kind != OPT_BOOL) ||
		(!opt_is_number(&value) && (!opt->hybrid || !container.local)))
		return opt_refuse(opt, "store to a subscript");
	if (!opt_is_number(&value))
		return put_object(opt, depth);
	if (!container.local)
		opt_check_shared(opt, depth + 1);
	holes.a = opt_object_at(opt, &container, depth + 1);
	holes.b = opt_asm_in(opt, index.slot, false);
	holes.c = opt_asm_in(opt, value.slot, value.kind == OPT_FLOAT);
	holes.deopt = opt_exit_here(opt);
	opt_stencil(opt,
		value.kind == OPT_INT	  ? STENCIL_OPT_PUT_INT
		: value.kind == OPT_FLOAT ? STENCIL_OPT_PUT_FLOAT
					  : STENCIL_OPT_PUT_BOOL,
		holes);
	if (!container.local)
		opt_stencil(opt, STENCIL_OPT_RELEASE,
			(struct emit_holes){.a = opt_frame_at(opt, depth + 1)});
	opt_pop(opt);
	opt_pop(opt);
	opt_pop(opt);
	return true;
}
