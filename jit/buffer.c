/* Growing bytes. The host is little-endian, as the formats written are. */
#include "jit/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 512 };

void buffer_release(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

void buffer_clear(struct buffer *buffer)
{
	buffer->size = 0;
	buffer->failed = false;
}

/* Room for `size` more bytes; NULL where there is none. */
static uint8_t *extend(struct buffer *buffer, size_t size)
{
	uint8_t *place;

	if (buffer->failed)
		return NULL;
	if (size > buffer->room - buffer->size) {
		size_t room = buffer->room ? buffer->room : FIRST_ROOM;
		uint8_t *grown;

		while (room - buffer->size < size)
			room *= 2;
		grown = realloc(buffer->bytes, room);
		if (!grown) {
			buffer->failed = true;
			return NULL;
		}
		buffer->bytes = grown;
		buffer->room = room;
	}
	place = buffer->bytes + buffer->size;
	buffer->size += size;
	return place;
}

void buffer_reserve(struct buffer *buffer, size_t room)
{
	uint8_t *grown = room > buffer->room ? realloc(buffer->bytes, room) : NULL;

	if (!grown)
		return;
	buffer->bytes = grown;
	buffer->room = room;
}

void buffer_put(struct buffer *buffer, const void *bytes, size_t size)
{
	uint8_t *place = extend(buffer, size);

	if (place && size > 0)
		memcpy(place, bytes, size);
}

void buffer_u8(struct buffer *buffer, uint8_t value)
{
	buffer_put(buffer, &value, sizeof(value));
}

void buffer_u16(struct buffer *buffer, uint16_t value)
{
	buffer_put(buffer, &value, sizeof(value));
}

void buffer_u32(struct buffer *buffer, uint32_t value)
{
	buffer_put(buffer, &value, sizeof(value));
}

void buffer_u64(struct buffer *buffer, uint64_t value)
{
	buffer_put(buffer, &value, sizeof(value));
}

void buffer_uleb(struct buffer *buffer, uint64_t value)
{
	while (value >= 0x80) {
		buffer_u8(buffer, (uint8_t)(value | 0x80));
		value >>= 7;
	}
	buffer_u8(buffer, (uint8_t)value);
}

void buffer_sleb(struct buffer *buffer, int64_t value)
{
	while (value < -0x40 || value >= 0x40) {
		buffer_u8(buffer, (uint8_t)(value | 0x80));
		value >>= 7;
	}
	buffer_u8(buffer, (uint8_t)(value & 0x7f));
}

void buffer_string(struct buffer *buffer, const char *string)
{
	buffer_put(buffer, string, strlen(string) + 1);
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
	va_list list;
	int length;
	uint8_t *place;

	va_start(list, format);
	length = vsnprintf(NULL, 0, format, list);
	va_end(list);
	if (length < 0) {
		buffer->failed = true;
		return;
	}
	/* vsnprintf() writes a zero behind, which does not stay. */
	place = extend(buffer, (size_t)length + 1);
	if (!place)
		return;
	va_start(list, format);
	vsnprintf((char *)place, (size_t)length + 1, format, list);
	va_end(list);
	buffer->size--;
}

void buffer_align(struct buffer *buffer, size_t alignment, uint8_t value)
{
	size_t size = -buffer->size & (alignment - 1);
	uint8_t *place = extend(buffer, size);

	if (place && size > 0)
		memset(place, value, size);
}

void buffer_set_u32(struct buffer *buffer, size_t offset, uint32_t value)
{
	if (!buffer->failed)
		memcpy(buffer->bytes + offset, &value, sizeof(value));
}
