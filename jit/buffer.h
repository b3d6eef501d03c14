/* Bytes that grow while a file format is written: little-endian numbers, LEB128, strings.
 */
#ifndef JIT_BUFFER_H
#define JIT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory is an empty buffer. When memory runs out `failed` is set, and from then
 * on what is put is dropped; the owner checks it once at the end. */
struct buffer {
	uint8_t *bytes; /* owned */
	size_t size, room;
	bool failed;
};

void buffer_release(struct buffer *buffer);
/* Empties it and keeps the memory. */
void buffer_clear(struct buffer *buffer);

/* Makes room ahead of time: later growth up to `room` takes no memory. */
void buffer_reserve(struct buffer *buffer, size_t room);

void buffer_put(struct buffer *buffer, const void *bytes, size_t size);
void buffer_u8(struct buffer *buffer, uint8_t value);
void buffer_u16(struct buffer *buffer, uint16_t value);
void buffer_u32(struct buffer *buffer, uint32_t value);
void buffer_u64(struct buffer *buffer, uint64_t value);
void buffer_uleb(struct buffer *buffer, uint64_t value);
void buffer_sleb(struct buffer *buffer, int64_t value);
/* A string with its terminating zero. */
void buffer_string(struct buffer *buffer, const char *string);
void buffer_format(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Zeroes (or `value`) up to a multiple of `alignment`. */
void buffer_align(struct buffer *buffer, size_t alignment, uint8_t value);
/* Rewrites a number that was put before, at `offset`. */
void buffer_set_u32(struct buffer *buffer, size_t offset, uint32_t value);

#endif
