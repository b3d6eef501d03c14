/* The table of stencils that stencil_cut generates from the compiled stencils. */
#ifndef JIT_STENCIL_H
#define JIT_STENCIL_H

#include "jit/stencil_kinds.h"

#include <stdint.h>

/* What the code of a stencil may rely on, and what the lint checks it for:
 * - On entry rsp is a multiple of 16 (the prologue of a code object does `push %rbp; mov
 *   %rsp, %rbp` and may subtract a multiple of 16) and it is the same at every exit.
 *   Stencils are compiled with -mpreferred-stack-boundary=3; a frame that gcc made an odd
 *   number of words is padded by stencil_cut, so that calls are always aligned.
 * - rbp is never written. It may be read: slots under rbp are the engine's.
 * - Blocks that gcc moved to .text.unlikely (declare the rare continuations cold and do
 *   not pass -fno-reorder-blocks-and-partition) are emitted behind the code object. */

struct stencil_hole {
	uint16_t offset; /* in bytes from the start of the part it is in */
	uint8_t store;	 /* enum stencil_store */
	uint8_t class;	 /* enum stencil_class */
	uint16_t index;
	uint8_t cold; /* it is in the cold part */
	int32_t addend;
};

struct stencil {
	const char *name;
	const uint8_t *bytes; /* hot_size, then cold_size */
	uint16_t hot_size;
	uint16_t cold_size;
	/* Where the hot part ends when its trailing `jmp CONT` is dropped; else hot_size.
	 */
	uint16_t drop_size;
	uint16_t hole_count;
	const struct stencil_hole *holes;
};

extern const struct stencil stencil_table[];
extern const uintptr_t stencil_symbols[];

#include "jit/stencils.gen.h" /* enum stencils: STENCIL_NAME for each op_NAME */

#endif
