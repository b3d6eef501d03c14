/* `#!/usr/bin/env NAME` lines.
 *
 * env executes a second time, with arguments that are shorter than those the pad was made
 * for, and a rule that looks at the binary would see env. Lines that it has to interpret
 * (options but -S, assignments, quotes, variables) are left to it. */
#include "launcher/env_line.h"

#include <string.h>

#include "launcher/base.h"

static int split(struct strv *words, const char *line)
{
	static const char blanks[] = " \t";

	/* What -S gives a meaning to. */
	if (strpbrk(line, "'\"\\$#"))
		return 0;
	for (line += strspn(line, blanks); *line; line += strspn(line, blanks)) {
		size_t length = strcspn(line, blanks);

		strv_add(words, xasprintf("%.*s", (int)length, line));
		line += length;
	}
	return words->count > 0;
}

int env_line_parse(struct strv *words, const char *interpreter, const char *argument)
{
	int found = 1;

	if (strcmp(interpreter, "/usr/bin/env") && strcmp(interpreter, "/bin/env"))
		return 0;
	if (!strncmp(argument, "-S", 2))
		found = split(words, argument + 2);
	else
		strv_add(words, xstrdup(argument));
	if (found && words->items[0][0] && words->items[0][0] != '-' &&
		!strchr(words->items[0], '='))
		return 1;
	while (words->count)
		strv_remove(words, words->count - 1);
	return 0;
}
