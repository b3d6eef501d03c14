/* Calls in a loop: builtins done in place, and small functions of arithmetic inlined.
 *
 * An inlined function has no frame. It only computes, so whatever it cannot do is left at
 * the call itself: the interpreter then makes the call as if nothing had happened. */
#include "jit/opt_asm.h"

#include <string.h>

enum { INLINE_OPS = 60 };

static PyObject *builtin(const char *name)
{
	return PyDict_GetItemString(PyEval_GetBuiltins(), name);
}

static void drop(struct opt *opt, int count)
{
	while (count-- > 0)
		opt_pop(opt);
}

static bool call_abs(struct opt *opt, struct opt_item a)
{
	bool is_float = a.kind == OPT_FLOAT;
	int leave = opt_exit_here(opt), result;

	drop(opt, 3);
	result = opt_result_slot(opt, is_float ? OPT_FLOAT : OPT_INT);
	if (is_float)
		opt_asm_sign(opt, a.slot, result, true);
	else
		opt_asm_unary(opt, a.slot, result, OPT_ABSOLUTE, leave);
	return true;
}

static bool call_float(struct opt *opt, struct opt_item a)
{
	int slot = opt_as_float(opt, a, false);

	drop(opt, 3);
	return opt_push(opt, (struct opt_item){.kind = OPT_FLOAT, .slot = (int16_t)slot});
}

static bool call_length(struct opt *opt, struct opt_item a)
{
	struct emit_holes holes = {.deopt = opt_exit_here(opt)};

	if (a.kind != OPT_FRAME || !a.local)
		return opt_refuse(opt, "len()");
	holes.a = offsetof(_PyInterpreterFrame, localsplus) +
		  (uint64_t)a.slot * sizeof(PyObject *);
	drop(opt, 3);
	holes.b = opt_asm_out(opt, opt_result_slot(opt, OPT_INT), false);
	opt_stencil(opt, STENCIL_OPT_LENGTH, holes);
	return true;
}

/* range() that is iterated over at once. */
static bool call_range(struct opt *opt, int count)
{
	const struct ir_op *next = &opt->ir->ops[opt->number + 1];
	const struct opt_item *arguments = &opt->state.stack[opt->state.depth - count];
	int depth = opt->state.depth - count - 2;
	struct emit_holes holes = {.deopt = opt_exit_saved(opt)};
	int slots[3];

	if (opt->inlined || next->opcode != GET_ITER || next->flags & IR_LEADER ||
		count < 1 || count > 3)
		return opt_refuse(opt, "range()");
	for (int i = 0; i < count; i++) {
		if (arguments[i].kind != OPT_INT)
			return opt_refuse(opt, "range() of other than ints");
		slots[i] = arguments[i].slot;
	}
	holes.a =
		opt_asm_in(opt, count == 1 ? opt_int_constant(opt, 0) : slots[0], false);
	holes.b = opt_asm_in(opt, count == 1 ? slots[0] : slots[1], false);
	holes.c =
		opt_asm_in(opt, count == 3 ? slots[2] : opt_int_constant(opt, 1), false);
	holes.d = opt_frame_at(opt, depth);
	opt_stencil(opt, STENCIL_OPT_RANGE, holes);
	drop(opt, count + 2);
	opt->skip = 1;
	return opt_push(opt, (struct opt_item){.kind = OPT_RANGE});
}

static bool call_sqrt(struct opt *opt, struct opt_item a)
{
	int leave = opt_exit_here(opt);
	int slot = opt_as_float(opt, a, false);

	drop(opt, 3);
	opt_asm_root(opt, slot, opt_result_slot(opt, OPT_FLOAT), leave);
	return true;
}

static bool is_named(PyObject *callee, const char *module, const char *name)
{
	PyObject *owner = PyCFunction_CheckExact(callee)
				  ? ((PyCFunctionObject *)callee)->m_module
				  : NULL;

	return owner && PyUnicode_Check(owner) &&
	       PyUnicode_CompareWithASCIIString(owner, module) == 0 &&
	       strcmp(((PyCFunctionObject *)callee)->m_ml->ml_name, name) == 0;
}

static bool call_builtin(struct opt *opt, PyObject *callee, int count)
{
	struct opt_item a = opt->state.stack[opt->state.depth - 1];

	if (callee == (PyObject *)&PyRange_Type)
		return call_range(opt, count);
	if (callee == (PyObject *)&PyEnum_Type || callee == (PyObject *)&PyZip_Type)
		return opt_call_pair(opt, callee, count);
	if (count == 1 && opt_is_number(&a)) {
		if (callee == builtin("abs"))
			return call_abs(opt, a);
		if (callee == (PyObject *)&PyFloat_Type)
			return call_float(opt, a);
		if (is_named(callee, "math", "sqrt"))
			return call_sqrt(opt, a);
	}
	if (count == 1 && callee == builtin("len"))
		return call_length(opt, a);
	return opt_refuse(opt, "call of a builtin");
}

static bool can_inline(
	const PyFunctionObject *function, const PyCodeObject *code, int count)
{
	const int flags = CO_VARARGS | CO_VARKEYWORDS | CO_GENERATOR | CO_COROUTINE |
			  CO_ASYNC_GENERATOR;

	(void)function;
	return code->co_argcount == count && !code->co_kwonlyargcount &&
	       !(code->co_flags & flags) && code->co_flags & CO_OPTIMIZED &&
	       code->co_nlocalsplus == code->co_nlocals &&
	       code->co_nlocals <= OPT_LOCALS &&
	       !PyBytes_GET_SIZE(code->co_exceptiontable);
}

/* Its ops, of which none may jump, up to the return. */
static bool inline_ops(struct opt *opt)
{
	for (opt->number = 0; opt->number < opt->ir->op_count; opt->number++) {
		const struct ir_op *op = &opt->ir->ops[opt->number];

		if (op->opcode == RETURN_VALUE)
			return true;
		if (op->target != IR_NONE)
			return opt_refuse(opt, "inlined function jumps");
		opt->skip = 0;
		if (!opt_op(opt))
			return false;
		opt->number += opt->skip;
	}
	return opt_refuse(opt, "inlined function does not return");
}

/* Arguments as an inlined function has them: numbers, or objects borrowed from where they
 * are. */
static bool take_arguments(struct opt *opt, int base, int count, struct opt_item *locals)
{
	PyObject *example;

	for (int i = 0; i < count; i++) {
		struct opt_item *item = &opt->state.stack[base + i];
		int kind = item->kind == OPT_FRAME && item->object
				   ? opt_kind_of(item->object, &example)
				   : OPT_FRAME;

		if (kind != OPT_FRAME && opt->hybrid && !opt->inlined) {
			if (!opt_unbox(opt, base + i, kind))
				return false;
		} else if (item->kind == OPT_FRAME && !item->local) {
			if (opt->inlined)
				return opt_refuse(opt, "object handed on");
			opt_check_shared(opt, base + i);
		}
		locals[i] = *item;
		if (item->kind == OPT_FRAME && !item->local) {
			locals[i].local = true;
			locals[i].slot = (int16_t)opt_stack_slot(opt, base + i);
		}
	}
	return true;
}

/* Objects among the arguments go. */
static void drop_arguments(struct opt *opt, int base, int count)
{
	for (int i = 0; i < count; i++) {
		const struct opt_item *item = &opt->state.stack[base + i];

		if (item->kind == OPT_FRAME && !item->local)
			opt_stencil(opt, STENCIL_OPT_RELEASE,
				(struct emit_holes){.a = opt_frame_at(opt, base + i)});
	}
}

static bool call_inline(struct opt *opt, PyFunctionObject *function, int count)
{
	PyCodeObject *code = (PyCodeObject *)function->func_code;
	struct opt_item locals[OPT_LOCALS] = {{0}};
	struct opt_state before;
	const struct ir *outer = opt->ir;
	struct opt_item *outer_locals = opt->inline_locals;
	const struct opt_state *outer_state = opt->call_state;
	int number = opt->number, base = opt->state.depth - count;
	struct opt_item result;
	struct ir ir;
	const char *why;
	bool good;

	if (!can_inline(function, code, count) || opt->inlined >= OPT_INLINE_DEPTH)
		return opt_refuse(opt, "call of a function");
	if (ir_build(&ir, code, &why) || ir.op_count > INLINE_OPS) {
		ir_release(&ir);
		return opt_refuse(opt, "call of a large function");
	}
	if (!take_arguments(opt, base, count, locals)) {
		ir_release(&ir);
		return false;
	}
	before = opt->state;
	for (int i = count; i < code->co_nlocals; i++)
		locals[i].kind = OPT_NULL;
	if (!outer_state) {
		opt->call_state = &before;
		opt->call_number = number;
	}
	opt->ir = &ir;
	opt->inlined++;
	opt->inline_locals = locals;
	good = inline_ops(opt);
	opt->inlined--;
	opt->inline_locals = outer_locals;
	opt->ir = outer;
	opt->number = number;
	opt->skip = 0;
	opt->call_state = outer_state;
	ir_release(&ir);
	if (!good)
		return false;
	result = opt_pop(opt);
	if (!opt_is_number(&result))
		return opt_refuse(opt, "inlined function returns no number");
	drop_arguments(opt, base, count);
	opt->state.depth = base - 2;
	return opt_push(opt, result);
}

bool opt_call(struct opt *opt)
{
	int count = (int)opt->ir->ops[opt->number].oparg;
	const struct opt_item *callee = &opt->state.stack[opt->state.depth - count - 1];

	uint32_t version;

	if (count == 1 && callee[0].object && opt_call_method(opt))
		return true;
	if (opt->refusal && !strcmp(opt->refusal, "call of a method"))
		opt->refusal = NULL;
	/* Under the arguments: NULL and the callable. */
	if (callee[-1].kind != OPT_NULL || callee->kind != OPT_CONST)
		return opt_refuse(opt, "call of what is not known");
	if (!PyFunction_Check(callee->object))
		return call_builtin(opt, callee->object, count);
	version =
		_PyFunction_GetVersionForCurrentState((PyFunctionObject *)callee->object);
	if (!version || !opt_need(opt, (struct opt_need){.what = OPT_NEED_FUNCTION,
					       .object = callee->object,
					       .number = version}))
		return opt_refuse(opt, "function without a version");
	return call_inline(opt, (PyFunctionObject *)callee->object, count);
}
