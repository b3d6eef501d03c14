/* Reading kept memory maps: ADDRESS-ADDRESS ACCESS OFFSET MAJOR:MINOR INODE NAME */
#include "launcher/maps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/run.h"

enum { MAPS_LIMIT = 256 << 20 };

/* A number in `base` of at most 16 digits, ended by `end`. */
static bool take_number(char **at, int base, char end, uint64_t *number)
{
	char *after;

	if (**at == '-' || **at == '+' || **at == ' ')
		return false;
	errno = 0;
	*number = strtoull(*at, &after, base);
	if (after == *at || errno || *after != end)
		return false;
	*at = after + 1;
	return true;
}

static bool parse_line(struct map *map, char *line)
{
	uint64_t ignored;

	if (!take_number(&line, 16, '-', &map->start) ||
		!take_number(&line, 16, ' ', &map->end) || map->end < map->start)
		return false;
	if (strlen(line) < 5 || line[4] != ' ' || strspn(line, "rwxsp-") != 4)
		return false;
	memcpy(map->access, line, 4);
	map->access[4] = '\0';
	line += 5;
	if (!take_number(&line, 16, ' ', &map->offset) ||
		!take_number(&line, 16, ':', &ignored) ||
		!take_number(&line, 16, ' ', &ignored))
		return false;
	/* The inode, and blanks up to the name if there is one. */
	size_t digits = strspn(line, "0123456789");
	if (digits == 0 || (line[digits] && line[digits] != ' '))
		return false;
	map->name = line + digits + strspn(line + digits, " ");
	return true;
}

size_t maps_parse(struct maps *maps, char *text, size_t size)
{
	size_t line_number = 0, room = 0;

	*maps = (struct maps){.text = text};
	for (char *line = text, *next; line < text + size; line = next) {
		char *newline = memchr(line, '\n', (size_t)(text + size - line));
		next = newline ? newline + 1 : text + size;
		if (newline)
			*newline = '\0';
		line_number++;
		if (maps->count == room) {
			room = room ? room * 2 : 64;
			maps->items =
				xreallocarray(maps->items, room, sizeof(*maps->items));
		}
		if (!parse_line(&maps->items[maps->count++], line)) {
			maps_release(maps);
			return line_number;
		}
	}
	return 0;
}

void maps_release(struct maps *maps)
{
	free(maps->items);
	free(maps->text);
	*maps = (struct maps){0};
}

long maps_read(struct maps *maps, int directory, const char *name)
{
	size_t size;
	char *text = run_read_file(directory, name, MAPS_LIMIT, &size);

	*maps = (struct maps){0};
	if (!text)
		return -1;
	return (long)maps_parse(maps, text, size);
}
