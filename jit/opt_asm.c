/* A small assembler for numbers. Encodings: Intel's manual, volume 2. */
#include "jit/opt_asm.h"

#include <stdlib.h>
#include <string.h>

struct code {
	uint8_t bytes[24];
	size_t size;
};

static void put(struct code *code, uint8_t byte)
{
	code->bytes[code->size++] = byte;
}

static void put32(struct code *code, int32_t value)
{
	memcpy(code->bytes + code->size, &value, sizeof(value));
	code->size += sizeof(value);
}

static void flush(struct opt *opt, const struct code *code)
{
	if (opt->emitting)
		emit_bytes(&opt->emit, code->bytes, code->size);
}

void opt_asm_bytes(struct opt *opt, const void *bytes, size_t size)
{
	if (opt->emitting)
		emit_bytes(&opt->emit, bytes, size);
}

static void put_opcode(struct code *code, int op)
{
	if (op > 0xff)
		put(code, (uint8_t)(op >> 8));
	put(code, (uint8_t)op);
}

/* Prefix, opcode and operands: register and register. */
static struct code two_registers(uint8_t prefix, bool wide, int op, int reg, int other)
{
	struct code code = {.size = 0};
	uint8_t rex = (uint8_t)(0x40 | (wide ? 8 : 0) | (reg >> 3) << 2 | other >> 3);

	if (prefix)
		put(&code, prefix);
	if (rex != 0x40)
		put(&code, rex);
	put_opcode(&code, op);
	put(&code, (uint8_t)(0xc0 | (reg & 7) << 3 | (other & 7)));
	return code;
}

/* Register and [base + offset]. */
static struct code with_memory(
	uint8_t prefix, bool wide, int op, int reg, int base, int32_t offset)
{
	struct code code = {.size = 0};
	uint8_t rex = (uint8_t)(0x40 | (wide ? 8 : 0) | (reg >> 3) << 2 | base >> 3);
	bool is_short = offset >= -128 && offset < 128;

	if (prefix)
		put(&code, prefix);
	if (rex != 0x40)
		put(&code, rex);
	put_opcode(&code, op);
	put(&code, (uint8_t)((is_short ? 0x40 : 0x80) | (reg & 7) << 3 | (base & 7)));
	if ((base & 7) == RSP)
		put(&code, 0x24);
	if (is_short)
		put(&code, (uint8_t)offset);
	else
		put32(&code, offset);
	return code;
}

static void count(struct opt *opt, int slot, bool is_float)
{
	if (opt->emitting && opt->weights)
		opt->weights[2 * slot + is_float] += opt->weight;
}

int opt_asm_home(const struct opt *opt, int slot, bool is_float)
{
	return opt->homes ? opt->homes[2 * slot + is_float] - 1 : -1;
}

static void with_slot(
	struct opt *opt, uint8_t prefix, int op, int reg, int slot, bool is_float)
{
	int home = opt_asm_home(opt, slot, is_float);
	struct code code;

	count(opt, slot, is_float);
	if (home >= 0)
		code = two_registers(prefix, !is_float, op, reg, home);
	else
		code = with_memory(prefix, !is_float, op, reg, RBP, opt_slot_at(slot));
	flush(opt, &code);
}

void opt_asm_alu(struct opt *opt, enum opt_alu op, int reg, int slot)
{
	int32_t value;

	if (op != ALU_IMUL && op != ALU_LOAD && opt_asm_known(opt, slot, &value))
		opt_asm_alu_constant(opt, op, reg, value);
	else
		with_slot(opt, 0, (int)op, reg, slot, false);
}

void opt_asm_load(struct opt *opt, int reg, int slot)
{
	int32_t value;

	if (opt_asm_known(opt, slot, &value))
		opt_asm_constant(opt, reg, (uint64_t)(int64_t)value);
	else if (opt_asm_home(opt, slot, false) != reg)
		opt_asm_alu(opt, ALU_LOAD, reg, slot);
}

void opt_asm_store(struct opt *opt, int slot, int reg)
{
	if (opt_asm_home(opt, slot, false) != reg)
		with_slot(opt, 0, 0x89, reg, slot, false);
}

void opt_asm_sse(struct opt *opt, enum opt_sse op, int xmm, int slot)
{
	with_slot(opt, 0xf2, 0x0f00 | (int)op, xmm, slot, true);
}

void opt_asm_compare_float(struct opt *opt, int xmm, int slot)
{
	with_slot(opt, 0x66, 0x0f2e, xmm, slot, true);
}

/* Between registers the whole register is moved: movsd would wait for its upper half. */
static void move_float(struct opt *opt, int to, int from)
{
	struct code code = two_registers(0, false, 0x0f28, to, from);

	flush(opt, &code);
}

void opt_asm_load_float(struct opt *opt, int xmm, int slot)
{
	int home = opt_asm_home(opt, slot, true);

	if (home < 0) {
		opt_asm_sse(opt, SSE_LOAD, xmm, slot);
		return;
	}
	count(opt, slot, true);
	if (home != xmm)
		move_float(opt, xmm, home);
}

void opt_asm_store_float(struct opt *opt, int slot, int xmm)
{
	int home = opt_asm_home(opt, slot, true);

	if (home < 0) {
		with_slot(opt, 0xf2, 0x0f11, xmm, slot, true);
		return;
	}
	count(opt, slot, true);
	if (home != xmm)
		move_float(opt, home, xmm);
}

void opt_asm_alu_register(struct opt *opt, enum opt_alu op, int reg, int other)
{
	struct code code = two_registers(0, true, (int)op, reg, other);

	flush(opt, &code);
}

void opt_asm_alu_constant(struct opt *opt, enum opt_alu op, int reg, int32_t value)
{
	struct code code = {.size = 0};
	bool is_short = value >= -128 && value < 128;

	put(&code, (uint8_t)(0x48 | reg >> 3));
	put(&code, is_short ? 0x83 : 0x81);
	put(&code, (uint8_t)(0xc0 | ((int)op & 0x38) | (reg & 7)));
	if (is_short)
		put(&code, (uint8_t)value);
	else
		put32(&code, value);
	flush(opt, &code);
}

void opt_asm_constant(struct opt *opt, int reg, uint64_t value)
{
	struct code code = {.size = 0};

	if (value <= INT32_MAX) { /* mov $imm32, %r32: zero-extended */
		if (reg >> 3)
			put(&code, 0x41);
		put(&code, (uint8_t)(0xb8 | (reg & 7)));
		put32(&code, (int32_t)value);
	} else {
		put(&code, (uint8_t)(0x48 | reg >> 3));
		put(&code, (uint8_t)(0xb8 | (reg & 7)));
		memcpy(code.bytes + code.size, &value, sizeof(value));
		code.size += sizeof(value);
	}
	flush(opt, &code);
}

void opt_asm_alu_memory(
	struct opt *opt, enum opt_alu op, int reg, int base, int32_t offset)
{
	struct code code = with_memory(0, true, (int)op, reg, base, offset);

	flush(opt, &code);
}

void opt_asm_store_memory(struct opt *opt, int base, int32_t offset, int reg)
{
	struct code code = with_memory(0, true, 0x89, reg, base, offset);

	flush(opt, &code);
}

void opt_asm_branch(struct opt *opt, enum opt_condition condition, int label)
{
	if (opt->emitting)
		emit_branch(&opt->emit, (int)condition, label);
}

bool opt_asm_known(const struct opt *opt, int slot, int32_t *value)
{
	const struct opt_fragment *f = opt->fragment;

	for (size_t i = 0; i < f->constant_count; i++) {
		int64_t number = (int64_t)f->constants[i].bits;

		if (f->constants[i].slot == slot) {
			*value = (int32_t)number;
			return number == *value;
		}
	}
	return false;
}

/* A home's content to its place under rbp (`out`), or from there. */
static void transfer(struct opt *opt, int slot, bool is_float, bool out)
{
	int home = opt_asm_home(opt, slot, is_float);
	struct code code;

	if (home < 0)
		return;
	if (is_float)
		code = with_memory(
			0xf2, false, out ? 0x0f11 : 0x0f10, home, RBP, opt_slot_at(slot));
	else
		code = with_memory(
			0, true, out ? 0x89 : 0x8b, home, RBP, opt_slot_at(slot));
	flush(opt, &code);
}

static void transfer_all(struct opt *opt, bool out)
{
	for (int i = 0; opt->homes && i < 2 * OPT_SLOTS; i++) {
		if (opt->homes[i])
			transfer(opt, i / 2, i & 1, out);
	}
}

void opt_asm_save(struct opt *opt)
{
	transfer_all(opt, true);
}

void opt_asm_restore(struct opt *opt)
{
	transfer_all(opt, false);
}

void opt_asm_save_value(struct opt *opt, const struct opt_value *value)
{
	if (value->kind == OPT_FLOAT)
		transfer(opt, value->slot, true, true);
	else if (value->kind == OPT_INT || value->kind == OPT_BOOL)
		transfer(opt, value->slot, false, true);
}

void opt_asm_reload(struct opt *opt, int slot, bool is_float)
{
	transfer(opt, slot, is_float, false);
}

uint64_t opt_asm_in(struct opt *opt, int slot, bool is_float)
{
	count(opt, slot, is_float);
	transfer(opt, slot, is_float, true);
	return (uint64_t)(int64_t)opt_slot_at(slot);
}

uint64_t opt_asm_out(struct opt *opt, int slot, bool is_float)
{
	count(opt, slot, is_float);
	if (opt->emitting && opt_asm_home(opt, slot, is_float) >= 0 &&
		opt->reload_count < OPT_RELOADS)
		opt->reloads[opt->reload_count++] = 2 * slot + is_float;
	return (uint64_t)(int64_t)opt_slot_at(slot);
}

/* The most used slots get the registers, one by one. */
static void choose(struct opt *opt, bool floats, const uint8_t *registers, int room)
{
	for (int k = 0; k < room; k++) {
		uint64_t most = 1;
		int best = -1;

		for (int slot = 0; slot < OPT_SLOTS; slot++) {
			int i = 2 * slot + floats;
			int32_t value;

			if (opt->weights[i] <= most || opt->homes[i] ||
				(!floats && opt_asm_known(opt, slot, &value)))
				continue;
			most = opt->weights[i];
			best = i;
		}
		if (best < 0)
			return;
		opt->homes[best] = (uint8_t)(registers[k] + 1);
	}
}

void opt_asm_choose(struct opt *opt, bool leaf)
{
	/* Those that stencils and C functions keep first. */
	static const uint8_t whole[] = {RBX, R13, R15, RSI, RDI, R8, R9, R10, R11};
	static const uint8_t xmm[] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

	choose(opt, false, whole, leaf ? 9 : 3);
	choose(opt, true, xmm, 12);
}
