/* The rules a stencil must keep, checked on its instructions. They are what makes code
 * that was cut from functions safe to string together: control leaves by jumps to
 * continuations only, the stack is as deep at each exit as at the entry, calls find it
 * aligned, and rbp is the frame pointer of the code object from its prologue to its end.
 */
#include "jit/stencil_cut.h"

#include "jit/holes.h"
#include "jit/stencil_kinds.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	UNKNOWN = -1,
	STACK_ALIGN = 16,
	MAX_DEPTH = 4096,
};

/* The walk through a stencil's instructions. */
struct lint {
	struct cut *cut;
	struct cut_stencil *stencil;
	int *depths[CUT_PARTS]; /* bytes pushed before each instruction, or UNKNOWN */
	struct place {
		int part;
		size_t index;
	} * work;
	size_t work_count;
	bool misaligned; /* a call finds the stack 8 bytes off */
	bool quiet;	 /* only find out whether a call is misaligned */
};

#define refuse(lint, part, offset, ...)                                        \
	do {                                                                   \
		if (!(lint)->quiet)                                            \
			cut_refuse((lint)->cut, (lint)->stencil, part, offset, \
				__VA_ARGS__);                                  \
	} while (0)

static const cs_insn *insn_at(const struct lint *lint, struct place place)
{
	return lint->stencil->parts[place.part].insns + place.index;
}

static bool in_group(const struct lint *lint, const cs_insn *insn, uint8_t group)
{
	return cs_insn_group(lint->cut->capstone, insn, group);
}

static bool writes(
	const struct lint *lint, const cs_insn *insn, const uint16_t *registers)
{
	cs_regs read, written;
	uint8_t read_count, write_count;

	if (cs_regs_access(lint->cut->capstone, insn, read, &read_count, written,
		    &write_count) != CS_ERR_OK)
		return true;
	for (uint8_t i = 0; i < write_count; i++) {
		for (const uint16_t *r = registers; *r; r++) {
			if (written[i] == *r)
				return true;
		}
	}
	return false;
}

/* The continuation that a jump goes to, HOLES_COUNT where it is none. */
static unsigned continuation(const struct cut_hole *hole)
{
	if (!hole || hole->class != STENCIL_HOLE || hole->index < HOLES_DATA_COUNT ||
		hole->index >= HOLES_DATA_COUNT + HOLES_JUMP_COUNT)
		return HOLES_COUNT;
	return hole->index;
}

/* Index of the instruction that begins at an offset; -1: none does. */
static ssize_t find_insn(const struct lint *lint, int part, uint64_t offset)
{
	const struct cut_part *p = lint->stencil->parts + part;

	for (size_t i = 0; i < p->insn_count; i++) {
		if (p->insns[i].address == offset)
			return (ssize_t)i;
	}
	return -1;
}

static void go(struct lint *lint, struct place from, int part, uint64_t offset, int depth)
{
	ssize_t index = find_insn(lint, part, offset);
	const cs_insn *insn = insn_at(lint, from);

	if (index < 0) {
		refuse(lint, from.part, insn->address,
			offset >= lint->stencil->parts[part].size
				? "runs past the end: a stencil ends in a jump: %s %s"
				: "jumps into the middle of an instruction: %s %s",
			insn->mnemonic, insn->op_str);
		return;
	}
	if (lint->depths[part][index] == UNKNOWN) {
		lint->depths[part][index] = depth;
		lint->work[lint->work_count++] = (struct place){part, (size_t)index};
	} else if (lint->depths[part][index] != depth) {
		refuse(lint, part, offset,
			"the stack is %d bytes deep on one path and %d on another",
			lint->depths[part][index], depth);
	}
}

static void leave(struct lint *lint, struct place place, int depth)
{
	if (depth != 0)
		refuse(lint, place.part, insn_at(lint, place)->address,
			"leaves with %d bytes on the stack", depth);
}

/* A jump, conditional or not; what follows a conditional one is visited by the caller. */
static void check_jump(struct lint *lint, struct place place, int depth)
{
	const cs_insn *insn = insn_at(lint, place);
	const cs_x86_op *operand = insn->detail->x86.operands;
	const struct cut_hole *hole = cut_hole_in(lint->stencil, place.part, insn);

	if (operand->type == X86_OP_REG) {
		leave(lint, place, depth);
	} else if (operand->type == X86_OP_MEM) {
		if (hole || operand->mem.base == X86_REG_INVALID ||
			operand->mem.base == X86_REG_RIP ||
			operand->mem.index != X86_REG_INVALID)
			refuse(lint, place.part, insn->address,
				"jumps through a table: %s %s", insn->mnemonic,
				insn->op_str);
		leave(lint, place, depth);
	} else if (!hole) {
		go(lint, place, place.part, (uint64_t)operand->imm, depth);
	} else if (hole->class == STENCIL_HOT || hole->class == STENCIL_COLD) {
		/* psABI: value = S + A - P, and the processor counts from P + 4. */
		go(lint, place, hole->class == STENCIL_COLD ? CUT_COLD : CUT_HOT,
			(uint64_t)(hole->addend + 4), depth);
	} else if (continuation(hole) < HOLES_COUNT) {
		if (hole->addend != -4)
			refuse(lint, place.part, insn->address,
				"jumps past the start of continuation '%s'",
				cut_hole_name(lint->cut, hole));
		leave(lint, place, depth);
	} else {
		refuse(lint, place.part, insn->address,
			"jumps to '%s', which would return past the code object",
			cut_hole_name(lint->cut, hole));
	}
}

static void check_call(struct lint *lint, struct place place, int depth)
{
	const cs_insn *insn = insn_at(lint, place);
	const struct cut_hole *hole = cut_hole_in(lint->stencil, place.part, insn);
	const cs_x86_op *operand = insn->detail->x86.operands;

	if (depth % STACK_ALIGN != 0) {
		lint->misaligned = true;
		refuse(lint, place.part, insn->address,
			"calls with the stack off by %d bytes and a frame that cannot be "
			"padded",
			depth % STACK_ALIGN);
	}
	if (operand->type != X86_OP_IMM)
		return;
	if (!hole) {
		refuse(lint, place.part, insn->address, "calls into itself: %s %s",
			insn->mnemonic, insn->op_str);
		return;
	}
	if (continuation(hole) < HOLES_COUNT)
		refuse(lint, place.part, insn->address,
			"calls continuation '%s': only jumps may go there (does the "
			"address of "
			"a local variable escape?)",
			cut_hole_name(lint->cut, hole));
	else if (hole->class == STENCIL_HOLE && hole->index < HOLES_DATA_COUNT)
		refuse(lint, place.part, insn->address, "calls data hole '%s'",
			cut_hole_name(lint->cut, hole));
	else if (hole->class == STENCIL_HOT || hole->class == STENCIL_COLD)
		refuse(lint, place.part, insn->address, "calls into itself");
	else if (hole->class == STENCIL_SYMBOL && lint->cut->symbols[hole->index].bytes)
		refuse(lint, place.part, insn->address, "calls a constant");
}

/* How an instruction that is no jump and no call changes the stack's depth. */
static int stack_effect(struct lint *lint, struct place place)
{
	static const uint16_t stack[] = {
		X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, 0};
	const cs_insn *insn = insn_at(lint, place);
	const cs_x86 *x86 = &insn->detail->x86;
	/* Capstone's AT&T order: source, then destination. */
	const cs_x86_op *source = x86->operands;

	switch (insn->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ: return 8;
	case X86_INS_POP:
	case X86_INS_POPFQ:
		if (x86->op_count > 0 && source->type == X86_OP_REG &&
			source->reg == X86_REG_RSP)
			break;
		return -8;
	default: break;
	}
	if (!writes(lint, insn, stack))
		return 0;
	if (!cut_hole_in(lint->stencil, place.part, insn) && x86->op_count == 2) {
		if (insn->id == X86_INS_SUB && source->type == X86_OP_IMM)
			return (int)source->imm;
		if (insn->id == X86_INS_ADD && source->type == X86_OP_IMM)
			return (int)-source->imm;
		if (insn->id == X86_INS_LEA && source->mem.base == X86_REG_RSP &&
			source->mem.index == X86_REG_INVALID)
			return (int)-source->mem.disp;
	}
	refuse(lint, place.part, insn->address, "sets rsp: %s %s", insn->mnemonic,
		insn->op_str);
	return 0;
}

static void step(struct lint *lint, struct place place)
{
	const cs_insn *insn = insn_at(lint, place);
	int depth = lint->depths[place.part][place.index];
	int after;

	if (in_group(lint, insn, CS_GRP_JUMP)) {
		check_jump(lint, place, depth);
		if (insn->id == X86_INS_JMP)
			return;
	} else if (in_group(lint, insn, CS_GRP_CALL)) {
		check_call(lint, place, depth);
	} else if (in_group(lint, insn, CS_GRP_RET) ||
		   in_group(lint, insn, CS_GRP_IRET)) {
		return; /* refused by check_instruction() */
	} else if (insn->id == X86_INS_UD2) {
		return;
	}
	after = in_group(lint, insn, CS_GRP_JUMP) || in_group(lint, insn, CS_GRP_CALL)
			? depth
			: depth + stack_effect(lint, place);
	if (after < 0 || after > MAX_DEPTH) {
		refuse(lint, place.part, insn->address,
			"takes more from the stack than it put: "
			"%s %s",
			insn->mnemonic, insn->op_str);
		return;
	}
	go(lint, place, place.part, insn->address + insn->size, after);
}

/* Follows every path from the entry. */
static void walk(struct lint *lint)
{
	struct cut_part *parts = lint->stencil->parts;

	lint->misaligned = false;
	for (int i = 0; i < CUT_PARTS; i++) {
		lint->depths[i] = xcalloc(parts[i].insn_count + 1, sizeof(int));
		for (size_t k = 0; k < parts[i].insn_count; k++)
			lint->depths[i][k] = UNKNOWN;
	}
	lint->work = xcalloc(
		parts[0].insn_count + parts[1].insn_count + 1, sizeof(*lint->work));
	lint->work_count = 0;
	if (parts[CUT_HOT].insn_count > 0) {
		lint->depths[CUT_HOT][0] = 0;
		lint->work[lint->work_count++] = (struct place){CUT_HOT, 0};
	}
	while (lint->work_count > 0)
		step(lint, lint->work[--lint->work_count]);
	for (int i = 0; i < CUT_PARTS; i++)
		free(lint->depths[i]);
	free(lint->work);
}

/* What holds for an instruction wherever it stands. */
static void check_instruction(struct lint *lint, struct place place)
{
	static const uint16_t frame[] = {
		X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, 0};
	const cs_insn *insn = insn_at(lint, place);
	const cs_x86 *x86 = &insn->detail->x86;
	const struct cut_hole *hole = cut_hole_in(lint->stencil, place.part, insn);

	if (in_group(lint, insn, CS_GRP_RET) || in_group(lint, insn, CS_GRP_IRET))
		refuse(lint, place.part, insn->address,
			"returns: a stencil ends in a jump to a continuation");
	if (writes(lint, insn, frame) || insn->id == X86_INS_LEAVE ||
		insn->id == X86_INS_ENTER)
		refuse(lint, place.part, insn->address, "writes rbp: %s %s",
			insn->mnemonic, insn->op_str);
	for (uint8_t i = 0; i < x86->op_count; i++) {
		if (x86->operands[i].type == X86_OP_MEM &&
			x86->operands[i].mem.base == X86_REG_RIP &&
			(!hole || hole->store != STENCIL_REL32))
			refuse(lint, place.part, insn->address,
				"refers to data beside itself: %s %s", insn->mnemonic,
				insn->op_str);
	}
}

/* Capstone 4 says 2 for the size of a displacement in SSE instructions with prefix 66: a
 * displacement of 32 bits is told by the ModRM byte before it (mod 2, or rip-relative), or
 * by that and a SIB byte. */
static bool is_displacement(const cs_insn *insn, size_t at, size_t size)
{
	const cs_x86_encoding *encoding = &insn->detail->x86.encoding;
	uint8_t modrm = encoding->modrm_offset ? insn->bytes[encoding->modrm_offset] : 0;
	bool wide = modrm >> 6 == 2 || (modrm >> 6 == 0 && (modrm & 7) >= 4);

	if (!encoding->disp_offset || at != encoding->disp_offset)
		return false;
	return size == encoding->disp_size || (size == 4 && wide && at + 4 <= insn->size);
}

/* Each hole is the immediate or the displacement of one instruction. */
static void check_hole(struct lint *lint, const struct cut_hole *hole)
{
	const struct cut_part *part = lint->stencil->parts + hole->part;
	size_t size = hole->store == STENCIL_U64 ? 8 : 4;

	for (size_t i = 0; i < part->insn_count; i++) {
		const cs_insn *insn = part->insns + i;
		const cs_x86_encoding *encoding = &insn->detail->x86.encoding;
		size_t at;

		if (hole->offset < insn->address ||
			hole->offset >= insn->address + insn->size)
			continue;
		at = hole->offset - insn->address;
		if (is_displacement(insn, at, size) ||
			(encoding->imm_offset && at == encoding->imm_offset &&
				size == encoding->imm_size) ||
			((in_group(lint, insn, CS_GRP_JUMP) ||
				 in_group(lint, insn, CS_GRP_CALL)) &&
				at + size == insn->size))
			return;
		break;
	}
	refuse(lint, hole->part, hole->offset,
		"the relocation against '%s' is no operand of an instruction",
		cut_hole_name(lint->cut, hole));
}

/* gcc makes frames in words under -mpreferred-stack-boundary=3. One that is made and
 * undone by `sub $N, %rsp` and `add $N, %rsp` alone can be made 8 bytes larger: what lies
 * in it is addressed from its lower end, and a stencil has no arguments above it. */
static bool pad_frame(struct cut *cut, struct cut_stencil *stencil)
{
	enum { IMM8_SIZE = 4, IMM8_AT = 3, IMM8_MAX = 0x78 };
	unsigned frame = 0;

	for (int write = 0; write < 2; write++) {
		for (int i = 0; i < CUT_PARTS; i++) {
			struct cut_part *part = stencil->parts + i;

			for (size_t k = 0; k < part->insn_count; k++) {
				const cs_insn *insn = part->insns + k;
				/* REX.W 83 /5 or /0 with rsp, and one byte of immediate.
				 */
				bool adjusts = insn->size == IMM8_SIZE &&
					       insn->bytes[0] == 0x48 &&
					       insn->bytes[1] == 0x83 &&
					       (insn->bytes[2] == 0xec ||
						       insn->bytes[2] == 0xc4);

				if (insn->id == X86_INS_PUSH || insn->id == X86_INS_POP ||
					(insn->id == X86_INS_LEA &&
						strstr(insn->op_str, "(%rsp), %rsp")))
					return false;
				if (!adjusts)
					continue;
				if (frame == 0)
					frame = insn->bytes[IMM8_AT];
				if (insn->bytes[IMM8_AT] != frame ||
					frame % STACK_ALIGN != 8 || frame > IMM8_MAX - 8)
					return false;
				if (write)
					part->bytes[insn->address + IMM8_AT] += 8;
			}
		}
	}
	if (frame == 0)
		return false;
	stencil->padded = frame;
	cut_disassemble(cut, stencil);
	return true;
}

void stencil_lint(struct cut *cut, struct cut_stencil *stencil)
{
	struct lint lint = {.cut = cut, .stencil = stencil, .quiet = true};

	if (stencil->parts[CUT_HOT].insn_count == 0) {
		cut_refuse(cut, stencil, CUT_HOT, 0, "has no code");
		return;
	}
	walk(&lint);
	if (lint.misaligned)
		pad_frame(cut, stencil);
	lint.quiet = false;
	for (int i = 0; i < CUT_PARTS; i++) {
		for (size_t k = 0; k < stencil->parts[i].insn_count; k++)
			check_instruction(&lint, (struct place){i, k});
	}
	for (size_t i = 0; i < stencil->hole_count; i++)
		check_hole(&lint, stencil->holes + i);
	walk(&lint);
}

/* The `jmp` to a continuation that a hole's jump lands on, or NULL. */
static const struct cut_hole *landing(
	const struct cut_stencil *stencil, const struct cut_hole *hole)
{
	int part = hole->class == STENCIL_COLD ? CUT_COLD : CUT_HOT;

	if (hole->class != STENCIL_HOT && hole->class != STENCIL_COLD)
		return NULL;
	for (size_t i = 0; i < stencil->parts[part].insn_count; i++) {
		const cs_insn *insn = stencil->parts[part].insns + i;
		const struct cut_hole *found;

		if (insn->address != (uint64_t)(hole->addend + 4))
			continue;
		if (insn->id != X86_INS_JMP)
			return NULL;
		found = cut_hole_in(stencil, part, insn);
		return continuation(found) < HOLES_COUNT ? found : NULL;
	}
	return NULL;
}

void stencil_thread_jumps(struct cut *cut, struct cut_stencil *stencil)
{
	struct cut_part *cold = stencil->parts + CUT_COLD;
	size_t kept = 0;

	for (size_t i = 0; i < stencil->hole_count; i++) {
		struct cut_hole *hole = stencil->holes + i;
		const struct cut_hole *to = landing(stencil, hole);

		if (to) {
			hole->class = to->class;
			hole->index = to->index;
			hole->addend = to->addend;
		}
	}
	for (size_t i = 0; i < stencil->hole_count; i++) {
		if (stencil->holes[i].class == STENCIL_COLD)
			return;
	}
	cold->size = 0;
	cut_disassemble(cut, stencil);
	for (size_t i = 0; i < stencil->hole_count; i++) {
		if (stencil->holes[i].part == CUT_HOT)
			stencil->holes[kept++] = stencil->holes[i];
	}
	stencil->hole_count = kept;
}

size_t stencil_drop_size(const struct cut *cut, const struct cut_stencil *stencil)
{
	const struct cut_part *hot = stencil->parts + CUT_HOT;
	const cs_insn *last = hot->insns + hot->insn_count - 1;
	const struct cut_hole *hole = cut_hole_in(stencil, CUT_HOT, last);

	(void)cut;
	if (last->id == X86_INS_JMP && continuation(hole) == HOLES_CONT)
		return last->address;
	return hot->size;
}
