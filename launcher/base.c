/* Messages, memory and cleanup that the three programs share. */
#include "launcher/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	STATUS_NO_MEMORY = 125,
	/* A path, its escapes and what is said of it; longer messages are cut. */
	LINE_SIZE = 12 * 1024,
};

struct line {
	char bytes[LINE_SIZE];
	size_t used;
};

static void put(struct line *line, char c)
{
	/* The last byte is the newline's. */
	if (line->used < sizeof(line->bytes) - 1)
		line->bytes[line->used++] = c;
}

/* Names in messages can hold anything: control characters are shown as escapes, so that a
 * message stays one line and does nothing to a terminal. */
static void put_escaped(struct line *line, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x20 && c != 0x7f) {
			put(line, (char)c);
			continue;
		}
		put(line, '\\');
		if (c == '\n' || c == '\t' || c == '\r') {
			put(line, c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
			continue;
		}
		put(line, (char)('0' + (c >> 6)));
		put(line, (char)('0' + (c >> 3 & 7)));
		put(line, (char)('0' + (c & 7)));
	}
}

static void warn_list(const char *format, va_list list)
{
	int saved = errno;
	struct line line = {.used = 0};
	char text[LINE_SIZE];

	if (vsnprintf(text, sizeof(text), format, list) < 0)
		text[0] = '\0';
	put_escaped(&line, program_name);
	put_escaped(&line, ": ");
	put_escaped(&line, text);
	line.bytes[line.used++] = '\n';
	/* Nobody is left to tell when stderr itself fails. */
	if (write(STDERR_FILENO, line.bytes, line.used) < 0)
		errno = saved;
	errno = saved;
}

void warn(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	warn_list(format, list);
	va_end(list);
}

void die(int status, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	warn_list(format, list);
	va_end(list);
	exit(status);
}

static void *checked(void *memory)
{
	if (!memory)
		die(STATUS_NO_MEMORY, "out of memory");
	return memory;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(count && size ? calloc(count, size) : calloc(1, 1));
}

void *xrealloc(void *memory, size_t size)
{
	return checked(realloc(memory, size ? size : 1));
}

void *xreallocarray(void *memory, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		die(STATUS_NO_MEMORY, "out of memory");
	return xrealloc(memory, bytes);
}

char *xstrdup(const char *string)
{
	return checked(strdup(string));
}

char *xasprintf(const char *format, ...)
{
	va_list list;
	char *string = NULL;

	va_start(list, format);
	int length = vasprintf(&string, format, list);
	va_end(list);
	return checked(length < 0 ? NULL : string);
}

void base_populate(void *memory, size_t size)
{
	uintptr_t page = 4096;
	uintptr_t begin = ((uintptr_t)memory + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(page - 1);
	int error = errno;

	if (begin < end && madvise((void *)begin, end - begin, MADV_POPULATE_WRITE))
		errno = error;
}

void base_free_pointer(void *pointer)
{
	free(*(void **)pointer);
}

void base_close_descriptor(int *descriptor)
{
	int saved = errno;

	if (*descriptor >= 0)
		close(*descriptor);
	errno = saved;
}
