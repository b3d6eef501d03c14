/* Disassembly: the only file that knows capstone. Its details are left off, as they
 * double the time; what annotate asks of an instruction stands in the text as well. */
#include "annotate/disasm.h"
#include "annotate/att.h"
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
	KNOWN = 1 << 11, /* that stay in the nearest caches */
	KNOWN_BYTES = 8,
	KNOWN_TEXT = 56,
};

static const uint64_t LEAST_ADDRESS = 0x10000; /* below, a number is only a number */

/* What a mnemonic tells. */
struct class
{
	bool known, slow, may_load, nop, exchange;
	enum att_letter letter;
	enum disasm_flow flow;
};

/* Generated code repeats itself: an instruction of x86 whose first KNOWN_BYTES were seen before
 * is that again, unless it tells a place relative to its own. */
struct known {
	uint64_t bytes;
	bool filled, nop, slow, has_constant;
	uint8_t size;
	enum disasm_flow flow;
	uint64_t constant;
	char text[KNOWN_TEXT];
};

struct disasm {
	struct known *known; /* KNOWN entries, owned; NULL: not for this machine */
	struct class classes[CLASSES];
	struct class other;
	csh handle;
	cs_insn *instruction;
	unsigned machine, step; /* bytes of the least instruction */
	bool att;
	bool gnu; /* rewritten as the GNU tools have it */
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
		if (machines[i].arch == CS_ARCH_X86)
			disasm->known = xcalloc(KNOWN, sizeof(*disasm->known));
		disasm->gnu = att && machines[i].arch == CS_ARCH_X86;
		if (disasm->gnu)
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
	free(disasm->known);
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
	class.letter = att_letter_of(word);
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
	static const char *const sizes[] = {"dword ptr", "byte ptr"};

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

/* The same in AT&T's syntax, where the mnemonic tells: only those whole operations are on 64
 * bits that end in q. */
static bool is_narrow_att(const char *name)
{
	return !strchr("q", name[strlen(name) - 1]) && !begins(name, "movabs");
}

/* mov eax, 0x… clears the upper half: how code in low memory takes an address. */
static bool moves_to_register(const char *name, const char *operands)
{
	return begins(name, "mov") &&
	       (operands[0] == 'e' || operands[0] == 'r' ||
		       (operands[0] == '$' && !strchr(operands, '(')));
}

static bool is_flow(const struct disasm_instruction *instruction)
{
	return instruction->flow == DISASM_JUMP ||
	       instruction->flow == DISASM_CONDITIONAL ||
	       instruction->flow == DISASM_CALL;
}

static void set_target(struct disasm_instruction *instruction, uint64_t target)
{
	instruction->has_target = true;
	instruction->target = target;
}

static void set_constant(struct disasm_instruction *instruction, uint64_t constant)
{
	instruction->has_constant = true;
	instruction->constant = constant;
}

/* What is at a distance from the instruction's end. */
static void set_memory(struct disasm_instruction *instruction, int64_t distance)
{
	instruction->memory = true;
	set_constant(instruction,
		instruction->address + instruction->size + (uint64_t)distance);
}

/* Immediates come first, then displacements, any of which may be an address. */
static void read_att(
	struct disasm_instruction *instruction, const char *name, const char *operands)
{
	const char *rip = strstr(operands, "(%rip");

	if (rip) {
		while (rip > operands &&
			(isxdigit((unsigned char)rip[-1]) || rip[-1] == 'x'))
			rip--;
		bool negative = rip > operands && rip[-1] == '-';
		int64_t distance = (int64_t)strtoull(rip, NULL, 0);
		set_memory(instruction, negative ? -distance : distance);
		return;
	}
	if (is_flow(instruction) && begins(operands, "0x")) {
		set_target(instruction, strtoull(operands, NULL, 16));
		return;
	}
	for (const char *at = operands; (at = strstr(at, "0x")); at += 2) {
		uint64_t value = strtoull(at, NULL, 16);
		bool immediate = at > operands && at[-1] == '$';
		if ((at > operands && at[-1] == '-') || value < LEAST_ADDRESS)
			continue;
		if (immediate && is_narrow_att(name) &&
			!moves_to_register(name, operands))
			continue;
		set_constant(instruction, value);
		return;
	}
}

/* [rip + 0x10] counts from the end of the instruction. */
static void read_intel(
	struct disasm_instruction *instruction, const char *name, const char *operands)
{
	const char *rip = strstr(operands, "rip"), *hex = last_hex(operands);

	if (rip) {
		const char *digit = strpbrk(rip, "0123456789");
		if (!digit)
			return;
		bool negative = digit > operands + 1 && digit[-2] == '-';
		int64_t distance = (int64_t)strtoull(digit, NULL, 0);
		set_memory(instruction, negative ? -distance : distance);
		return;
	}
	if (!hex)
		return;
	uint64_t value = strtoull(hex, NULL, 16);
	if (is_flow(instruction) && !strchr(operands, '['))
		set_target(instruction, value);
	else if ((hex == operands || hex[-1] != '-') &&
		 (moves_to_register(name, operands) || !is_narrow(operands)))
		set_constant(instruction, value);
}

/* The length of an instruction that capstone does not know, so that what follows is decoded
 * where it begins: of x86's with a VEX or EVEX prefix, as Intel's manual (volume 2, chapter 2)
 * lays them out; of others one step. */
static unsigned undecoded_length(
	const struct disasm *disasm, const uint8_t *bytes, size_t size)
{
	unsigned step = disasm->step < size ? disasm->step : (unsigned)size;
	unsigned prefix = bytes[0] == 0x62   ? 4
			  : bytes[0] == 0xc4 ? 3
			  : bytes[0] == 0xc5 ? 2
					     : 0;

	if (disasm->machine != EM_X86_64 || !prefix || size < prefix + 2)
		return step;
	unsigned map = prefix == 2 ? 1 : bytes[1] & 7;
	uint8_t opcode = bytes[prefix], modrm = bytes[prefix + 1];
	unsigned length = prefix + 2, mod = modrm >> 6;
	bool sib = mod != 3 && (modrm & 7) == 4;
	if (sib && size < length + 1)
		return step;
	bool no_base = (sib ? bytes[length] & 7 : modrm & 7) == 5;
	length += sib;
	length += mod == 1 ? 1 : mod == 2 || (mod == 0 && no_base) ? 4 : 0;
	/* An immediate byte: all of the map of 0f 3a, and some of that of 0f. */
	length +=
		map == 3 || (map == 1 && (opcode == 0xc2 || (opcode >> 2 == 0x70 >> 2) ||
						 (opcode >= 0xc4 && opcode <= 0xc6)));
	return length <= size ? length : step;
}

static void decode(struct disasm *disasm, const uint8_t *bytes, size_t size,
	uint64_t address, struct disasm_instruction *instruction)
{
	const uint8_t *at = bytes;
	size_t left = size;
	uint64_t next = address;
	cs_insn *decoded = disasm->instruction;

	*instruction = (struct disasm_instruction){.address = address};
	if (!cs_disasm_iter(disasm->handle, &at, &left, &next, decoded)) {
		instruction->size = undecoded_length(disasm, bytes, size);
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
	if (disasm->gnu) {
		char name[DISASM_TEXT / 4], operands[DISASM_TEXT / 2];
		att_rewrite(name, operands, sizeof(name), decoded->mnemonic,
			decoded->op_str, class->letter, bytes, decoded->size);
		join(instruction->text, name, operands);
	} else {
		join(instruction->text, decoded->mnemonic, decoded->op_str);
	}
	(disasm->gnu ? read_att : read_intel)(
		instruction, decoded->mnemonic, decoded->op_str);
}

static void keep(
	struct known *known, uint64_t bytes, const struct disasm_instruction *instruction)
{
	size_t length = strlen(instruction->text);

	if (instruction->size > KNOWN_BYTES || length >= KNOWN_TEXT ||
		instruction->has_target || instruction->memory ||
		begins(instruction->text, "xbegin") || instruction->text[0] == '.')
		return;
	*known = (struct known){.bytes = bytes,
		.filled = true,
		.nop = instruction->nop,
		.slow = instruction->slow,
		.has_constant = instruction->has_constant,
		.size = (uint8_t)instruction->size,
		.flow = instruction->flow,
		.constant = instruction->constant};
	memcpy(known->text, instruction->text, length + 1);
}

void disasm_decode(struct disasm *disasm, const uint8_t *bytes, size_t size,
	uint64_t address, struct disasm_instruction *instruction)
{
	uint64_t first;

	if (!disasm->known || size < KNOWN_BYTES) {
		decode(disasm, bytes, size, address, instruction);
		return;
	}
	memcpy(&first, bytes, sizeof(first));
	struct known *known =
		&disasm->known[(first * 0x9e3779b97f4a7c15u) >> 32 & (KNOWN - 1)];
	if (!known->filled || known->bytes != first) {
		decode(disasm, bytes, size, address, instruction);
		keep(known, first, instruction);
		return;
	}
	instruction->address = address;
	instruction->size = known->size;
	instruction->flow = known->flow;
	instruction->nop = known->nop;
	instruction->slow = known->slow;
	instruction->has_target = instruction->memory = false;
	instruction->has_constant = known->has_constant;
	instruction->constant = known->constant;
	memcpy(instruction->text, known->text, KNOWN_TEXT);
}
