/* The profile as one self-contained page: page.html with the JSON in it. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The page's text is a part of the program. */
__asm__(".section .rodata\n"
	".global html_page\n"
	"html_page:\n"
	".incbin \"annotate/page.html\"\n"
	".byte 0\n"
	".previous\n");
extern const char html_page[];

static const char PLACE[] = "@DATA@";

int html_write(struct writer *writer, const char *path)
{
	const char *data = strstr(html_page, PLACE);
	FILE *file = fopen(path, "we");

	if (!file)
		return -1;
	writer->out = file;
	fwrite(html_page, 1, (size_t)(data - html_page), file);
	json_write(writer);
	fputs(data + sizeof(PLACE) - 1, file);
	writer->out = stdout;
	bool failed = ferror(file);
	return fclose(file) == 0 && !failed ? 0 : -1;
}
