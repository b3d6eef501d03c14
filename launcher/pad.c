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
 * to the next of a few fixed totals. */
#include "launcher/pad.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "launcher/base.h"

enum {
	/* Between two totals lies less than the longest string that execve takes
	 * (MAX_ARG_STRLEN, 128 KiB), so that one pad always spans the gap. */
	STEP = 124 * 1024,
	/* B = 8 mod 16. */
	TOTAL_REST = 8,
};

static size_t weight(const struct pad_block *block)
{
	return block->string_bytes + 8 * (block->pointers & ~(size_t)1);
}

size_t pad_total(const struct pad_block *block)
{
	size_t least = weight(block) + sizeof(PAD_NAME);

	return (least - TOTAL_REST + STEP - 1) / STEP * STEP + TOTAL_REST;
}

size_t pad_size(const struct pad_block *block)
{
	return pad_total(block) - weight(block);
}

/* Has the whole pages of a new block made at once: a fault for each would cost a tenth of
 * the launch. Older kernels than 5.14 refuse, which is as good. */
static void populate(char *memory, size_t size)
{
	uintptr_t page = 4096;
	uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

char *pad_string(size_t size)
{
	char *string = xmalloc(size);
	size_t name = sizeof(PAD_NAME) - 1;

	populate(string, size);
	memcpy(string, PAD_NAME, name);
	memset(string + name, 'x', size - name - 1);
	string[size - 1] = '\0';
	return string;
}
