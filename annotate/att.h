/* x86 instructions in AT&T's syntax as objdump and gdb print them. */
#ifndef ANNOTATE_ATT_H
#define ANNOTATE_ATT_H

#include <stddef.h>
#include <stdint.h>

/* What the last letter of a mnemonic is. */
enum att_letter {
	ATT_PLAIN, /* a part of it */
	ATT_SIZE,  /* the operands' size, left off where a register tells it as well */
	ATT_USUAL, /* the only size there is, always left off */
};

/* The same for all forms of an instruction. `name` is capstone's, without prefixes. */
enum att_letter att_letter_of(const char *name);

/* Rewrites capstone's AT&T syntax, in which every number below ten is decimal and every
 * mnemonic has its size, into that of the GNU tools: the mnemonic into `name` and the operands
 * into `operands`, each of `room` bytes. `bytes` are those of the instruction. */
void att_rewrite(char *name, char *operands, size_t room, const char *from_name,
	const char *from_operands, enum att_letter letter, const uint8_t *bytes,
	size_t size);

#endif
