/* Unwinding by libdw's call frame information, evaluated on the copied stack. What to do
 * at an address is worked out once and kept. */
#include "annotate/unwind.h"
#include "launcher/base.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	/* DWARF's numbers of x86-64 (psABI, figure 3.36). */
	RBP = 6,
	RSP = 7,
	RIP = 16,
	REGISTERS = 17,
	TABLE_BITS = 16,
	STACK_ROOM = 16, /* of an expression */
};

/* perf's numbers (arch/x86/include/uapi/asm/perf_regs.h) to DWARF's. */
static const int dwarf_of_perf[] = {0, 3, 2, 1, 4, 5, RBP, RSP, RIP, -1, -1, -1, -1, -1,
	-1, -1, 8, 9, 10, 11, 12, 13, 14, 15};

enum rule_kind {
	RULE_SAME,
	RULE_AT,    /* saved at the CFA plus `offset` */
	RULE_VALUE, /* is the CFA plus `offset` */
	RULE_LOST,
	RULE_EXPRESSION,
};

struct rule {
	enum rule_kind kind;
	int64_t offset;
	const Dwarf_Op *ops;
	size_t count;
};

/* How to leave the frame at one address. */
struct step {
	struct module *module;
	uint64_t pc; /* the module's own */
	bool known;
	int cfa_register; /* -1: by `cfa_ops` */
	int64_t cfa_offset;
	const Dwarf_Op *cfa_ops;
	size_t cfa_count;
	struct rule rules[REGISTERS];
	Dwarf_Frame *frame; /* owns the ops */
};

struct table { /* the unwind tables of one file */
	struct module *module;
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi; /* NULL: none */
};

struct unwind {
	struct table *tables;
	size_t table_count;
	struct step **steps; /* 1 << TABLE_BITS, once one is needed */
};

struct state {
	uint64_t registers[REGISTERS];
	bool valid[REGISTERS];
	uint64_t stack_at; /* address of the copy's first byte */
	const uint8_t *stack;
	uint64_t stack_size;
};

struct unwind *unwind_new(void)
{
	return xcalloc(1, sizeof(struct unwind));
}

static void free_step(struct step *step)
{
	if (step)
		free(step->frame);
	free(step);
}

void unwind_free(struct unwind *unwind)
{
	if (!unwind)
		return;
	for (size_t i = 0; unwind->steps && i < 1 << TABLE_BITS; i++)
		free_step(unwind->steps[i]);
	for (size_t i = 0; i < unwind->table_count; i++) {
		struct table *table = &unwind->tables[i];
		dwarf_cfi_end(table->cfi);
		elf_end(table->elf);
		base_close_descriptor(&table->fd);
	}
	free(unwind->steps);
	free(unwind->tables);
	free(unwind);
}

static Dwarf_CFI *table_of(struct unwind *unwind, struct module *module)
{
	for (size_t i = 0; i < unwind->table_count; i++)
		if (unwind->tables[i].module == module)
			return unwind->tables[i].cfi;
	unwind->tables = xreallocarray(
		unwind->tables, unwind->table_count + 1, sizeof(*unwind->tables));
	struct table *table = &unwind->tables[unwind->table_count++];
	*table = (struct table){module, -1, NULL, NULL};
	if (!module->found)
		return NULL;
	elf_version(EV_CURRENT);
	table->fd = open(module->found, O_RDONLY | O_CLOEXEC);
	table->elf = table->fd < 0 ? NULL : elf_begin(table->fd, ELF_C_READ_MMAP, NULL);
	table->cfi = table->elf ? dwarf_getcfi_elf(table->elf) : NULL;
	return table->cfi;
}

static bool read_word(const struct state *state, uint64_t address, uint64_t *value)
{
	uint64_t within = address - state->stack_at;

	if (address < state->stack_at || state->stack_size < 8 ||
		within > state->stack_size - 8)
		return false;
	memcpy(value, state->stack + within, sizeof(*value));
	return true;
}

static bool is_breg(const Dwarf_Op *op, int *number, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*number = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
		return *number < REGISTERS;
	}
	if (op->atom == DW_OP_bregx) {
		*number = (int)op->number;
		*offset = (int64_t)op->number2;
		return op->number < REGISTERS;
	}
	return false;
}

/* The operations that occur in unwind tables: those of the PLT and of signal frames. */
static bool apply_operation(const struct state *state, const Dwarf_Op *op, uint64_t cfa,
	uint64_t *stack, int *depth)
{
	int number;
	int64_t offset;
	uint64_t top = *depth ? stack[*depth - 1] : 0;
	uint64_t below = *depth > 1 ? stack[*depth - 2] : 0;

	if (*depth >= STACK_ROOM - 1)
		return false;
	if (is_breg(op, &number, &offset)) {
		if (!state->valid[number])
			return false;
		stack[(*depth)++] = state->registers[number] + (uint64_t)offset;
		return true;
	}
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		stack[(*depth)++] = (uint64_t)(op->atom - DW_OP_lit0);
		return true;
	}
	switch (op->atom) {
	case DW_OP_call_frame_cfa: stack[(*depth)++] = cfa; return true;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_constu:
	case DW_OP_consts: stack[(*depth)++] = op->number; return true;
	case DW_OP_stack_value:
	case DW_OP_nop: return true;
	case DW_OP_deref: return *depth > 0 && read_word(state, top, &stack[*depth - 1]);
	case DW_OP_plus_uconst:
		stack[*depth ? *depth - 1 : 0] = top + op->number;
		return *depth > 0;
	}
	if (*depth < 2)
		return false;
	--*depth;
	uint64_t *result = &stack[*depth - 1];
	switch (op->atom) {
	case DW_OP_plus: *result = below + top; return true;
	case DW_OP_minus: *result = below - top; return true;
	case DW_OP_and: *result = below & top; return true;
	case DW_OP_or: *result = below | top; return true;
	case DW_OP_mul: *result = below * top; return true;
	case DW_OP_shl: *result = top < 64 ? below << top : 0; return true;
	case DW_OP_ge: *result = (int64_t)below >= (int64_t)top; return true;
	case DW_OP_gt: *result = (int64_t)below > (int64_t)top; return true;
	case DW_OP_le: *result = (int64_t)below <= (int64_t)top; return true;
	case DW_OP_lt: *result = (int64_t)below < (int64_t)top; return true;
	case DW_OP_eq: *result = below == top; return true;
	case DW_OP_ne: *result = below != top; return true;
	}
	return false;
}

static bool evaluate(const struct state *state, const Dwarf_Op *ops, size_t count,
	uint64_t cfa, uint64_t *value)
{
	uint64_t stack[STACK_ROOM] = {0};
	int depth = 0;

	for (size_t i = 0; i < count; i++)
		if (!apply_operation(state, &ops[i], cfa, stack, &depth))
			return false;
	*value = depth ? stack[depth - 1] : 0;
	return depth > 0;
}

/* libdw gives a register's rule as an expression; the usual ones are kept plainly. */
static struct rule make_rule(Dwarf_Frame *frame, int number)
{
	Dwarf_Op memory[3], *ops = NULL;
	size_t count = 0;

	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return (struct rule){.kind = RULE_LOST};
	if (count == 0)
		return (struct rule){.kind = ops == NULL ? RULE_SAME : RULE_LOST};
	if (ops[0].atom == DW_OP_call_frame_cfa && count == 1)
		return (struct rule){.kind = RULE_AT};
	if (ops[0].atom == DW_OP_call_frame_cfa && count == 2 &&
		ops[1].atom == DW_OP_plus_uconst)
		return (struct rule){.kind = RULE_AT, .offset = (int64_t)ops[1].number};
	if (ops[0].atom == DW_OP_call_frame_cfa &&
		ops[count - 1].atom == DW_OP_stack_value)
		return (struct rule){.kind = RULE_VALUE,
			.offset = count == 3 ? (int64_t)ops[1].number : 0};
	if (ops == memory) /* short-lived: not an expression of the table */
		return (struct rule){.kind = RULE_LOST};
	return (struct rule){.kind = RULE_EXPRESSION, .ops = ops, .count = count};
}

static void fill_step(struct step *step, Dwarf_CFI *cfi)
{
	Dwarf_Op *ops;
	size_t count;

	if (!cfi || dwarf_cfi_addrframe(cfi, step->pc, &step->frame) != 0)
		return;
	if (dwarf_frame_cfa(step->frame, &ops, &count) != 0 || count == 0)
		return;
	step->cfa_register = -1;
	step->cfa_ops = ops;
	step->cfa_count = count;
	if (count == 1 && is_breg(&ops[0], &step->cfa_register, &step->cfa_offset))
		step->cfa_ops = NULL;
	for (int i = 0; i < REGISTERS; i++)
		step->rules[i] = make_rule(step->frame, i);
	step->known = true;
}

static struct step *find_step(struct unwind *unwind, struct module *module, uint64_t pc)
{
	size_t place = (pc * 0x9e3779b97f4a7c15u ^ (uintptr_t)module >> 4) >> 32 &
		       ((1 << TABLE_BITS) - 1);
	if (!unwind->steps)
		unwind->steps = xcalloc(1 << TABLE_BITS, sizeof(struct step *));
	struct step *step = unwind->steps[place];

	if (step && step->module == module && step->pc == pc)
		return step;
	free_step(step);
	step = unwind->steps[place] = xcalloc(1, sizeof(*step));
	step->module = module;
	step->pc = pc;
	step->cfa_register = -1;
	fill_step(step, table_of(unwind, module));
	return step;
}

static bool apply_step(struct state *state, const struct step *step)
{
	struct state next = *state;
	uint64_t cfa;

	if (step->cfa_register >= 0) {
		if (!state->valid[step->cfa_register])
			return false;
		cfa = state->registers[step->cfa_register] + (uint64_t)step->cfa_offset;
	} else if (!evaluate(state, step->cfa_ops, step->cfa_count, 0, &cfa)) {
		return false;
	}
	for (int i = 0; i < REGISTERS; i++) {
		const struct rule *rule = &step->rules[i];
		uint64_t at = cfa + (uint64_t)rule->offset;
		switch (rule->kind) {
		case RULE_SAME: break;
		case RULE_AT:
			next.valid[i] = read_word(state, at, &next.registers[i]);
			break;
		case RULE_VALUE:
			next.registers[i] = at;
			next.valid[i] = true;
			break;
		case RULE_LOST: next.valid[i] = false; break;
		case RULE_EXPRESSION:
			next.valid[i] =
				evaluate(state, rule->ops, rule->count, cfa, &at) &&
				read_word(state, at, &next.registers[i]);
			break;
		}
	}
	next.registers[RSP] = cfa;
	next.valid[RSP] = true;
	/* The return address is lost at the outermost frame, by which tables mark it. */
	if (step->rules[RIP].kind == RULE_SAME)
		return false;
	*state = next;
	return state->valid[RIP];
}

/* A frame with rbp pushed; `entered` is how many bytes of its code ran: 0, the push is
 * still to come, 1, the move is. */
static bool step_by_rbp(struct state *state, uint64_t entered)
{
	uint64_t at = state->registers[entered <= 1 ? RSP : RBP];

	if (entered == 0) {
		if (!state->valid[RSP] || !read_word(state, at, &state->registers[RIP]))
			return false;
		state->registers[RSP] = at + 8;
		return true;
	}
	if (!state->valid[entered == 1 ? RSP : RBP])
		return false;
	uint64_t rbp, rip;
	if (!read_word(state, at, &rbp) || !read_word(state, at + 8, &rip))
		return false;
	state->registers[RBP] = rbp;
	state->registers[RIP] = rip;
	state->registers[RSP] = at + 16;
	state->valid[RSP] = state->valid[RBP] = true;
	return true;
}

static bool step_out(struct unwind *unwind, struct input *input, struct process *process,
	uint64_t time, struct state *state, bool first)
{
	uint64_t pc = state->registers[RIP], own;
	/* A return address may lie behind its function's end. */
	uint64_t look = first ? pc : pc - 1;
	struct mapping *mapping = machine_mapping(process, look, time, NULL);
	bool late;

	if (mapping && mapping->file &&
		input_module_address(input, mapping, look, &own) == 0) {
		struct step *step = find_step(unwind, mapping->module, own);
		if (step->known)
			return apply_step(state, step);
	}
	struct code_place *place = input_code(process, look, time, NULL, &late);
	uint64_t entered = first && place ? pc - place->address : UINT64_MAX;
	return step_by_rbp(state, entered);
}

static bool start(struct state *state, const struct attr *attr,
	const struct attr_sample_data *sample)
{
	struct bytes registers = sample->regs;

	*state = (struct state){.stack = sample->stack, .stack_size = sample->stack_size};
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(attr->regs_user >> bit & 1))
			continue;
		uint64_t value = bytes_u64(&registers);
		if (bit < ARRAY_SIZE(dwarf_of_perf) && dwarf_of_perf[bit] >= 0) {
			state->registers[dwarf_of_perf[bit]] = value;
			state->valid[dwarf_of_perf[bit]] = true;
		}
	}
	state->stack_at = state->registers[RSP];
	return !registers.failed && state->valid[RIP] && state->valid[RSP];
}

size_t unwind_sample(struct unwind *unwind, struct input *input, struct process *process,
	const struct attr *attr, const struct attr_sample_data *sample,
	uint64_t frames[UNWIND_DEPTH])
{
	struct state state;
	size_t count = 0;

	if (!sample->regs_abi || !sample->stack || !process ||
		!start(&state, attr, sample))
		return 0;
	frames[count++] = state.registers[RIP];
	while (count < UNWIND_DEPTH) {
		uint64_t stack = state.registers[RSP];
		if (!step_out(unwind, input, process, sample->time, &state, count == 1) ||
			!state.registers[RIP] || state.registers[RSP] <= stack)
			break;
		frames[count++] = state.registers[RIP];
	}
	return count;
}
