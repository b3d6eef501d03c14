/* Deterministic randomness: keys, and the bytes that follow from a key.
 *
 * Every thread of a seeded run has a key of its own. A new thread's, process's or image's
 * key is derived from the key of the thread that made it and from how many it made
 * before, so that no race between threads can change who gets which bytes. */
#ifndef LAUNCHER_SEED_H
#define LAUNCHER_SEED_H

#include <stddef.h>
#include <stdint.h>

enum { SEED_KEY_WORDS = 8, SEED_BLOCK_WORDS = 16 };

struct seed_key {
	uint32_t words[SEED_KEY_WORDS];
};

/* What bytes are for. Different uses of one key are different streams; the numbers are
 * part of the stream, so a use keeps its number. */
enum seed_use {
	SEED_GETRANDOM = 1, /* index 0 */
	SEED_AT_RANDOM = 2, /* index 0 */
	SEED_DEVICE = 3,    /* index: how many devices the thread opened before */
	SEED_THREAD = 4,    /* derived keys; index: how many were made before */
	SEED_PROCESS = 5,
	SEED_IMAGE = 6,
};

/* The key of a run's first thread. */
void seed_root(struct seed_key *key, uint64_t seed);

/* The key of the `index`-th thing of kind `use` that the owner of `parent` made. `child`
 * may be `parent`. */
void seed_derive(struct seed_key *child, const struct seed_key *parent, enum seed_use use,
	uint64_t index);

/* Bytes `offset` to `offset + size` of the stream that key, use and index select. */
void seed_bytes(const struct seed_key *key, enum seed_use use, uint64_t index,
	uint64_t offset, void *bytes, size_t size);

/* The ChaCha20 block function of RFC 8439, 2.3, on sixteen words of state. */
void seed_block(uint32_t block[SEED_BLOCK_WORDS], const uint32_t state[SEED_BLOCK_WORDS]);

#endif
