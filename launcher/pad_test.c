/* The pad against a model of the kernel's stack set-up that lays every string and word
 * out one after the other, instead of using the formula. */
#include "launcher/pad.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/check.h"

const char program_name[] = "pad_test";

enum { AUXV_ENTRIES = 23, STRINGS = 700 };

/* Lays the block out downwards as fs/exec.c and create_elf_tables() do. */
static uint64_t stack_pointer(const size_t *lengths, size_t count, size_t words)
{
	uint64_t sp = 0x7ffffffff000;

	sp -= sizeof(void *);
	for (size_t i = 0; i < count; i++)
		sp -= lengths[i] + 1;
	sp &= ~(uint64_t)15;
	sp -= sizeof("x86_64");
	sp -= 16;
	sp &= ~(uint64_t)0; /* STACK_ALLOC does not align */
	sp -= AUXV_ENTRIES * 16;
	for (size_t i = 0; i < words; i++)
		sp -= 8;
	return sp & ~(uint64_t)15;
}

static uint64_t seed = 88172645463325252;

static uint64_t number(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* A block of random strings of `most` bytes at most; returns its padded stack pointer. */
static uint64_t padded(size_t count, size_t most, size_t *pad)
{
	size_t lengths[STRINGS + 1], bytes = 0;

	for (size_t i = 0; i < count; i++) {
		lengths[i] = number(most);
		bytes += lengths[i] + 1;
	}
	/* One of the strings is the executed path; the pad is a variable. */
	struct pad_block block = {.string_bytes = bytes, .pointers = count - 1 + 1 + 3};
	*pad = pad_size(&block);
	lengths[count] = *pad - 1;
	return stack_pointer(lengths, count + 1, block.pointers);
}

static void test_small_blocks(void)
{
	size_t pad;
	uint64_t first = padded(2, 10, &pad);

	for (size_t count = 2; count < 120; count++)
		for (size_t most = 1; count * most < 31000; most += 37)
			CHECK(padded(count, most, &pad) == first);
}

/* How far below the first address others lie. */
static bool is_step(uint64_t distance)
{
	enum { KIB = 1024 };
	uint64_t total = distance + 32 * KIB;

	return total == 32 * KIB || total == 64 * KIB ||
	       (total && total % (124 * KIB) == 0);
}

/* Bigger blocks land on a few addresses, each a whole number of pages from the first. */
static void test_big_blocks(void)
{
	size_t pad;
	uint64_t first = padded(2, 10, &pad);

	for (size_t round = 0; round < 3000; round++) {
		uint64_t sp = padded(2 + number(STRINGS - 2), 1 + number(3000), &pad);

		CHECK(is_step(first - sp));
		CHECK(pad > sizeof(PAD_NAME) - 1 && pad <= 128 * 1024);
	}
}

/* Around each total: the smallest pad, the step to the next, the longest pad. */
static void test_borders(void)
{
	static const size_t totals[] = {32, 64, 124, 248, 372, 496, 620, 1984};

	for (size_t i = 0; i < ARRAY_SIZE(totals); i++)
		for (size_t off = 0; off < 200; off++) {
			struct pad_block block = {
				.string_bytes = totals[i] * 1024 - off, .pointers = 7};
			size_t pad = pad_size(&block);

			CHECK(pad >= sizeof(PAD_NAME) && pad <= 128 * 1024);
			CHECK((block.string_bytes + pad) % 16 == 8);
			CHECK(block.string_bytes + pad + 8 * 6 == pad_total(&block));
		}
}

static void test_string(void)
{
	for (size_t size = sizeof(PAD_NAME); size < 100; size++) {
		cleanup_free char *pad = pad_string(size);

		CHECK(strlen(pad) == size - 1);
		CHECK(!strncmp(pad, PAD_NAME, strlen(PAD_NAME)));
	}
}

int main(void)
{
	test_small_blocks();
	test_big_blocks();
	test_borders();
	test_string();
	return 0;
}
