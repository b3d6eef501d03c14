/* The first line of a script, read as the kernel reads it (fs/binfmt_script.c). */
#include "launcher/shebang.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *from, const char *end)
{
	while (from < end && is_blank(*from))
		from++;
	return from;
}

static const char *skip_word(const char *from, const char *end)
{
	while (from < end && !is_blank(*from) && *from)
		from++;
	return from;
}

static void copy(char *out, const char *from, const char *end)
{
	memcpy(out, from, (size_t)(end - from));
	out[end - from] = '\0';
}

/* The line's end, or NULL where the interpreter's name may go on beyond what is looked
 * at. Like the kernel, a line is only ended by a newline that no zero byte comes before.
 */
static const char *line_end(const char *begin, const char *limit)
{
	size_t size = (size_t)(limit - begin) + 1;
	size_t length = strnlen(begin, size);
	const char *newline = memchr(begin, '\n', length);

	if (newline)
		return newline;
	/* The last byte may still be what ends the name. */
	const char *name = skip_blanks(begin, limit + 1);
	return skip_word(name, limit + 1) > limit ? NULL : limit;
}

int shebang_parse(struct shebang *shebang, const char *bytes, size_t size)
{
	/* A shorter file is followed by zeros, as in the kernel's buffer. */
	char buffer[SHEBANG_SIZE] = {0};

	memcpy(buffer, bytes, size < sizeof(buffer) ? size : sizeof(buffer));
	if (buffer[0] != '#' || buffer[1] != '!')
		return 0;
	const char *begin = buffer + 2;
	const char *end = line_end(begin, buffer + sizeof(buffer) - 1);
	if (!end)
		return -1;
	while (end > begin && is_blank(end[-1]))
		end--;
	const char *name = skip_blanks(begin, end);
	if (name == end)
		return -1;
	const char *name_end = skip_word(name, end);
	copy(shebang->interpreter, name, name_end);
	/* A zero byte ends the name and leaves no argument. */
	const char *argument = name_end;
	if (name_end < end && *name_end)
		argument = skip_blanks(name_end, end);
	else
		argument = end;
	shebang->has_argument = argument < end;
	copy(shebang->argument, argument,
		argument + strnlen(argument, (size_t)(end - argument)));
	return 1;
}
