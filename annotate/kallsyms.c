/* Lines "ADDRESS TYPE NAME[\t[MODULE]]"; unprivileged readers see zeros as addresses. */
#include "annotate/kallsyms.h"
#include "annotate/file.h"
#include "launcher/base.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_line(char *line, struct symbols *symbols)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);

	if (!address || end[0] != ' ' || !end[1] || end[2] != ' ')
		return;
	if (tolower((unsigned char)end[1]) != 't' &&
		tolower((unsigned char)end[1]) != 'w')
		return;
	char *name = end + 3;
	name[strcspn(name, "\t\n ")] = '\0';
	if (!name[0])
		return;
	symbols_add(symbols,
		(struct symbol){address, 0, symbols_own(symbols, xstrdup(name)),
			isupper((unsigned char)end[1]) ? SYMBOLS_GLOBAL : SYMBOLS_LOCAL,
			false, NULL});
}

int kallsyms_read(const char *path, struct symbols *symbols)
{
	FILE *stream = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	if (!stream)
		return -1;
	while (getline(&line, &room, stream) > 0)
		read_line(line, symbols);
	free(line);
	fclose(stream);
	return symbols->count ? 0 : -1;
}
