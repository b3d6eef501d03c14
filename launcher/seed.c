/* Deterministic randomness: ChaCha20 (RFC 8439) as a stream that can be read anywhere. */
#include "launcher/seed.h"

#include <string.h>

enum { BLOCK_SIZE = SEED_BLOCK_WORDS * sizeof(uint32_t) };

static uint32_t rotate(uint32_t word, unsigned bits)
{
	return word << bits | word >> (32 - bits);
}

static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
	*a += *b;
	*d = rotate(*d ^ *a, 16);
	*c += *d;
	*b = rotate(*b ^ *c, 12);
	*a += *b;
	*d = rotate(*d ^ *a, 8);
	*c += *d;
	*b = rotate(*b ^ *c, 7);
}

void seed_block(uint32_t block[SEED_BLOCK_WORDS], const uint32_t state[SEED_BLOCK_WORDS])
{
	uint32_t x[SEED_BLOCK_WORDS];

	memcpy(x, state, sizeof(x));
	for (int i = 0; i < 10; i++) {
		for (int column = 0; column < 4; column++)
			quarter_round(&x[column], &x[column + 4], &x[column + 8],
				&x[column + 12]);
		for (int column = 0; column < 4; column++)
			quarter_round(&x[column], &x[(column + 1) % 4 + 4],
				&x[(column + 2) % 4 + 8], &x[(column + 3) % 4 + 12]);
	}
	for (int i = 0; i < SEED_BLOCK_WORDS; i++)
		block[i] = x[i] + state[i];
}

/* Block `number` of a stream. Words 12 and 13 count blocks, as in Bernstein's original
 * layout: a stream of 2^38 bytes, RFC 8439's limit, could be read to its end. */
static void stream_block(uint32_t block[SEED_BLOCK_WORDS], const struct seed_key *key,
	enum seed_use use, uint64_t index, uint64_t number)
{
	uint32_t state[SEED_BLOCK_WORDS] = {
		0x61707865,
		0x3320646e,
		0x79622d32,
		0x6b206574,
	};

	memcpy(state + 4, key->words, sizeof(key->words));
	state[12] = (uint32_t)number;
	state[13] = (uint32_t)(number >> 32);
	state[14] = (uint32_t)index;
	state[15] = (uint32_t)(index >> 32) ^ (uint32_t)use << 24;
	seed_block(block, state);
}

void seed_root(struct seed_key *key, uint64_t seed)
{
	*key = (struct seed_key){{(uint32_t)seed, (uint32_t)(seed >> 32)}};
}

void seed_derive(struct seed_key *child, const struct seed_key *parent, enum seed_use use,
	uint64_t index)
{
	uint32_t block[SEED_BLOCK_WORDS];

	stream_block(block, parent, use, index, 0);
	memcpy(child->words, block, sizeof(child->words));
}

void seed_bytes(const struct seed_key *key, enum seed_use use, uint64_t index,
	uint64_t offset, void *bytes, size_t size)
{
	uint8_t *to = bytes;

	while (size) {
		uint32_t block[SEED_BLOCK_WORDS];
		size_t skipped = offset % BLOCK_SIZE;
		size_t count = BLOCK_SIZE - skipped < size ? BLOCK_SIZE - skipped : size;

		stream_block(block, key, use, index, offset / BLOCK_SIZE);
		memcpy(to, (const uint8_t *)block + skipped, count);
		to += count;
		offset += count;
		size -= count;
	}
}
