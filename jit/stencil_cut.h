/* What the parts of stencil_cut share: the stencils as read from object files. */
#ifndef JIT_STENCIL_CUT_H
#define JIT_STENCIL_CUT_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CUT_HOT,
	CUT_COLD,
	CUT_PARTS,
};

struct cut_hole {
	size_t offset; /* in its part */
	int part;
	unsigned store; /* enum stencil_store */
	unsigned class; /* enum stencil_class */
	unsigned index;
	int64_t addend;
};

struct cut_part {
	uint8_t *bytes; /* owned */
	size_t size;
	cs_insn *insns; /* owned by cs_free(); NULL before disassembly */
	size_t insn_count;
};

struct cut_stencil {
	char *name; /* without op_; owned */
	struct cut_part parts[CUT_PARTS];
	struct cut_hole *holes; /* owned */
	size_t hole_count;
	size_t padded; /* bytes of frame before stencil_cut padded it, or 0 */
};

/* An external symbol, or (with `bytes`) a read-only section that stencils refer to. */
struct cut_symbol {
	char *name;
	uint8_t *bytes;
	size_t size;
	size_t align;
	size_t object, section; /* where it was read */
};

struct cut {
	csh capstone;
	struct cut_stencil *stencils;
	size_t stencil_count;
	struct cut_symbol *symbols;
	size_t symbol_count;
	unsigned errors;
};

/* Disassembles (again) both parts. */
void cut_disassemble(struct cut *cut, struct cut_stencil *stencil);

/* The hole in an instruction, or NULL. */
const struct cut_hole *cut_hole_in(
	const struct cut_stencil *stencil, int part, const cs_insn *insn);

/* The name of what a hole refers to. */
const char *cut_hole_name(const struct cut *cut, const struct cut_hole *hole);

/* Says what is wrong with a stencil at an offset, and counts it. */
void cut_refuse(struct cut *cut, const struct cut_stencil *stencil, int part,
	size_t offset, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Checks a stencil; pads its frame where that aligns its calls. */
void stencil_lint(struct cut *cut, struct cut_stencil *stencil);

/* Lets jumps to a `jmp X` go to X; drops a cold part that nothing refers to any more. */
void stencil_thread_jumps(struct cut *cut, struct cut_stencil *stencil);

/* Bytes of the hot part without a trailing `jmp CONT`. */
size_t stencil_drop_size(const struct cut *cut, const struct cut_stencil *stencil);

/* Writes the generated header. Returns 0, or -1 (errno). */
int stencil_write(struct cut *cut, const char *path);

#endif
