/* What /proc/PID/maps and /proc/PID/stat say of a process. */
#include "launcher/place_maps.h"

#include <string.h>
#include <sys/mman.h>

/* The text that is still to be read. */
struct text {
	const char *at, *end;
};

static bool take_char(struct text *text, char wanted)
{
	if (text->at == text->end || *text->at != wanted)
		return false;
	text->at++;
	return true;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return 16;
}

static bool take_number(struct text *text, unsigned base, uint64_t *number)
{
	const char *begin = text->at;

	*number = 0;
	while (text->at < text->end && (unsigned)digit(*text->at) < base) {
		if (__builtin_mul_overflow(*number, base, number) ||
			__builtin_add_overflow(*number, digit(*text->at), number))
			return false;
		text->at++;
	}
	return text->at > begin;
}

static void skip_word(struct text *text)
{
	while (text->at < text->end && *text->at != ' ' && *text->at != '\n')
		text->at++;
	while (text->at < text->end && *text->at == ' ')
		text->at++;
}

static bool is(const char *name, size_t size, const char *wanted)
{
	return size == strlen(wanted) && !memcmp(name, wanted, size);
}

/* Only the kernel's own names begin with a bracket; a file's begins with a slash. */
static enum place_kind name_kind(const char *name, size_t size)
{
	if (!size || name[0] != '[' || is(name, size, "[heap]") ||
		(size > 6 && !memcmp(name, "[anon:", 6)))
		return PLACE_PLAIN;
	if (is(name, size, "[vdso]"))
		return PLACE_VDSO;
	/* vvar_vclock is apart from vvar since Linux 6.13. */
	if (is(name, size, "[vvar]") || is(name, size, "[vvar_vclock]"))
		return PLACE_VVAR;
	if (is(name, size, "[stack]"))
		return PLACE_STACK;
	return is(name, size, "[vsyscall]") ? PLACE_VSYSCALL : PLACE_ODD;
}

/* "START-END rwxp OFFSET DEVICE INODE   NAME\n" */
static bool take_map(struct text *text, struct place_map *map)
{
	const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	struct text line = {text->at, newline};

	if (!newline)
		return false;
	text->at = newline + 1;
	if (!take_number(&line, 16, &map->start) || !take_char(&line, '-') ||
		!take_number(&line, 16, &map->end) || !take_char(&line, ' ') ||
		line.end - line.at < 4 || map->start >= map->end)
		return false;
	map->protection = (line.at[0] == 'r' ? PROT_READ : 0) |
			  (line.at[1] == 'w' ? PROT_WRITE : 0) |
			  (line.at[2] == 'x' ? PROT_EXEC : 0);
	skip_word(&line);
	skip_word(&line);
	uint64_t minor;
	if (!take_number(&line, 16, &map->device) || !take_char(&line, ':') ||
		!take_number(&line, 16, &minor))
		return false;
	map->device = map->device << 32 | minor;
	skip_word(&line);
	if (!take_number(&line, 10, &map->inode))
		return false;
	skip_word(&line);
	map->kind = name_kind(line.at, (size_t)(line.end - line.at));
	return true;
}

int place_maps_parse(struct place_maps *maps, const char *text, size_t size)
{
	struct text rest = {text, text + size};

	maps->count = 0;
	while (rest.at < rest.end) {
		if (maps->count == PLACE_MAPS ||
			!take_map(&rest, &maps->items[maps->count]))
			return -1;
		maps->count++;
	}
	return maps->count ? 0 : -1;
}

int place_marks_parse(struct place_marks *marks, const char *text, size_t size)
{
	/* Numbers of the fields, counted from 1; the second is the name in parentheses,
	 * which may hold anything, parentheses and spaces too. */
	enum { FIRST = 3, LAST = 51 };
	const struct {
		int field;
		uint64_t *number;
	} wanted[] = {
		{4, &marks->parent},
		{26, &marks->start_code},
		{27, &marks->end_code},
		{28, &marks->start_stack},
		{45, &marks->start_data},
		{46, &marks->end_data},
		{47, &marks->start_brk},
		{48, &marks->arg_start},
		{49, &marks->arg_end},
		{50, &marks->env_start},
		{51, &marks->env_end},
	};
	const char *name_end = memrchr(text, ')', size);
	struct text rest = {name_end ? name_end + 1 : text, text + size};
	size_t next = 0;

	if (!name_end || !take_char(&rest, ' '))
		return -1;
	for (int field = FIRST; field <= LAST; field++) {
		if (wanted[next].field == field) {
			struct text word = rest;
			if (!take_number(&word, 10, wanted[next++].number))
				return -1;
		}
		skip_word(&rest);
	}
	return 0;
}

const struct place_map *place_maps_find(const struct place_maps *maps, uint64_t address)
{
	for (size_t i = 0; i < maps->count; i++)
		if (address >= maps->items[i].start && address < maps->items[i].end)
			return &maps->items[i];
	return NULL;
}
