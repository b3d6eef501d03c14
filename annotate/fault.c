/* Wording of faults. */
#include "annotate/fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(fault->text, sizeof(fault->text), format, list);
	va_end(list);
	return -1;
}
