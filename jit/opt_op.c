/* One op of a loop: moves of values, names; the rest is in opt_number.c and opt_call.c. */
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
	if (item.kind != OPT_FRAME)
		return opt_push(opt, item);
	opt_stencil(opt, STENCIL_OPT_CHECK,
		(struct emit_holes){.a = local_at(local), .deopt = opt_exit_here(opt)});
	return opt_push(opt, (struct opt_item){.kind = OPT_FRAME,
				     .local = true,
				     .slot = (int16_t)local,
				     .object = item.object});
}

static bool store_fast(struct opt *opt, uint32_t local)
{
	struct opt_item item = opt_pop(opt);

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
		a->kind == OPT_RANGE || b->kind == OPT_RANGE || a->kind == OPT_LIST ||
		b->kind == OPT_LIST)
		return opt_refuse(opt, "swap of objects");
	*a = *b;
	*b = c;
	return true;
}

static bool copy(struct opt *opt, uint32_t oparg)
{
	struct opt_item item = opt->state.stack[opt->state.depth - (int)oparg];

	if ((item.kind == OPT_FRAME && !item.local) || item.kind == OPT_RANGE ||
		item.kind == OPT_LIST)
		return opt_refuse(opt, "copy of an object");
	return opt_push(opt, item);
}

static bool pop_top(struct opt *opt)
{
	struct opt_item item = opt_pop(opt);

	if ((item.kind == OPT_FRAME && !item.local) || item.kind == OPT_RANGE ||
		item.kind == OPT_LIST)
		return opt_refuse(opt, "drop of an object");
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
	case LOAD_CONST:
		return push_object(
			opt, PyTuple_GET_ITEM(opt->ir->code->co_consts, op->oparg));
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
	case CALL: return opt_call(opt);
	default: return opt_refuse(opt, ir_opcode_name(op->opcode));
	}
}
