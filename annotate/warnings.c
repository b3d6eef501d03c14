/* Keeping warnings. */
#include "annotate/warnings.h"
#include "launcher/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void warnings_add(struct warnings *warnings, const char *format, ...)
{
	va_list list;
	char *text = NULL;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		die(125, "out of memory");
	va_end(list);
	warn("%s", text);
	warnings->list = xreallocarray(
		warnings->list, warnings->count + 1, sizeof(*warnings->list));
	warnings->list[warnings->count++] = text;
}

void warnings_release(struct warnings *warnings)
{
	for (size_t i = 0; i < warnings->count; i++)
		free(warnings->list[i]);
	free(warnings->list);
	*warnings = (struct warnings){0};
}
