/* The pad's arithmetic.
 *
 * From the top of the stack down the kernel (fs/exec.c, fs/binfmt_elf.c:
 * create_elf_tables) lays 8 zero bytes, the executed path, the variables' and the
 * arguments' strings (B bytes together), rounds down to 16, then the platform string and
 * 16 random bytes, then the auxiliary vector, then I words: argc, both pointer arrays and
 * their NULLs; and rounds down to 16 again:
 *
 *     sp = al16(al16(TOP - 8 - B) - 23 - auxv - 8 * I)
 *
 * With B = 8 mod 16 the inner rounding loses nothing, and because of the odd 23 the outer
 * one hides whether I is even. So sp is fixed by B + 8 * (I & ~1), which the pad brings
 * to the next of a few fixed totals.
 *
 * A long pad is not free: the kernel copies it, walks it twice to find its end and gives
 * the new stack a page for each 4 KiB of it. 124 KiB of it cost a seventh of a short
 * program's start. Hence the small totals below the large ones: common environments fit
 * the first by far. */
#include "launcher/pad.h"

#include <string.h>

#include "launcher/base.h"

enum {
	/* B = 8 mod 16. */
	TOTAL_REST = 8,
	/* Whole pages, so that the place within a page never changes. */
	FIRST = 32 * 1024,
	SECOND = 64 * 1024,
	/* Between two totals lies less than the longest string that execve takes
	 * (MAX_ARG_STRLEN, 128 KiB), so that one pad always spans the gap. */
	STEP = 124 * 1024,
};

static size_t weight(const struct pad_block *block)
{
	return block->string_bytes + 8 * (block->pointers & ~(size_t)1);
}

size_t pad_total(const struct pad_block *block)
{
	size_t least = weight(block) + sizeof(PAD_NAME) - TOTAL_REST;

	if (least <= FIRST)
		return FIRST + TOTAL_REST;
	if (least <= SECOND)
		return SECOND + TOTAL_REST;
	return (least + STEP - 1) / STEP * STEP + TOTAL_REST;
}

size_t pad_size(const struct pad_block *block)
{
	return pad_total(block) - weight(block);
}

char *pad_string(size_t size)
{
	char *string = xmalloc(size);
	size_t name = sizeof(PAD_NAME) - 1;

	base_populate(string, size);
	memcpy(string, PAD_NAME, name);
	memset(string + name, 'x', size - name - 1);
	string[size - 1] = '\0';
	return string;
}
