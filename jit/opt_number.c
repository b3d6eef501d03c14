/* Arithmetic, comparisons and elements of lists. */
#include "jit/opt_state.h"

#include <string.h>

static const struct {
	enum stencils ints, floats;
	bool has_float;
} binaries[] = {
	[NB_ADD] = {STENCIL_OPT_ADD_INT, STENCIL_OPT_ADD_FLOAT, true},
	[NB_SUBTRACT] = {STENCIL_OPT_SUBTRACT_INT, STENCIL_OPT_SUBTRACT_FLOAT, true},
	[NB_MULTIPLY] = {STENCIL_OPT_MULTIPLY_INT, STENCIL_OPT_MULTIPLY_FLOAT, true},
	[NB_TRUE_DIVIDE] = {STENCIL_OPT_DIVIDE_INT, STENCIL_OPT_DIVIDE_FLOAT, true},
	[NB_FLOOR_DIVIDE] = {STENCIL_OPT_FLOOR_DIVIDE_INT, 0, false},
	[NB_REMAINDER] = {STENCIL_OPT_REMAINDER_INT, 0, false},
	[NB_AND] = {STENCIL_OPT_AND_INT, 0, false},
	[NB_OR] = {STENCIL_OPT_OR_INT, 0, false},
	[NB_XOR] = {STENCIL_OPT_XOR_INT, 0, false},
	[NB_LSHIFT] = {STENCIL_OPT_LSHIFT_INT, 0, false},
	[NB_RSHIFT] = {STENCIL_OPT_RSHIFT_INT, 0, false},
};

static uint64_t at(int slot)
{
	return (uint64_t)(int64_t)opt_slot_at(slot);
}

/* The slot of an operand as a float, converted where it is an int or a bool. */
int opt_as_float(struct opt *opt, struct opt_item item, bool exact)
{
	int slot;

	if (item.kind == OPT_FLOAT)
		return item.slot;
	slot = opt_new_slot(opt);
	opt_stencil(opt, exact ? STENCIL_OPT_TO_FLOAT_EXACT : STENCIL_OPT_TO_FLOAT,
		(struct emit_holes){.a = at(item.slot),
			.b = at(slot),
			.deopt = exact ? opt_exit_here(opt) : 0});
	return slot;
}

bool opt_binary(struct opt *opt, uint32_t oparg)
{
	uint32_t what = oparg >= NB_INPLACE_ADD ? oparg - NB_INPLACE_ADD : oparg;
	struct opt_item b = opt->state.stack[opt->state.depth - 1];
	struct opt_item a = opt->state.stack[opt->state.depth - 2];
	bool floats = a.kind == OPT_FLOAT || b.kind == OPT_FLOAT;
	struct emit_holes holes = {0};
	enum stencils id;
	int kind;

	if (!opt_is_number(&a) || !opt_is_number(&b))
		return opt_refuse(opt, "operands are no numbers");
	if (what == NB_POWER) {
		if (a.kind != OPT_FLOAT)
			return opt_refuse(opt, "power of an int");
		id = STENCIL_OPT_POWER_FLOAT;
	} else {
		if (what >= sizeof(binaries) / sizeof(binaries[0]) ||
			!binaries[what].ints || (floats && !binaries[what].has_float))
			return opt_refuse(opt, "operator");
		/* Bools stay bools under these. */
		if (a.kind == OPT_BOOL && b.kind == OPT_BOOL &&
			(what == NB_AND || what == NB_OR || what == NB_XOR))
			return opt_refuse(opt, "operator on bools");
		id = floats ? binaries[what].floats : binaries[what].ints;
	}
	kind = floats || what == NB_TRUE_DIVIDE ? OPT_FLOAT : OPT_INT;
	holes.deopt = opt_exit_here(opt);
	holes.a = at(floats ? opt_as_float(opt, a, false) : a.slot);
	holes.b = at(floats ? opt_as_float(opt, b, false) : b.slot);
	opt_pop(opt);
	opt_pop(opt);
	holes.c = at(opt_result_slot(opt, kind));
	opt_stencil(opt, id, holes);
	return true;
}

bool opt_unary(struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];
	struct opt_item a = opt->state.stack[opt->state.depth - 1];
	struct emit_holes holes = {.a = at(a.slot), .deopt = opt_exit_here(opt)};
	bool is_float = a.kind == OPT_FLOAT;
	enum stencils id;
	int kind = is_float ? OPT_FLOAT : OPT_INT;

	if (!opt_is_number(&a))
		return opt_refuse(opt, "operand is no number");
	switch (op->opcode) {
	case UNARY_NEGATIVE:
		id = is_float ? STENCIL_OPT_NEGATE_FLOAT : STENCIL_OPT_NEGATE_INT;
		break;
	case UNARY_INVERT:
		if (is_float)
			return opt_refuse(opt, "operator");
		id = STENCIL_OPT_INVERT_INT;
		break;
	default:
		id = is_float ? STENCIL_OPT_NOT_FLOAT : STENCIL_OPT_NOT_INT;
		kind = OPT_BOOL;
		break;
	}
	opt_pop(opt);
	holes.b = at(opt_result_slot(opt, kind));
	opt_stencil(opt, id, holes);
	return true;
}

/* By Py_LT to Py_GE. */
static const struct {
	enum stencils jump_int, jump_float, jump_not_float, ints, floats;
	int inverse;
} comparisons[] = {
#define ROW_(name)                                                             \
	STENCIL_OPT_JUMP_##name##_INT, STENCIL_OPT_JUMP_##name##_FLOAT,        \
		STENCIL_OPT_JUMP_NOT_##name##_FLOAT, STENCIL_OPT_##name##_INT, \
		STENCIL_OPT_##name##_FLOAT
	[Py_LT] = {ROW_(LT), Py_GE},
	[Py_LE] = {ROW_(LE), Py_GT},
	[Py_EQ] = {ROW_(EQ), Py_NE},
	[Py_NE] = {ROW_(NE), Py_EQ},
	[Py_GT] = {ROW_(GT), Py_LE},
	[Py_GE] = {ROW_(GE), Py_LT},
};

bool opt_compare(struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];
	struct opt_item b = opt->state.stack[opt->state.depth - 1];
	struct opt_item a = opt->state.stack[opt->state.depth - 2];
	bool floats = a.kind == OPT_FLOAT || b.kind == OPT_FLOAT;
	struct emit_holes holes = {0};

	if (!opt_is_number(&a) || !opt_is_number(&b))
		return opt_refuse(opt, "operands are no numbers");
	holes.a = at(floats ? opt_as_float(opt, a, true) : a.slot);
	holes.b = at(floats ? opt_as_float(opt, b, true) : b.slot);
	opt_pop(opt);
	opt_pop(opt);
	holes.c = at(opt_result_slot(opt, OPT_BOOL));
	opt_stencil(opt,
		floats ? comparisons[op->oparg].floats : comparisons[op->oparg].ints,
		holes);
	return true;
}

void opt_compare_jump(struct opt *opt, int compare, bool when, int target)
{
	struct opt_item b = opt->state.stack[opt->state.depth - 1];
	struct opt_item a = opt->state.stack[opt->state.depth - 2];
	bool floats = a.kind == OPT_FLOAT || b.kind == OPT_FLOAT;
	struct emit_holes holes = {.target = target};
	enum stencils id;

	holes.a = at(floats ? opt_as_float(opt, a, true) : a.slot);
	holes.b = at(floats ? opt_as_float(opt, b, true) : b.slot);
	if (floats)
		id = when ? comparisons[compare].jump_float
			  : comparisons[compare].jump_not_float;
	else
		id = comparisons[when ? compare : comparisons[compare].inverse].jump_int;
	opt_stencil(opt, id, holes);
}

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
	struct emit_holes holes = {.b = at(index.slot)};
	PyObject *example;
	int kind;

	if (!is_container(&container) ||
		(index.kind != OPT_INT && index.kind != OPT_BOOL))
		return opt_refuse(opt, "subscript");
	kind = element_kind(container.object, &example);
	/* An element that is an object itself needs the container's place. */
	if (kind == OPT_FRAME && !container.local)
		return opt_refuse(opt, "nested subscript");
	holes.a = opt_object_at(opt, &container, depth);
	holes.deopt = opt_exit_here(opt);
	opt_pop(opt);
	opt_pop(opt);
	if (kind == OPT_FRAME) {
		holes.c = opt_frame_at(opt, depth);
		opt_push(opt, (struct opt_item){.kind = OPT_FRAME, .object = example});
	} else {
		holes.c = at(opt_result_slot(opt, kind));
	}
	opt_stencil(opt, ids[PyTuple_CheckExact(container.object)][kind], holes);
	if (!container.local)
		opt_stencil(opt, STENCIL_OPT_RELEASE,
			(struct emit_holes){.a = opt_frame_at(opt, depth)});
	return true;
}

bool opt_store_subscript(struct opt *opt)
{
	int depth = opt->state.depth - 3;
	struct opt_item value = opt->state.stack[depth];
	struct opt_item container = opt->state.stack[depth + 1];
	struct opt_item index = opt->state.stack[depth + 2];
	struct emit_holes holes = {.b = at(index.slot), .c = at(value.slot)};

	if (!is_container(&container) || !PyList_CheckExact(container.object) ||
		(index.kind != OPT_INT && index.kind != OPT_BOOL) ||
		!opt_is_number(&value))
		return opt_refuse(opt, "store to a subscript");
	holes.a = opt_object_at(opt, &container, depth + 1);
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
