/* The stack as the kernel builds it for a new program, and the same without the random
 * part. Pure.
 *
 * From high to low (fs/binfmt_elf.c: create_elf_tables): eight zero bytes at the top, the
 * strings (path, environment, arguments; they stay as they are), a random gap below 8
 * KiB, the platform's name, 16 random bytes, a gap that aligns, the auxiliary vector,
 * envp, argv, argc. Everything between the strings and argc is built anew. */
#ifndef LAUNCHER_PLACE_STACK_H
#define LAUNCHER_PLACE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place_stack {
	const uint64_t *words; /* borrowed: the memory from rsp up to the strings */
	size_t size;	       /* in bytes; the last word may be partial */
	uint64_t rsp, strings; /* addresses */
	size_t auxv;	       /* index of the first word of the auxiliary vector */
	size_t auxv_words;     /* its AT_NULL included */
	uint64_t platform_size;
};

/* Returns NULL where the memory is laid out exactly as described, else why not. */
const char *place_stack_parse(struct place_stack *stack, const uint64_t *words,
	size_t size, uint64_t rsp, uint64_t strings);

/* The value of an entry of the auxiliary vector, or 0. */
uint64_t place_stack_auxv(const struct place_stack *stack, uint64_t type);

/* Maps an address of the old places to the new ones. */
typedef uint64_t place_stack_shift(const void *data, uint64_t address);

/* The new image: bytes for the old range from rsp to the strings, which is to be written
 * at the same distance below the strings' new place. What lies below the new rsp is zero.
 * `image` has room for the old size. Addresses are the new ones; they are equal to the
 * old ones but for the shift of the stack. Returns the new rsp; *auxv is where the
 * auxiliary vector lies then. */
uint64_t place_stack_build(const struct place_stack *stack, place_stack_shift *shift,
	const void *data, uint8_t *image, uint64_t *auxv);

#endif
