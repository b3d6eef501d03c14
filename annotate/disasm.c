/* Disassembly: the only file that knows capstone. Its details are left off, as they
 * double the time; what annotate asks of an instruction stands in the text as well. */
#include "annotate/disasm.h"
#include "launcher/base.h"

#include <capstone/capstone.h>
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLASSES = 2048, /* more than any machine of capstone's has mnemonics */
	MNEMONIC_WIDTH = 7,
};

/* What a mnemonic tells. */
struct class
{
	bool known, slow, may_load, nop, exchange;
	enum disasm_flow flow;
};

struct disasm {
	struct class classes[CLASSES];
	struct class other;
	csh handle;
	cs_insn *instruction;
	unsigned machine, step; /* bytes of the least instruction */
	bool att;
};

static const struct machine_row {
	unsigned machine;
	cs_arch arch;
	cs_mode mode;
	unsigned step;
} machines[] = {
	{EM_X86_64, CS_ARCH_X86, CS_MODE_64, 1},
	{EM_386, CS_ARCH_X86, CS_MODE_32, 1},
	{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4},
	{EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, 4},
	{EM_S390, CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, 2},
	{EM_PPC64, CS_ARCH_PPC, CS_MODE_64, 4},
};

struct disasm *disasm_new(unsigned machine, bool att)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		csh handle;
		if (machines[i].machine != machine ||
			cs_open(machines[i].arch, machines[i].mode, &handle) != CS_ERR_OK)
			continue;
		struct disasm *disasm = xcalloc(1, sizeof(*disasm));
		disasm->handle = handle;
		disasm->instruction = cs_malloc(handle);
		if (!disasm->instruction)
			die(125, "out of memory");
		disasm->machine = machine;
		disasm->step = machines[i].step;
		disasm->att = att;
		if (att && machines[i].arch == CS_ARCH_X86)
			cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
		return disasm;
	}
	return NULL;
}

void disasm_free(struct disasm *disasm)
{
	if (!disasm)
		return;
	cs_free(disasm->instruction, 1);
	cs_close(&disasm->handle);
	free(disasm);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum disasm_flow x86_flow(const char *name)
{
	/* Prefixes stand in front of the mnemonic. */
	static const char *const prefixes[] = {
		"notrack ", "bnd ", "lock ", "repz ", "rep "};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins(name, prefixes[i]))
			name += strlen(prefixes[i]);
	if (begins(name, "jmp") || begins(name, "ljmp"))
		return DISASM_JUMP;
	if (name[0] == 'j' || begins(name, "loop"))
		return DISASM_CONDITIONAL;
	if (begins(name, "call") || begins(name, "lcall"))
		return DISASM_CALL;
	if (begins(name, "ret") || begins(name, "iret") || begins(name, "ud2") ||
		begins(name, "hlt") || begins(name, "int3"))
		return DISASM_RETURN;
	return DISASM_PLAIN;
}

static enum disasm_flow arm64_flow(const char *name)
{
	if (strcmp(name, "b") == 0 || strcmp(name, "br") == 0)
		return DISASM_JUMP;
	if (begins(name, "b.") || begins(name, "cb") || begins(name, "tb"))
		return DISASM_CONDITIONAL;
	if (strcmp(name, "bl") == 0 || strcmp(name, "blr") == 0)
		return DISASM_CALL;
	return strcmp(name, "ret") == 0 ? DISASM_RETURN : DISASM_PLAIN;
}

/* A store, whose memory operand comes first (last in AT&T's), waits for nobody. */
static bool loads(const char *operands)
{
	const char *memory = strpbrk(operands, "[(");

	if (!memory)
		return false;
	bool first = operands[0] != '%' && operands[0] != '$' &&
		     (memory == operands ||
			     !memchr(operands, ',', (size_t)(memory - operands)));
	return memory[0] == '(' ? first : !first;
}

static const char *last_word(const char *name)
{
	const char *word = strrchr(name, ' ');

	return word ? word + 1 : name;
}

static struct class make_class(unsigned machine, const char *name)
{
	/* Kinds that can keep others waiting. */
	static const char *const slow[] = {"div", "idiv", "vdiv", "sqrt", "vsqrt",
		"rsqrt", "lock ", "xchg", "cpuid", "rdtsc", "mfence", "sdiv", "udiv",
		"fdiv", "fsqrt", "rep "};
	const char *word = last_word(name);
	struct class class = {.known = true};

	class.flow = machine == EM_X86_64 || machine == EM_386 ? x86_flow(name)
		     : machine == EM_AARCH64		       ? arm64_flow(name)
							       : DISASM_PLAIN;
	class.exchange = begins(word, "xchg");
	class.nop = begins(word, "nop") || strcmp(word, "int3") == 0 || class.exchange;
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		class.slow |= begins(name, slow[i]);
	class.may_load =
		!begins(word, "lea") && !begins(word, "nop") && !begins(word, "st");
	return class;
}

/* What a mnemonic alone tells is worked out once for each; prefixes make others of it. */
static const struct class *classify(struct disasm *disasm, const cs_insn *decoded)
{
	struct class *class = &disasm->classes[decoded->id % CLASSES];

	if (strchr(decoded->mnemonic, ' ') || decoded->id >= CLASSES) {
		disasm->other = make_class(disasm->machine, decoded->mnemonic);
		return &disasm->other;
	}
	if (!class->known)
		*class = make_class(disasm->machine, decoded->mnemonic);
	return class;
}

/* "mnemonic" in a column of 7, then the operands. */
static void join(char *text, const char *mnemonic, const char *operands)
{
	size_t length = strlen(mnemonic), more = strlen(operands);

	if (length > DISASM_TEXT / 4)
		length = DISASM_TEXT / 4;
	if (more > DISASM_TEXT / 2)
		more = DISASM_TEXT / 2;
	memcpy(text, mnemonic, length);
	while (more && length < MNEMONIC_WIDTH)
		text[length++] = ' ';
	if (more)
		text[length++] = ' ';
	memcpy(text + length, operands, more);
	text[length + more] = '\0';
}

/* The last number in hexadecimal: of several the one that can be an address. */
static const char *last_hex(const char *operands)
{
	const char *found = NULL;

	for (const char *at = operands; (at = strstr(at, "0x")); at += 2)
		found = at;
	return found;
}

/* Whether the operation is on less than 64 bits, which no address fits in. */
static bool is_narrow(const char *operands)
{
	static const char *const sizes[] = {"dword ptr", "byte ptr", "%e"};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		if (strstr(operands, sizes[i]))
			return true;
	if (begins(operands, "word ptr") || strstr(operands, " word ptr"))
		return true;
	/* eax, r8d, ax, al, … against rax and r8. */
	size_t length = strcspn(operands, ",");
	if (operands[0] == 'e' || (length == 2 && !isdigit((unsigned char)operands[1])))
		return true;
	return operands[0] == 'r' && length > 2 && isdigit((unsigned char)operands[1]) &&
	       strchr("dwb", operands[length - 1]);
}

/* mov eax, 0x… clears the upper half: how code in low memory takes an address. */
static bool moves_to_register(const char *name, const char *operands)
{
	return begins(name, "mov") &&
	       (operands[0] == 'e' || operands[0] == 'r' ||
		       (operands[0] == '$' && !strchr(operands, '(')));
}

/* [rip + 0x10] (or 0x10(%rip)) counts from the end of the instruction. */
static void read_operands(const struct disasm *disasm,
	struct disasm_instruction *instruction, const char *operands)
{
	const char *rip = strstr(operands, "rip");
	const char *hex = last_hex(operands);
	bool flow = instruction->flow == DISASM_JUMP ||
		    instruction->flow == DISASM_CONDITIONAL ||
		    instruction->flow == DISASM_CALL;

	if (rip) {
		const char *start = disasm->att ? operands : rip;
		hex = strstr(start, "0x");
		uint64_t distance = hex ? strtoull(hex, NULL, 16) : 0;
		bool negative = hex && ((hex > operands && hex[-1] == '-') ||
					       (hex > operands + 1 && hex[-2] == '-'));
		if (!hex) {
			const char *digit = disasm->att ? strpbrk(operands, "0123456789")
							: strpbrk(rip, "0123456789");
			if (!digit)
				return;
			distance = strtoull(digit, NULL, 10);
			negative = digit > operands &&
				   (digit[-1] == '-' ||
					   (digit > operands + 1 && digit[-2] == '-'));
		}
		instruction->has_constant = instruction->memory = true;
		instruction->constant = instruction->address + instruction->size +
					(negative ? -distance : distance);
		return;
	}
	if (!hex)
		return;
	uint64_t value = strtoull(hex, NULL, 16);
	bool in_memory = strchr(operands, '[') || strchr(operands, '(');
	if (flow && !in_memory) {
		instruction->has_target = true;
		instruction->target = value;
	} else if ((hex == operands || hex[-1] != '-') &&
		   (moves_to_register(instruction->text, operands) ||
			   !is_narrow(operands))) {
		instruction->has_constant = true;
		instruction->constant = value;
	}
}

void disasm_decode(struct disasm *disasm, const uint8_t *bytes, size_t size,
	uint64_t address, struct disasm_instruction *instruction)
{
	const uint8_t *at = bytes;
	size_t left = size;
	uint64_t next = address;
	cs_insn *decoded = disasm->instruction;

	*instruction = (struct disasm_instruction){.address = address};
	if (!cs_disasm_iter(disasm->handle, &at, &left, &next, decoded)) {
		instruction->size = disasm->step < size ? disasm->step : (unsigned)size;
		size_t used = (size_t)snprintf(instruction->text, DISASM_TEXT, ".byte");
		for (unsigned i = 0; i < instruction->size; i++)
			used += (size_t)snprintf(instruction->text + used,
				DISASM_TEXT - used, "%s 0x%02x", i ? "," : "", bytes[i]);
		return;
	}
	instruction->size = decoded->size;
	const struct class *class = classify(disasm, decoded);
	instruction->flow = class->flow;
	instruction->slow = class->slow || (class->may_load && loads(decoded->op_str));
	instruction->nop = class->nop &&
			   (!class->exchange || strcmp(decoded->op_str, "ax, ax") == 0 ||
				   strcmp(decoded->op_str, "%ax, %ax") == 0);
	join(instruction->text, decoded->mnemonic, decoded->op_str);
	read_operands(disasm, instruction, decoded->op_str);
}
