/* Machine code to text, one instruction at a time. */
#ifndef ANNOTATE_DISASM_H
#define ANNOTATE_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum disasm_flow {
	DISASM_PLAIN,
	DISASM_JUMP,	    /* always */
	DISASM_CONDITIONAL, /* or not */
	DISASM_CALL,
	DISASM_RETURN, /* and traps: what follows is not reached from here */
};

enum {
	DISASM_TEXT = 224,
};

struct disasm_instruction {
	uint64_t address;
	unsigned size; /* bytes */
	enum disasm_flow flow;
	bool nop;	 /* padding: nop, or int3 */
	bool slow;	 /* it may take long: division, root, load, atomic */
	bool has_target; /* jumps and calls whose target is in the code */
	uint64_t target;
	bool has_constant; /* an immediate, or the address that [rip + x] means */
	bool memory;	   /* … the latter */
	uint64_t constant;
	char text[DISASM_TEXT];
};

struct disasm;

/* For an ELF e_machine; with `att` in AT&T's syntax rather than Intel's. Owned, or NULL
 * where that machine is not known. */
struct disasm *disasm_new(unsigned machine, bool att);
void disasm_free(struct disasm *disasm);

/* Decodes at the start of `bytes`. Always gives an instruction of at least one byte: what
 * cannot be decoded is shown as ".byte". `size` is not 0. */
void disasm_decode(struct disasm *disasm, const uint8_t *bytes, size_t size,
	uint64_t address, struct disasm_instruction *instruction);

#endif
