/* Reading perf maps, whose lines may come from several writers at once and be torn. */
#include "annotate/perfmap.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

int perfmap_open(struct perfmap *map, const char *path, struct fault *fault)
{
	*map = (struct perfmap){0};
	if (file_open(&map->file, path) < 0)
		return fault_set(fault, "%s", strerror(errno));
	return 0;
}

void perfmap_close(struct perfmap *map)
{
	file_close(&map->file);
}

static bool read_hex(const char **at, const char *end, uint64_t *value)
{
	const char *start;

	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
		*at += 2;
	start = *at;
	*value = 0;
	for (; *at < end && isxdigit((unsigned char)**at); ++*at) {
		int digit = **at <= '9' ? **at - '0' : (**at | 0x20) - 'a' + 10;
		if (*value >> 60)
			return false;
		*value = *value << 4 | (unsigned)digit;
	}
	return *at > start && *at < end && **at == ' ';
}

static bool read_line(const char *at, const char *end, struct perfmap_entry *entry)
{
	if (!read_hex(&at, end, &entry->address))
		return false;
	at++;
	if (!read_hex(&at, end, &entry->size))
		return false;
	at++;
	while (end > at && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	entry->name = at;
	entry->length = (size_t)(end - at);
	return entry->length > 0 && !memchr(at, 0, entry->length) &&
	       entry->address + entry->size >= entry->address;
}

int perfmap_next(struct perfmap *map, struct perfmap_entry *entry)
{
	while (map->position < map->file.size) {
		const char *start = (const char *)map->file.data + map->position;
		size_t left = map->file.size - map->position;
		const char *end = memchr(start, '\n', left);

		if (!end)
			end = start + left;
		map->position += (size_t)(end - start) + 1;
		map->line++;
		if (end == start)
			continue;
		if (read_line(start, end, entry))
			return 1;
		if (!map->bad++)
			map->first_bad = map->line;
	}
	return 0;
}
