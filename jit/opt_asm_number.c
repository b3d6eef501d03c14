/* What takes several instructions: division, shifts, conversions, outcomes. */
#include "jit/opt_asm.h"

enum { EXACT_BITS = 53 }; /* ints below 2 to this are doubles without rounding */

#define BYTES(opt, ...) \
	opt_asm_bytes(  \
		opt, (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

void opt_asm_zero_float(struct opt *opt, int xmm)
{
	BYTES(opt, 0x66, 0x0f, 0x57, (uint8_t)(0xc0 | xmm << 3 | xmm)); /* xorpd */
}

/* cvtsi2sd %reg, %xmm; the register is emptied first, so that nothing waits for it. */
void opt_asm_convert(struct opt *opt, int xmm, int reg)
{
	opt_asm_zero_float(opt, xmm);
	BYTES(opt, 0xf2, 0x48, 0x0f, 0x2a, (uint8_t)(0xc0 | xmm << 3 | reg));
}

/* Leaves where the number in a register may not be a double exactly; uses rdx. */
void opt_asm_check_exact(struct opt *opt, int reg, int leave)
{
	opt_asm_constant(opt, RDX, 1ull << EXACT_BITS);
	opt_asm_alu_register(opt, ALU_ADD, RDX, reg);
	BYTES(opt, 0x48, 0xc1, 0xea, EXACT_BITS + 1); /* shr $54, %rdx */
	opt_asm_branch(opt, CC_NE, leave);
}

/* The quotient of two ints is rounded once where both are doubles exactly. */
void opt_asm_divide_exact(struct opt *opt, int a, int b, int c, int leave)
{
	int32_t known;

	if (!opt_asm_known(opt, b, &known) || !known) {
		opt_asm_load(opt, RCX, b);
		opt_asm_alu_register(opt, ALU_TEST, RCX, RCX);
		opt_asm_branch(opt, CC_E, leave);
		opt_asm_check_exact(opt, RCX, leave);
	} else {
		opt_asm_load(opt, RCX, b);
	}
	opt_asm_load(opt, RAX, a);
	opt_asm_check_exact(opt, RAX, leave);
	opt_asm_convert(opt, 0, RAX);
	opt_asm_convert(opt, 1, RCX);
	BYTES(opt, 0xf2, 0x0f, 0x5e, 0xc1); /* divsd %xmm1, %xmm0 */
	opt_asm_store_float(opt, c, 0);
}

static int new_label(struct opt *opt)
{
	return opt->emitting ? emit_label(&opt->emit) : 0;
}

static void bind(struct opt *opt, int label)
{
	if (opt->emitting)
		emit_bind(&opt->emit, label);
}

static void go(struct opt *opt, int label)
{
	if (opt->emitting)
		emit_jump(&opt->emit, label);
}

static void cold(struct opt *opt, bool is_cold)
{
	if (opt->emitting)
		emit_cold(&opt->emit, is_cold);
}

/* rax divided by rcx, rounded towards minus infinity: quotient in rax, rest in rdx. */
static void divide_whole(struct opt *opt)
{
	int done = new_label(opt);

	BYTES(opt, 0x48, 0x99, 0x48, 0xf7, 0xf9); /* cqo; idiv %rcx */
	opt_asm_alu_register(opt, ALU_TEST, RDX, RDX);
	opt_asm_branch(opt, CC_E, done);
	/* push %rdx; xor %rcx, %rdx; pop %rdx: whether the signs differ. */
	BYTES(opt, 0x52, 0x48, 0x31, 0xca, 0x5a);
	opt_asm_branch(opt, CC_NS, done);
	opt_asm_alu_register(opt, ALU_ADD, RDX, RCX);
	BYTES(opt, 0x48, 0xff, 0xc8); /* dec %rax */
	bind(opt, done);
}

/* By a power of two: what a shift and a mask give is rounded as Python does it. */
static void divide_by_power(struct opt *opt, int a, int c, int32_t by, bool rest)
{
	opt_asm_load(opt, RAX, a);
	if (rest)
		opt_asm_alu_constant(opt, ALU_AND, RAX, by - 1);
	else
		BYTES(opt, 0x48, 0xc1, 0xf8,
			(uint8_t)__builtin_ctz((unsigned)by)); /* sar */
	opt_asm_store(opt, c, RAX);
}

/* By a constant d > 2: for 0 <= n < 2**32 the quotient is the upper half of n times
 * ceil(2**64 / d) (Lemire, Kaser and Kurz, Faster remainder by direct computation, 2019). */
static void divide_by_constant(struct opt *opt, int a, int c, int32_t by, bool rest)
{
	int slow = new_label(opt), done = new_label(opt);

	opt_asm_load(opt, RCX, a);
	opt_asm_alu_register(opt, ALU_LOAD, RDX, RCX);
	BYTES(opt, 0x48, 0xc1, 0xea, 32); /* shr $32, %rdx */
	opt_asm_branch(opt, CC_NE, slow);
	opt_asm_constant(opt, RAX, UINT64_MAX / (uint64_t)by + 1);
	BYTES(opt, 0x48, 0xf7, 0xe1); /* mul %rcx */
	if (rest) {
		/* imul $by, %rdx, %rdx; sub %rdx, %rcx; mov %rcx, %rdx */
		BYTES(opt, 0x48, 0x69, 0xd2, (uint8_t)by, (uint8_t)(by >> 8),
			(uint8_t)(by >> 16), (uint8_t)(by >> 24));
		opt_asm_alu_register(opt, ALU_SUB, RCX, RDX);
		opt_asm_alu_register(opt, ALU_LOAD, RDX, RCX);
	} else {
		opt_asm_alu_register(opt, ALU_LOAD, RAX, RDX);
	}
	bind(opt, done);
	opt_asm_store(opt, c, rest ? RDX : RAX);
	cold(opt, true);
	bind(opt, slow);
	opt_asm_alu_register(opt, ALU_LOAD, RAX, RCX);
	opt_asm_constant(opt, RCX, (uint64_t)by);
	divide_whole(opt);
	go(opt, done);
	cold(opt, false);
}

void opt_asm_divide(struct opt *opt, int a, int b, int c, bool rest, int leave)
{
	int slow, done;
	int32_t by;

	if (opt_asm_known(opt, b, &by) && by > 0) {
		if (!(by & (by - 1)))
			divide_by_power(opt, a, c, by, rest);
		else
			divide_by_constant(opt, a, c, by, rest);
		return;
	}
	slow = new_label(opt);
	done = new_label(opt);
	opt_asm_load(opt, RCX, b);
	opt_asm_load(opt, RAX, a);
	/* lea 1(%rcx), %rdx: neither 0 nor -1, whose quotient may overflow. */
	BYTES(opt, 0x48, 0x8d, 0x51, 1);
	opt_asm_alu_constant(opt, ALU_CMP, RDX, 1);
	opt_asm_branch(opt, CC_BE, leave);
	opt_asm_alu_register(opt, ALU_LOAD, RDX, RAX);
	opt_asm_alu_register(opt, ALU_OR, RDX, RCX);
	BYTES(opt, 0x48, 0xc1, 0xea, 32); /* shr $32, %rdx */
	opt_asm_branch(opt, CC_NE, slow);
	BYTES(opt, 0x31, 0xd2, 0xf7, 0xf1); /* xor %edx, %edx; div %ecx */
	bind(opt, done);
	opt_asm_store(opt, c, rest ? RDX : RAX);
	cold(opt, true);
	bind(opt, slow);
	divide_whole(opt);
	go(opt, done);
	cold(opt, false);
}

void opt_asm_shift(struct opt *opt, int a, int b, int c, bool left, int leave)
{
	opt_asm_load(opt, RCX, b);
	opt_asm_load(opt, RAX, a);
	/* By 62 at most: what is more goes to who knows big ints. */
	opt_asm_alu_constant(opt, ALU_CMP, RCX, 62);
	opt_asm_branch(opt, CC_A, leave);
	if (!left) {
		BYTES(opt, 0x48, 0xd3, 0xf8); /* sar %cl, %rax */
		opt_asm_store(opt, c, RAX);
		return;
	}
	opt_asm_alu_register(opt, ALU_LOAD, RDX, RAX);
	/* shl %cl, %rax; sar %cl, %rax: the same again where nothing was lost. */
	BYTES(opt, 0x48, 0xd3, 0xe0, 0x48, 0xd3, 0xf8);
	opt_asm_alu_register(opt, ALU_CMP, RAX, RDX);
	opt_asm_branch(opt, CC_NE, leave);
	BYTES(opt, 0x48, 0xd3, 0xe0); /* shl %cl, %rax */
	opt_asm_store(opt, c, RAX);
}

void opt_asm_unary(struct opt *opt, int a, int c, enum opt_unary what, int leave)
{
	opt_asm_load(opt, RAX, a);
	switch (what) {
	case OPT_NEGATE:
		BYTES(opt, 0x48, 0xf7, 0xd8); /* neg %rax */
		opt_asm_branch(opt, CC_O, leave);
		break;
	case OPT_INVERT: BYTES(opt, 0x48, 0xf7, 0xd0); break; /* not %rax */
	case OPT_ABSOLUTE:
		BYTES(opt, 0x48, 0x99); /* cqo */
		opt_asm_alu_register(opt, ALU_XOR, RAX, RDX);
		opt_asm_alu_register(opt, ALU_SUB, RAX, RDX);
		opt_asm_branch(opt, CC_O, leave);
		break;
	}
	opt_asm_store(opt, c, RAX);
}

/* A double's sign is changed, or taken away. */
void opt_asm_sign(struct opt *opt, int a, int c, bool away)
{
	opt_asm_constant(opt, RAX, away ? INT64_MAX : 1ull << 63);
	BYTES(opt, 0x66, 0x48, 0x0f, 0x6e, 0xc8); /* movq %rax, %xmm1 */
	opt_asm_load_float(opt, 0, a);
	if (away)
		BYTES(opt, 0x66, 0x0f, 0x54, 0xc1); /* andpd %xmm1, %xmm0 */
	else
		BYTES(opt, 0x66, 0x0f, 0x57, 0xc1); /* xorpd %xmm1, %xmm0 */
	opt_asm_store_float(opt, c, 0);
}

/* As math.sqrt() has it where it raises nothing. */
void opt_asm_root(struct opt *opt, int a, int c, int leave)
{
	opt_asm_load_float(opt, 0, a);
	opt_asm_zero_float(opt, 1);
	BYTES(opt, 0x66, 0x0f, 0x2e, 0xc1); /* ucomisd %xmm1, %xmm0 */
	opt_asm_branch(opt, CC_B, leave);   /* below, or no number */
	BYTES(opt, 0xf2, 0x0f, 0x51, 0xc0); /* sqrtsd %xmm0, %xmm0 */
	opt_asm_store_float(opt, c, 0);
}

/* A condition as 0 or 1 in rax. */
void opt_asm_set(struct opt *opt, enum opt_condition condition)
{
	/* setcc %al; movzx %al, %eax */
	BYTES(opt, 0x0f, (uint8_t)(0x90 | condition), 0xc0, 0x0f, 0xb6, 0xc0);
}

/* After a comparison of doubles: unordered is not equal. */
void opt_asm_set_equal(struct opt *opt, bool equal)
{
	if (equal) /* setnp %cl; sete %al; and %cl, %al */
		BYTES(opt, 0x0f, 0x9b, 0xc1, 0x0f, 0x94, 0xc0, 0x20, 0xc8);
	else /* setp %cl; setne %al; or %cl, %al */
		BYTES(opt, 0x0f, 0x9a, 0xc1, 0x0f, 0x95, 0xc0, 0x08, 0xc8);
	BYTES(opt, 0x0f, 0xb6, 0xc0); /* movzx %al, %eax */
}

void opt_asm_branch_equal(struct opt *opt, bool equal, int target)
{
	int over = equal ? new_label(opt) : 0;

	if (equal) {
		opt_asm_branch(opt, CC_P, over);
		opt_asm_branch(opt, CC_E, target);
		bind(opt, over);
	} else {
		opt_asm_branch(opt, CC_P, target);
		opt_asm_branch(opt, CC_NE, target);
	}
}

void opt_asm_is_zero(struct opt *opt, int slot, bool is_float)
{
	if (is_float) {
		opt_asm_zero_float(opt, 0);
		opt_asm_compare_float(opt, 0, slot);
		opt_asm_set_equal(opt, true);
		return;
	}
	opt_asm_load(opt, RAX, slot);
	opt_asm_alu_register(opt, ALU_TEST, RAX, RAX);
	opt_asm_set(opt, CC_E);
}

void opt_asm_move(struct opt *opt, int from, int to, bool is_float)
{
	if (is_float) {
		int home = opt_asm_home(opt, to, true);

		opt_asm_load_float(opt, home >= 0 ? home : 0, from);
		opt_asm_store_float(opt, to, home >= 0 ? home : 0);
	} else {
		int home = opt_asm_home(opt, to, false);

		opt_asm_load(opt, home >= 0 ? home : RAX, from);
		opt_asm_store(opt, to, home >= 0 ? home : RAX);
	}
}

/* movq $value, slot: of slots that are read at exits only. */
void opt_asm_put(struct opt *opt, int slot, int32_t value)
{
	int32_t offset = opt_slot_at(slot);

	BYTES(opt, 0x48, 0xc7, 0x85, (uint8_t)offset, (uint8_t)(offset >> 8),
		(uint8_t)(offset >> 16), (uint8_t)(offset >> 24), (uint8_t)value,
		(uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24));
}

/* cmpl $0, address: whether something wants attention. */
void opt_asm_poll(struct opt *opt, const volatile void *address, int leave)
{
	uint32_t low = (uint32_t)(uintptr_t)address;

	BYTES(opt, 0x83, 0x3c, 0x25, (uint8_t)low, (uint8_t)(low >> 8),
		(uint8_t)(low >> 16), (uint8_t)(low >> 24), 0);
	opt_asm_branch(opt, CC_NE, leave);
}
