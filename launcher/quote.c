/* Words as a shell would want them typed. */
#include "launcher/quote.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || strchr("_-./:=,@%+", c);
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

/* Returns how many bytes it wrote. */
static int print_control(FILE *stream, unsigned char c)
{
	if (c == '\n')
		return fprintf(stream, "\\n");
	if (c == '\t')
		return fprintf(stream, "\\t");
	return fprintf(stream, "\\%03o", c);
}

static void print_escaped(FILE *stream, const char *word)
{
	fputs("$'", stream);
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;

		if (is_control(c))
			print_control(stream, c);
		else
			fprintf(stream, c == '\'' || c == '\\' ? "\\%c" : "%c", c);
	}
	fputc('\'', stream);
}

void quote_text(FILE *stream, const char *text, int width)
{
	int used = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		used += is_control(c) ? print_control(stream, c)
				      : fprintf(stream, "%c", c);
	}
	fprintf(stream, "%*s", used < width ? width - used : 0, "");
}

void quote_single(FILE *stream, const char *word)
{
	fputc('\'', stream);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stream);
		else
			fputc(*word, stream);
	fputc('\'', stream);
}

void quote_print(FILE *stream, const char *word)
{
	bool plain = *word, control = false;

	for (const char *c = word; *c; c++) {
		plain = plain && is_plain((unsigned char)*c);
		control = control || is_control((unsigned char)*c);
	}
	if (plain)
		fputs(word, stream);
	else if (control)
		print_escaped(stream, word);
	else
		quote_single(stream, word);
}
