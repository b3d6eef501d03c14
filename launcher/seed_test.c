/* The generator against RFC 8439, and the properties that a seeded run rests on. */
#include "launcher/seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "PASS" : "FAIL", what);
	failures += !holds;
}

/* RFC 8439, section 2.3.2. */
static void test_block(void)
{
	static const uint32_t state[SEED_BLOCK_WORDS] = {0x61707865, 0x3320646e,
		0x79622d32, 0x6b206574, 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
		0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 0x00000001, 0x09000000,
		0x4a000000, 0x00000000};
	static const uint32_t expected[SEED_BLOCK_WORDS] = {0xe4e7f110, 0x15593bd1,
		0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
		0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9, 0xd19c12b5, 0xb94e16de,
		0xe883d0cb, 0x4e3c50a2};
	uint32_t block[SEED_BLOCK_WORDS];

	seed_block(block, state);
	check(!memcmp(block, expected, sizeof(block)), "block of RFC 8439, 2.3.2");
}

/* The key of all zero bytes, block 0: RFC 8439, appendix A.1, test vector 1, has the
 * nonce zero; ours is never, so it is compared through seed_block(). */
static void test_zero_block(void)
{
	static const uint8_t begin[] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90};
	const uint32_t state[SEED_BLOCK_WORDS] = {
		0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
	uint32_t block[SEED_BLOCK_WORDS];

	seed_block(block, state);
	check(!memcmp(block, begin, sizeof(begin)), "block of RFC 8439, A.1 vector 1");
}

static void test_pieces(void)
{
	struct seed_key key;
	uint8_t whole[1000], pieces[1000];

	seed_root(&key, 7);
	seed_bytes(&key, SEED_GETRANDOM, 0, 0, whole, sizeof(whole));
	for (size_t at = 0, size = 1; at < sizeof(pieces);
		at += size, size = size * 3 % 97) {
		if (size > sizeof(pieces) - at)
			size = sizeof(pieces) - at;
		seed_bytes(&key, SEED_GETRANDOM, 0, at, pieces + at, size);
	}
	check(!memcmp(whole, pieces, sizeof(whole)),
		"a stream is the same in one piece and in many");
}

static void test_different(void)
{
	struct seed_key keys[6];
	uint8_t bytes[12][16];
	int equal = 0;

	seed_root(&keys[0], 0);
	seed_root(&keys[1], 1);
	seed_derive(&keys[2], &keys[0], SEED_THREAD, 0);
	seed_derive(&keys[3], &keys[0], SEED_THREAD, 1);
	seed_derive(&keys[4], &keys[0], SEED_PROCESS, 0);
	seed_derive(&keys[5], &keys[2], SEED_THREAD, 0);
	for (int i = 0; i < 6; i++) {
		seed_bytes(&keys[i], SEED_GETRANDOM, 0, 0, bytes[2 * i], 16);
		seed_bytes(&keys[i], SEED_AT_RANDOM, 0, 0, bytes[2 * i + 1], 16);
	}
	for (int i = 0; i < 12; i++)
		for (int j = 0; j < i; j++)
			equal += !memcmp(bytes[i], bytes[j], 16);
	check(equal == 0, "keys, uses and seeds give different bytes");
}

int main(void)
{
	test_block();
	test_zero_block();
	test_pieces();
	test_different();
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
