/* One op of a loop: moves of values, names; the rest is in opt_number.c and opt_call.c. */
#include "jit/opt_asm.h"
#include "jit/opt_state.h"

static uint64_t local_at(uint32_t local)
{
	return offsetof(_PyInterpreterFrame, localsplus) + local * sizeof(PyObject *);
}

/* The item for an object that is known; numbers become constants in slots. */
static bool push_object(struct opt *opt, PyObject *object)
{
	if (PyBool_Check(object))
		return opt_push(opt, (struct opt_item){.kind = OPT_BOOL,
					     .slot = (int16_t)opt_int_constant(
						     opt, object == Py_True)});
	if (PyFloat_CheckExact(object))
		return opt_push(opt, (struct opt_item){.kind = OPT_FLOAT,
					     .slot = (int16_t)opt_float_constant(
						     opt, PyFloat_AS_DOUBLE(object))});
	if (PyLong_CheckExact(object)) {
		int overflow;
		long value = PyLong_AsLongAndOverflow(object, &overflow);

		if (!overflow)
			return opt_push(opt,
				(struct opt_item){.kind = OPT_INT,
					.slot = (int16_t)opt_int_constant(opt, value)});
	}
	return opt_push(opt, (struct opt_item){.kind = OPT_CONST, .object = object});
}

static bool load_const(struct opt *opt, uint32_t number)
{
	if (!push_object(opt, PyTuple_GET_ITEM(opt->ir->code->co_consts, number)))
		return false;
	if (!opt->inlined && number < INT16_MAX)
		opt->state.stack[opt->state.depth - 1].constant = (int16_t)(number + 1);
	return true;
}

static bool load_fast(struct opt *opt, uint32_t local)
{
	struct opt_item item;

	if (opt->inlined) {
		item = opt->inline_locals[local];
		if (item.kind == OPT_NULL)
			return opt_refuse(opt, "unbound local");
		return opt_push(opt, item);
	}
	item = opt->state.locals[local];
	item.origin = (int16_t)(local + 1);
	if (item.kind != OPT_FRAME)
		return opt_push(opt, item);
	opt_stencil(opt, STENCIL_OPT_CHECK,
		(struct emit_holes){.a = local_at(local), .deopt = opt_exit_here(opt)});
	return opt_push(opt, (struct opt_item){.kind = OPT_FRAME,
				     .local = true,
				     .slot = (int16_t)local,
				     .object = item.object});
}

/* A kind of number that an object may be which a local gets: what it is in the frame. */
static int store_kind(const struct opt *opt, uint32_t local, const struct opt_item *item)
{
	PyObject *object = item->object, *example;

	if (!opt->hybrid || opt->inlined || item->kind != OPT_FRAME ||
		opt_is_avoided(opt, opt->number))
		return OPT_FRAME;
	if (!object)
		object = opt->frame->localsplus[local];
	return object ? opt_kind_of(object, &example) : OPT_FRAME;
}

/* An object that is a number: the frame keeps the object, which others may have, too. */
static bool store_both(struct opt *opt, uint32_t local, int kind)
{
	int depth = opt->state.depth - 1;
	struct opt_item item = opt->state.stack[depth];

	opt_save_local(opt, (int)local);
	opt_stencil(opt, opt_unbox_stencil(kind, true),
		(struct emit_holes){.a = opt_object_at(opt, &item, depth),
			.b = (uint64_t)(int64_t)opt_slot_at((int)local),
			.deopt = opt_exit_here(opt)});
	item = opt_pop(opt);
	if (!opt_store_local(opt, local, item))
		return false;
	opt->numbered |= 1ull << local;
	opt->state.locals[local] = (struct opt_item){
		.kind = (uint8_t)kind, .slot = (int16_t)local, .synced = true};
	return true;
}

static bool store_fast(struct opt *opt, uint32_t local)
{
	int depth = opt->state.depth - 1;
	int kind = store_kind(opt, local, &opt->state.stack[depth]);
	struct opt_item item;

	if (kind != OPT_FRAME)
		return store_both(opt, local, kind);
	item = opt_pop(opt);

	if (!opt->inlined)
		return opt_store_local(opt, local, item);
	if (!opt_is_number(&item))
		return opt_refuse(opt, "inlined function stores an object");
	opt->inline_locals[local] = item;
	return true;
}

/* A global that the loop's start checks to be the same. */
static bool load_global(struct opt *opt, uint32_t oparg)
{
	PyObject *name = PyTuple_GET_ITEM(opt->ir->code->co_names, oparg >> 1);
	PyObject *object;

	if (opt->inlined)
		return opt_refuse(opt, "inlined function uses a global");
	if (!PyDict_CheckExact(opt->frame->f_globals))
		return opt_refuse(opt, "globals with a mind of their own");
	object = PyDict_GetItemWithError(opt->frame->f_globals, name);
	if (!object && PyDict_CheckExact(opt->frame->f_builtins))
		object = PyDict_GetItemWithError(opt->frame->f_builtins, name);
	if (!object) {
		PyErr_Clear();
		return opt_refuse(opt, "unknown global");
	}
	if (!opt_need(opt, (struct opt_need){.what = OPT_NEED_GLOBAL,
				   .number = oparg >> 1,
				   .object = object}))
		return false;
	if (oparg & 1 && !opt_push(opt, (struct opt_item){.kind = OPT_NULL}))
		return false;
	return push_object(opt, object);
}

static bool swap(struct opt *opt, uint32_t oparg)
{
	struct opt_item *a = &opt->state.stack[opt->state.depth - 1];
	struct opt_item *b = &opt->state.stack[opt->state.depth - (int)oparg];
	struct opt_item c = *a;

	/* An object that is in its place on the stack would have to move. */
	if ((a->kind == OPT_FRAME && !a->local) || (b->kind == OPT_FRAME && !b->local) ||
		opt_is_iterator(a->kind) || opt_is_iterator(b->kind))
		return opt_refuse(opt, "swap of objects");
	*a = *b;
	*b = c;
	return true;
}

static bool copy(struct opt *opt, uint32_t oparg)
{
	struct opt_item item = opt->state.stack[opt->state.depth - (int)oparg];

	if ((item.kind == OPT_FRAME && !item.local) || opt_is_iterator(item.kind))
		return opt_refuse(opt, "copy of an object");
	return opt_push(opt, item);
}

static bool pop_top(struct opt *opt)
{
	struct opt_item item = opt_pop(opt);

	if ((item.kind != OPT_FRAME || item.local) && !opt_is_iterator(item.kind))
		return true;
	if (!opt->hybrid || opt->inlined)
		return opt_refuse(opt, "drop of an object");
	opt_drop_entry(opt, opt->state.depth);
	return true;
}

bool opt_has_names(const struct opt *opt, const struct ir_op *op)
{
	for (int i = 1; i <= 2 && op - i >= opt->ir->ops; i++) {
		if (op[-i].opcode == KW_NAMES)
			return true;
		if (op[-i].opcode != PRECALL)
			return false;
	}
	return false;
}

/* What a closure's variable has. */
static bool load_deref(struct opt *opt, uint32_t local)
{
	PyObject *cell = opt->frame->localsplus[local];

	if (!opt->hybrid || opt->inlined || !cell || !PyCell_Check(cell) ||
		!PyCell_GET(cell))
		return opt_refuse(opt, "closure");
	opt_stencil(opt, STENCIL_OPT_LOAD_CELL,
		(struct emit_holes){.a = local_at(local),
			.b = opt_frame_at(opt, opt->state.depth),
			.deopt = opt_exit_here(opt)});
	return opt_push(
		opt, (struct opt_item){.kind = OPT_FRAME, .object = PyCell_GET(cell)});
}

/* `x is None` and its like, where one side is known. */
static bool is_op(struct opt *opt, uint32_t negate)
{
	int depth = opt->state.depth - 2;
	struct opt_item a = opt->state.stack[depth];
	struct opt_item b = opt->state.stack[depth + 1];
	struct emit_holes holes = {.c = negate};

	if (opt_is_number(&a) && b.kind == OPT_CONST && !PyLong_Check(b.object) &&
		!PyFloat_Check(b.object)) {
		opt_pop(opt);
		opt_pop(opt);
		return opt_push(opt,
			(struct opt_item){.kind = OPT_BOOL,
				.slot = (int16_t)opt_int_constant(opt, (long)negate)});
	}
	if (a.kind != OPT_FRAME || !a.local || b.kind != OPT_CONST)
		return opt_refuse(opt, "identity");
	holes.a = opt_object_at(opt, &a, depth);
	holes.b = (uintptr_t)b.object;
	opt_pop(opt);
	opt_pop(opt);
	holes.d = opt_asm_out(opt, opt_result_slot(opt, OPT_BOOL), false);
	opt_stencil(opt, STENCIL_OPT_IS, holes);
	return true;
}

bool opt_op(struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];

	if (op->handler != IR_NONE &&
		(op->opcode == STORE_SUBSCR || op->opcode == STORE_ATTR))
		return opt_refuse(opt, "store under a handler");
	switch (op->opcode) {
	case NOP:
	case PRECALL:
	case RESUME: return true;
	case LOAD_CONST: return load_const(opt, op->oparg);
	case LOAD_FAST: return load_fast(opt, op->oparg);
	case STORE_FAST: return store_fast(opt, op->oparg);
	case LOAD_GLOBAL: return load_global(opt, op->oparg);
	case PUSH_NULL: return opt_push(opt, (struct opt_item){.kind = OPT_NULL});
	case POP_TOP: return pop_top(opt);
	case COPY: return copy(opt, op->oparg);
	case SWAP: return swap(opt, op->oparg);
	case BINARY_OP: return opt_binary(opt, op->oparg);
	case COMPARE_OP: return opt_compare(opt);
	case UNARY_NEGATIVE:
	case UNARY_INVERT:
	case UNARY_NOT: return opt_unary(opt);
	case BINARY_SUBSCR: return opt_subscript(opt);
	case STORE_SUBSCR: return opt_store_subscript(opt);
	case LOAD_ATTR: return opt_load_attribute(opt);
	case STORE_ATTR: return opt_store_attribute(opt);
	case UNPACK_SEQUENCE: return opt_unpack(opt);
	case GET_ITER: return opt_get_iter(opt);
	case CALL:
		if (opt_has_names(opt, op))
			return opt_refuse(opt, "call with keywords");
		return opt_call(opt);
	case LOAD_METHOD: return opt_load_method(opt);
	case BUILD_SLICE: return opt_build_slice(opt, op->oparg);
	case LOAD_DEREF: return load_deref(opt, op->oparg);
	case IS_OP: return is_op(opt, op->oparg);
	default: return opt_refuse(opt, ir_opcode_name(op->opcode));
	}
}
