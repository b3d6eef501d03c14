/* From capstone's AT&T syntax to that of GNU binutils. */
#include "annotate/att.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct out {
	char *text;
	size_t used, room;
};

static void put(struct out *out, char c)
{
	if (out->used + 1 < out->room)
		out->text[out->used++] = c;
}

static void puts_to(struct out *out, const char *text)
{
	while (*text)
		put(out, *text++);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_stem(
	const char *name, size_t length, const char *const *stems, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(stems[i]) == length && memcmp(stems[i], name, length) == 0)
			return true;
	return false;
}

enum att_letter att_letter_of(const char *name)
{
	static const char *const sized[] = {"mov", "add", "sub", "cmp", "test", "xor",
		"and", "or", "lea", "inc", "dec", "neg", "not", "adc", "sbb", "shl",
		"shr", "sar", "rol", "ror", "rcl", "rcr", "shld", "shrd", "mul", "imul",
		"div", "idiv", "xchg", "cmpxchg", "xadd", "bt", "bts", "btr", "btc",
		"bsf", "bsr", "popcnt", "lzcnt", "tzcnt", "bswap", "stos", "lods", "scas",
		"in", "out", "sal", "andn", "bextr", "blsi", "blsr", "blsmsk", "bzhi",
		"pdep", "pext", "sarx", "shlx", "shrx", "rorx", "mulx", "adcx", "adox",
		"movbe", "rdfsbase", "rdgsbase", "wrfsbase", "wrgsbase", "cmovo",
		"cmovno", "cmovb", "cmovae", "cmove", "cmovne", "cmovbe", "cmova",
		"cmovs", "cmovns", "cmovp", "cmovnp", "cmovl", "cmovge", "cmovle",
		"cmovg", "cvtsi2sd", "cvtsi2ss", "vcvtsi2sd", "vcvtsi2ss", "cvttsd2si",
		"cvttss2si", "cvtsd2si", "cvtss2si", "crc32"};
	static const char *const usual[] = {"call", "jmp", "ret", "push", "pop", "leave",
		"enter", "pushf", "popf", "movabs"};
	size_t length = strlen(name);

	/* "jmp" and "jmpq" are one instruction. */
	if (is_stem(name, length, usual, sizeof(usual) / sizeof(usual[0])))
		return ATT_USUAL;
	if (length < 2 || !strchr("bwlq", name[length - 1]))
		return ATT_PLAIN;
	if (is_stem(name, length - 1, sized, sizeof(sized) / sizeof(sized[0])))
		return ATT_SIZE;
	return is_stem(name, length - 1, usual, sizeof(usual) / sizeof(usual[0]))
		       ? ATT_USUAL
		       : ATT_PLAIN;
}

/* Whether a general register stands among the operands outside of memory. That of a shift's
 * count does not tell a size. */
static bool has_register(const char *name, const char *operands)
{
	bool shift = strchr("sr", name[0]) &&
		     (begins(name, "sh") || begins(name, "sa") || begins(name, "ro") ||
			     begins(name, "rc"));
	int depth = 0;

	for (const char *at = operands; *at; at++) {
		depth += (*at == '(') - (*at == ')');
		if (*at != '%' || depth)
			continue;
		if (at[3] == ':' && at[2] == 's') /* a segment */
			continue;
		if (shift && begins(at, "%cl") && at == operands && strchr(at, ','))
			continue;
		if (begins(at, "%xmm") || begins(at, "%mm") || begins(at, "%ymm"))
			continue;
		return true;
	}
	return false;
}

static void write_name(
	struct out *out, const char *name, const char *operands, enum att_letter letter)
{
	size_t length = strlen(name);

	if (letter == ATT_USUAL && name[length - 1] == 'q') {
		length--;
	} else if (letter == ATT_SIZE) {
		bool converts = strstr(name, "cvt") != NULL;
		bool vector = strstr(operands, "mm") != NULL;
		if (converts ? has_register(name, operands) || strstr(name, "2si")
			     : !vector && has_register(name, operands))
			length--;
	}
	while (length--)
		put(out, *name++);
}

/* A number in hexadecimal: capstone writes those below ten in decimal. */
static const char *write_number(struct out *out, const char *at)
{
	if (at[0] == '0' && at[1] == 'x') {
		put(out, *at++);
		put(out, *at++);
		while (isxdigit((unsigned char)*at))
			put(out, *at++);
		return at;
	}
	puts_to(out, "0x");
	while (isdigit((unsigned char)*at))
		put(out, *at++);
	return at;
}

/* "(base, index)" -> "(base,index,1)". Without a number before it, one of zero where the
 * encoding has it: with no base, or with %rbp or %r13 as such. */
static const char *write_memory(
	struct out *out, const char *at, bool number, bool has_zero)
{
	const char *end = strchr(at, ')');
	int commas = 0;

	if (!end)
		end = at + strlen(at);
	bool zero = at[1] == ',' || begins(at, "(%rbp") || begins(at, "(%r13") ||
		    begins(at, "(%ebp") || has_zero;
	if (!number && zero)
		puts_to(out, "0x0");
	for (; at < end; at++) {
		if (*at == ' ')
			continue;
		commas += *at == ',';
		put(out, *at);
	}
	if (commas == 1)
		puts_to(out, ",1");
	if (*at)
		put(out, *at++);
	return at;
}

/* What an instruction needs to know of itself to write its operands. */
struct form {
	bool number;	/* its memory operand has one, if only 0 */
	unsigned width; /* bits of the operation */
	bool by_one;	/* a shift whose count of 1 is not a number in the code */
	bool strings;	/* (%rsi) and (%rdi) are in the segments of string operations */
};

/* "$-1" as the GNU tools have it: as many bits as the operation has. */
static const char *write_negative(struct out *out, const char *at, unsigned width)
{
	char *end, hex[17];
	uint64_t value = strtoull(at + 1, &end, 0);

	if (end == at + 1)
		return at;
	value = -value & (width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX);
	snprintf(hex, sizeof(hex), "%llx", (unsigned long long)value);
	puts_to(out, "0x");
	puts_to(out, hex);
	return end;
}

static const char *write_immediate(
	struct out *out, const char *at, const struct form *form)
{
	if (form->by_one && begins(at, "$1, "))
		return at + 4;
	put(out, *at++);
	return *at == '-' ? write_negative(out, at, form->width) : at;
}

static void write_operands(struct out *out, const char *at, const struct form *form)
{
	bool number = false; /* stands directly before */

	while (*at) {
		bool in_name =
			out->used && (isalnum((unsigned char)out->text[out->used - 1]) ||
					     out->text[out->used - 1] == '%');
		if (*at == '$') {
			at = write_immediate(out, at, form);
		} else if (*at == '(') {
			if (form->strings)
				puts_to(out, begins(at, "(%rsi") ? "%ds:" : "%es:");
			at = write_memory(out, at, number, form->number);
			number = false;
		} else if (isdigit((unsigned char)*at) && !in_name) {
			at = write_number(out, at);
			number = true;
		} else if (*at == ' ') {
			at++; /* behind commas, and before a mask */
		} else {
			number = false;
			put(out, *at++);
		}
	}
}

/* The no-operation forms: what their bytes hold beyond the form itself is shown too. */
static bool write_nop(struct out *out, const char *name, const char *operands,
	const uint8_t *bytes, size_t size)
{
	size_t prefixes = 0;

	while (prefixes < size && bytes[prefixes] == 0x66)
		prefixes++;
	if (size == 2 && prefixes == 1 && bytes[1] == 0x90) {
		puts_to(out, "xchg");
		return true;
	}
	for (size_t i = 1; i < prefixes; i++)
		puts_to(out, "data16 ");
	if (begins(operands, "%cs:"))
		puts_to(out, "cs ");
	puts_to(out, name);
	return false;
}

/* Whether a memory operand has a number, if only 0: mod of the ModRM byte behind prefixes and
 * opcode is 1 or 2. */
static bool has_number(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size &&
		(strchr("\x66\x2e\x3e\x26\x64\x65\x67\xf0\xf2\xf3", bytes[at]) ||
			bytes[at] >> 4 == 4))
		at++;
	if (at < size && bytes[at] == 0xc5)
		at += 2;
	else if (at < size && bytes[at] == 0xc4)
		at += 3;
	else if (at < size && bytes[at] == 0x62)
		at += 4;
	else if (at + 1 < size && bytes[at] == 0x0f)
		at += bytes[at + 1] == 0x38 || bytes[at + 1] == 0x3a ? 2 : 1;
	return at + 1 < size && (bytes[at + 1] >> 6 == 1 || bytes[at + 1] >> 6 == 2);
}

static struct form form_of(
	const char *word, const char *operands, const uint8_t *bytes, size_t size)
{
	static const char sizes[] = "bwlq";
	static const char *const strings[] = {"stos", "scas", "movs", "cmps", "lods"};
	const char *letter = strchr(sizes, word[strlen(word) - 1]);
	struct form form = {.width = letter && *letter ? 8u << (letter - sizes) : 8};
	size_t at = 0;

	form.number = has_number(bytes, size);
	while (at + 1 < size && (bytes[at] == 0x66 || bytes[at] >> 4 == 4))
		at++;
	form.by_one = bytes[at] == 0xd0 || bytes[at] == 0xd1;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		form.strings |= strlen(word) == 5 && begins(word, strings[i]) &&
				!strstr(operands, "mm");
	return form;
}

/* movd between a vector and a general register of 64 bits (66 REX.W 0f 6e or 7e). */
static bool is_movq(const char *word, const uint8_t *bytes, size_t size)
{
	return strcmp(word, "movd") == 0 && size >= 4 && (bytes[1] & 0xf8) == 0x48 &&
	       bytes[2] == 0x0f && (bytes[3] & 0xef) == 0x6e;
}

void att_rewrite(char *name, char *operands, size_t room, const char *from_name,
	const char *from_operands, enum att_letter letter, const uint8_t *bytes,
	size_t size)
{
	struct out out = {name, 0, room}, rest = {operands, 0, room};
	const char *blank = strrchr(from_name, ' ');
	const char *word = blank ? blank + 1 : from_name;
	bool nop = begins(word, "nop");
	struct form form = form_of(word, from_operands, bytes, size);

	while (from_name < word)
		put(&out, *from_name++);
	if (nop && write_nop(&out, word, from_operands, bytes, size))
		from_operands = "%ax,%ax";
	else if (is_movq(word, bytes, size))
		puts_to(&out, "movq");
	else if (!nop)
		write_name(&out, word, from_operands, letter);
	if (nop && begins(from_operands, "%cs:"))
		from_operands += 4;
	write_operands(&rest, from_operands, &form);
	name[out.used] = operands[rest.used] = '\0';
}
