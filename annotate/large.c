/* Large tables by mmap(). */
#include "annotate/large.h"
#include "launcher/base.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	MAPPED =
		1 << 16, /* from here on by mmap(), which gives zeros only when touched */
	HUGE = 1 << 21,
	LINE = 64, /* of the processor's cache */
};

static size_t rounded(size_t size, size_t unit)
{
	if (size > SIZE_MAX - 2 * (size_t)HUGE)
		die(125, "out of memory");
	return (size + unit - 1) & ~(unit - 1);
}

void *large_new(size_t size)
{
	if (size < MAPPED) {
		void *memory = aligned_alloc(LINE, rounded(size + !size, LINE));
		if (!memory)
			die(125, "out of memory");
		return memset(memory, 0, size);
	}
	if (size < HUGE) {
		void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			die(125, "out of memory");
		return memory;
	}
	size = rounded(size, HUGE);
	char *start = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		die(125, "out of memory");
	size_t before = -(uintptr_t)start & (HUGE - 1);
	if (before)
		munmap(start, before);
	munmap(start + before + size, HUGE - before);
	(void)madvise(start + before, size, MADV_HUGEPAGE);
	return start + before;
}

void large_free(void *memory, size_t size)
{
	if (!memory)
		return;
	if (size < MAPPED)
		free(memory);
	else
		munmap(memory, size < HUGE ? size : rounded(size, HUGE));
}

void *large_grow(void *memory, size_t size, size_t new_size)
{
	void *copy = large_new(new_size);

	if (size)
		memcpy(copy, memory, size);
	large_free(memory, size);
	return copy;
}
