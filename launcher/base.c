/* Messages, memory and cleanup that the three programs share. */
#include "launcher/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STATUS_NO_MEMORY = 125,
	LINE_SIZE = 4096,
};

static void warn_list(const char *format, va_list list)
{
	int saved = errno;
	char line[LINE_SIZE];
	size_t used = (size_t)snprintf(line, sizeof(line), "%s: ", program_name);
	int length = vsnprintf(line + used, sizeof(line) - used, format, list);

	if (length > 0)
		used += (size_t)length;
	if (used > sizeof(line) - 1)
		used = sizeof(line) - 1;
	line[used++] = '\n';
	/* Nobody is left to tell when stderr itself fails. */
	if (write(STDERR_FILENO, line, used) < 0)
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
