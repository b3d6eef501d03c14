/* The one reader of untrusted bytes: a cursor that never leaves its range. Reading past
 * the end gives zeros (or NULL) and sets `failed` for good, so a caller may read a whole
 * record and ask once. `swap` is set where the file's byte order is not ours. */
#ifndef ANNOTATE_BYTES_H
#define ANNOTATE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *at, *end;
	bool swap;
	bool failed;
};

static inline struct bytes bytes_of(const void *start, size_t size, bool swap)
{
	return (struct bytes){start, (const uint8_t *)start + size, swap, false};
}

static inline size_t bytes_left(const struct bytes *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

/* The next `size` bytes, borrowed, or NULL where there are fewer. */
static inline const uint8_t *bytes_take(struct bytes *bytes, uint64_t size)
{
	const uint8_t *start = bytes->at;

	if (bytes->failed || size > bytes_left(bytes)) {
		bytes->failed = true;
		return NULL;
	}
	bytes->at += size;
	return start;
}

static inline void bytes_skip(struct bytes *bytes, uint64_t size)
{
	(void)bytes_take(bytes, size);
}

static inline uint8_t bytes_u8(struct bytes *bytes)
{
	const uint8_t *start = bytes_take(bytes, 1);

	return start ? *start : 0;
}

static inline uint16_t bytes_u16(struct bytes *bytes)
{
	const uint8_t *start = bytes_take(bytes, 2);
	uint16_t value = 0;

	if (start)
		memcpy(&value, start, sizeof(value));
	return bytes->swap ? __builtin_bswap16(value) : value;
}

static inline uint32_t bytes_u32(struct bytes *bytes)
{
	const uint8_t *start = bytes_take(bytes, 4);
	uint32_t value = 0;

	if (start)
		memcpy(&value, start, sizeof(value));
	return bytes->swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t bytes_u64(struct bytes *bytes)
{
	const uint8_t *start = bytes_take(bytes, 8);
	uint64_t value = 0;

	if (start)
		memcpy(&value, start, sizeof(value));
	return bytes->swap ? __builtin_bswap64(value) : value;
}

/* The next bytes up to and including a NUL, borrowed, or NULL where none follows. */
static inline const char *bytes_string(struct bytes *bytes)
{
	const uint8_t *start = bytes->at;
	const uint8_t *nul = bytes->failed ? NULL : memchr(start, 0, bytes_left(bytes));

	if (!nul) {
		bytes->failed = true;
		return NULL;
	}
	bytes->at = nul + 1;
	return (const char *)start;
}

/* A cursor over the next `size` bytes, which are skipped; failed where there are fewer.
 */
static inline struct bytes bytes_part(struct bytes *bytes, uint64_t size)
{
	const uint8_t *start = bytes_take(bytes, size);

	if (!start)
		return (struct bytes){bytes->end, bytes->end, bytes->swap, true};
	return bytes_of(start, size, bytes->swap);
}

#endif
