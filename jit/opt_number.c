/* Arithmetic and comparisons of numbers. */
#include "jit/opt_asm.h"

#include <string.h>

/* The slot of an operand as a float, converted where it is an int or a bool. */
int opt_as_float(struct opt *opt, struct opt_item item, bool exact)
{
	int slot;

	if (item.kind == OPT_FLOAT)
		return item.slot;
	slot = opt_new_slot(opt);
	opt_asm_load(opt, RAX, item.slot);
	if (exact)
		opt_asm_check_exact(opt, RAX, opt_exit_here(opt));
	opt_asm_convert(opt, 0, RAX);
	opt_asm_store_float(opt, slot, 0);
	return slot;
}

/* The kind of number that an object may be, by an example or by the other operand. */
static int number_kind(const struct opt_item *item, const struct opt_item *other)
{
	PyObject *example;

	if (opt_is_number(item))
		return item->kind;
	if (item->kind != OPT_FRAME)
		return OPT_FRAME;
	if (item->object)
		return opt_kind_of(item->object, &example);
	return opt_is_number(other) ? other->kind : OPT_FRAME;
}

bool opt_unbox_two(struct opt *opt)
{
	int depth = opt->state.depth;
	struct opt_item *a = &opt->state.stack[depth - 2];
	struct opt_item *b = &opt->state.stack[depth - 1];
	int kinds[] = {number_kind(a, b), number_kind(b, a)};

	if (kinds[0] == OPT_FRAME || kinds[1] == OPT_FRAME)
		return false;
	if (opt_is_number(a) && opt_is_number(b))
		return true;
	if (!opt->hybrid)
		return false;
	return (opt_is_number(a) || opt_unbox(opt, depth - 2, kinds[0])) &&
	       (opt_is_number(b) || opt_unbox(opt, depth - 1, kinds[1]));
}

static const struct {
	enum opt_alu alu;
	enum opt_sse sse;
} plain[] = {
	[NB_ADD] = {ALU_ADD, SSE_ADD},
	[NB_SUBTRACT] = {ALU_SUB, SSE_SUB},
	[NB_MULTIPLY] = {ALU_IMUL, SSE_MUL},
	[NB_TRUE_DIVIDE] = {0, SSE_DIV},
	[NB_AND] = {ALU_AND, 0},
	[NB_OR] = {ALU_OR, 0},
	[NB_XOR] = {ALU_XOR, 0},
};

enum { PLAIN = sizeof(plain) / sizeof(plain[0]) };

static bool is_division(uint32_t what)
{
	return what == NB_FLOOR_DIVIDE || what == NB_REMAINDER;
}

static bool is_shift(uint32_t what)
{
	return what == NB_LSHIFT || what == NB_RSHIFT;
}

static void binary_int(struct opt *opt, uint32_t what, int a, int b, int c, int leave)
{
	if (is_division(what)) {
		opt_asm_divide(opt, a, b, c, what == NB_REMAINDER, leave);
		return;
	}
	if (is_shift(what)) {
		opt_asm_shift(opt, a, b, c, what == NB_LSHIFT, leave);
		return;
	}
	if (what == NB_TRUE_DIVIDE) {
		opt_asm_divide_exact(opt, a, b, c, leave);
		return;
	}
	opt_asm_load(opt, RAX, a);
	opt_asm_alu(opt, plain[what].alu, RAX, b);
	if (what == NB_ADD || what == NB_SUBTRACT || what == NB_MULTIPLY)
		opt_asm_branch(opt, CC_O, leave);
	opt_asm_store(opt, c, RAX);
}

static void binary_float(struct opt *opt, uint32_t what, int a, int b, int c, int leave)
{
	int home = opt_asm_home(opt, c, true);
	/* The result's own register where the second operand is not in it. */
	int xmm = home >= 0 && home != opt_asm_home(opt, b, true) ? home : 0;

	if (what == NB_TRUE_DIVIDE) {
		opt_asm_zero_float(opt, 1);
		opt_asm_compare_float(opt, 1, b);
		opt_asm_branch(opt, CC_E, leave);
	}
	opt_asm_load_float(opt, xmm, a);
	opt_asm_sse(opt, plain[what].sse, xmm, b);
	opt_asm_store_float(opt, c, xmm);
}

static bool power(struct opt *opt)
{
	struct opt_item b = opt->state.stack[opt->state.depth - 1];
	struct opt_item a = opt->state.stack[opt->state.depth - 2];
	struct emit_holes holes = {.deopt = opt_exit_saved(opt)};

	if (a.kind != OPT_FLOAT)
		return opt_refuse(opt, "power of an int");
	holes.a = opt_asm_in(opt, a.slot, true);
	holes.b = opt_asm_in(opt, opt_as_float(opt, b, false), true);
	opt_pop(opt);
	opt_pop(opt);
	holes.c = opt_asm_out(opt, opt_result_slot(opt, OPT_FLOAT), true);
	opt_stencil(opt, STENCIL_OPT_POWER_FLOAT, holes);
	return true;
}

bool opt_binary(struct opt *opt, uint32_t oparg)
{
	uint32_t what = oparg >= NB_INPLACE_ADD ? oparg - NB_INPLACE_ADD : oparg;
	bool numbers = opt_unbox_two(opt);
	struct opt_item b = opt->state.stack[opt->state.depth - 1];
	struct opt_item a = opt->state.stack[opt->state.depth - 2];
	bool floats = a.kind == OPT_FLOAT || b.kind == OPT_FLOAT;
	int first, second, result, leave;

	if (!numbers)
		return opt_refuse(opt, "operands are no numbers");
	if (what == NB_POWER)
		return power(opt);
	if (floats ? what >= PLAIN || !plain[what].sse
		   : !is_division(what) && !is_shift(what) && what != NB_TRUE_DIVIDE &&
				(what >= PLAIN || !plain[what].alu))
		return opt_refuse(opt, "operator");
	/* Bools stay bools under these. */
	if (a.kind == OPT_BOOL && b.kind == OPT_BOOL &&
		(what == NB_AND || what == NB_OR || what == NB_XOR))
		return opt_refuse(opt, "operator on bools");
	leave = opt_exit_here(opt);
	first = floats ? opt_as_float(opt, a, false) : a.slot;
	second = floats ? opt_as_float(opt, b, false) : b.slot;
	opt_pop(opt);
	opt_pop(opt);
	result = opt_result_slot(
		opt, floats || what == NB_TRUE_DIVIDE ? OPT_FLOAT : OPT_INT);
	if (floats)
		binary_float(opt, what, first, second, result, leave);
	else
		binary_int(opt, what, first, second, result, leave);
	return true;
}

bool opt_unary(struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];
	struct opt_item a = opt->state.stack[opt->state.depth - 1];
	bool is_float = a.kind == OPT_FLOAT;
	int leave, result;

	if (!opt_is_number(&a))
		return opt_refuse(opt, "operand is no number");
	if (op->opcode == UNARY_INVERT && is_float)
		return opt_refuse(opt, "operator");
	leave = opt_exit_here(opt);
	opt_pop(opt);
	if (op->opcode == UNARY_NOT) {
		result = opt_result_slot(opt, OPT_BOOL);
		opt_asm_is_zero(opt, a.slot, is_float);
		opt_asm_store(opt, result, RAX);
		return true;
	}
	result = opt_result_slot(opt, is_float ? OPT_FLOAT : OPT_INT);
	if (is_float)
		opt_asm_sign(opt, a.slot, result, false);
	else
		opt_asm_unary(opt, a.slot, result,
			op->opcode == UNARY_NEGATIVE ? OPT_NEGATE : OPT_INVERT, leave);
	return true;
}

static const struct {
	enum opt_condition ints;
	int inverse;
} conditions[] = {
	[Py_LT] = {CC_L, Py_GE},
	[Py_LE] = {CC_LE, Py_GT},
	[Py_EQ] = {CC_E, Py_NE},
	[Py_NE] = {CC_NE, Py_EQ},
	[Py_GT] = {CC_G, Py_LE},
	[Py_GE] = {CC_GE, Py_LT},
};

/* Sets the flags so that `above` (or `above or equal`) is the outcome; unordered is not. */
static enum opt_condition compare_floats(struct opt *opt, int compare, int a, int b)
{
	bool swap = compare == Py_LT || compare == Py_LE;

	opt_asm_load_float(opt, 0, swap ? b : a);
	opt_asm_compare_float(opt, 0, swap ? a : b);
	return compare == Py_LE || compare == Py_GE ? CC_AE : CC_A;
}

/* The outcome of a comparison to rax. */
static void outcome(struct opt *opt, int compare, bool floats, int a, int b)
{
	if (!floats) {
		opt_asm_load(opt, RAX, a);
		opt_asm_alu(opt, ALU_CMP, RAX, b);
		opt_asm_set(opt, conditions[compare].ints);
		return;
	}
	if (compare == Py_EQ || compare == Py_NE) {
		opt_asm_load_float(opt, 0, a);
		opt_asm_compare_float(opt, 0, b);
		opt_asm_set_equal(opt, compare == Py_EQ);
		return;
	}
	opt_asm_set(opt, compare_floats(opt, compare, a, b));
}

bool opt_compare(struct opt *opt)
{
	const struct ir_op *op = &opt->ir->ops[opt->number];
	bool numbers = opt_unbox_two(opt);
	struct opt_item b = opt->state.stack[opt->state.depth - 1];
	struct opt_item a = opt->state.stack[opt->state.depth - 2];
	bool floats = a.kind == OPT_FLOAT || b.kind == OPT_FLOAT;
	int first, second, result;

	if (!numbers)
		return opt_refuse(opt, "operands are no numbers");
	first = floats ? opt_as_float(opt, a, true) : a.slot;
	second = floats ? opt_as_float(opt, b, true) : b.slot;
	opt_pop(opt);
	opt_pop(opt);
	result = opt_result_slot(opt, OPT_BOOL);
	outcome(opt, (int)op->oparg, floats, first, second);
	opt_asm_store(opt, result, RAX);
	return true;
}

void opt_compare_jump(struct opt *opt, int compare, bool when, int target)
{
	struct opt_item b = opt->state.stack[opt->state.depth - 1];
	struct opt_item a = opt->state.stack[opt->state.depth - 2];
	bool floats = a.kind == OPT_FLOAT || b.kind == OPT_FLOAT;
	int first = floats ? opt_as_float(opt, a, true) : a.slot;
	int second = floats ? opt_as_float(opt, b, true) : b.slot;

	if (!floats) {
		opt_asm_load(opt, RAX, first);
		opt_asm_alu(opt, ALU_CMP, RAX, second);
		opt_asm_branch(opt,
			conditions[when ? compare : conditions[compare].inverse].ints,
			target);
		return;
	}
	if (compare == Py_EQ || compare == Py_NE) {
		opt_asm_load_float(opt, 0, first);
		opt_asm_compare_float(opt, 0, second);
		opt_asm_branch_equal(opt, (compare == Py_EQ) == when, target);
		return;
	}
	/* Each condition's opposite is its number with the last bit changed. */
	opt_asm_branch(opt, compare_floats(opt, compare, first, second) ^ (when ? 0 : 1),
		target);
}

void opt_truth_jump(struct opt *opt, struct opt_item item, bool when, int target)
{
	if (item.kind == OPT_FLOAT) {
		opt_asm_zero_float(opt, 0);
		opt_asm_compare_float(opt, 0, item.slot);
		opt_asm_branch_equal(opt, !when, target);
		return;
	}
	opt_asm_load(opt, RAX, item.slot);
	opt_asm_alu_register(opt, ALU_TEST, RAX, RAX);
	opt_asm_branch(opt, when ? CC_NE : CC_E, target);
}
