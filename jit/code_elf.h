/* An ELF image of code objects at their true addresses: symbols, Python lines, unwinding.
 * It is code.elf at exit, with the bytes, and what gdb is given in memory, without them.
 */
#ifndef JIT_CODE_ELF_H
#define JIT_CODE_ELF_H

#include <stdbool.h>
#include <stddef.h>

#include "jit/buffer.h"
#include "jit/debug_info.h"

struct code_info;

/* Reused from one image to the next. */
struct code_elf {
	struct buffer symbols, strings, names;
	struct buffer regions; /* scratch: of code that lies together */
	struct debug_info debug;
};

/* Appends an image of `count` code objects (ascending) to the empty buffer `out`. With
 * `bytes` it holds their bytes as they are now. False: out of memory. */
bool code_elf_build(struct code_elf *elf, struct buffer *out,
	struct code_info *const *codes, size_t count, const char *directory, bool bytes);
/* Room for each of its parts, ahead of time. */
void code_elf_reserve(struct code_elf *elf, size_t room);
void code_elf_release(struct code_elf *elf);

#endif
