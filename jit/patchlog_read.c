/* Reading patches.log, in memory and without allocation; annotate links this too. */
#include "jit/patchlog.h"

#include <string.h>

/* What is left of a line. */
struct rest {
	const char *at;
	size_t size;
};

/* The next word, without the space behind it. Empty: there is none. */
static struct rest word(struct rest *rest)
{
	struct rest found = *rest;
	const char *space = memchr(rest->at, ' ', rest->size);
	size_t used;

	found.size = space ? (size_t)(space - rest->at) : rest->size;
	used = found.size + (space != NULL);
	rest->at += used;
	rest->size -= used;
	return found;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static bool number(struct rest text, unsigned base, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < text.size; i++) {
		int d = digit(text.at[i]);

		if (d < 0 || (unsigned)d >= base ||
			*value > (UINT64_MAX - (unsigned)d) / base)
			return false;
		*value = *value * base + (unsigned)d;
	}
	return text.size > 0;
}

static bool is_hex(struct rest text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (digit(text.at[i]) < 0)
			return false;
	}
	return text.size > 0 && text.size % 2 == 0;
}

static bool is(struct rest text, const char *name)
{
	return text.size == strlen(name) && memcmp(text.at, name, text.size) == 0;
}

static bool parse_patch(struct rest *rest, struct patchlog_event *event)
{
	struct rest old = word(rest), new = word(rest);

	if (!is_hex(old) || !is_hex(new) || old.size != new.size)
		return false;
	event->kind = PATCHLOG_PATCH;
	event->size = old.size / 2;
	event->old = old.at;
	event->new = new.at;
	event->text = rest->at;
	event->text_length = rest->size;
	return true;
}

static bool parse_object(struct rest *rest, struct patchlog_event *event)
{
	struct rest type = word(rest);

	event->kind = PATCHLOG_OBJECT;
	event->type = type.at;
	event->type_length = type.size;
	event->text = rest->at;
	event->text_length = rest->size;
	return type.size > 0;
}

/* 1: an event; 0: nothing to read here; -1: malformed. */
static int parse(struct rest line, struct patchlog_event *event)
{
	struct rest name, clock, address;

	if (line.size == 0 || line.at[0] == '#')
		return 0;
	*event = (struct patchlog_event){0};
	name = word(&line);
	if (!is(name, "patch") && !is(name, "unload") && !is(name, "object"))
		return 0;
	clock = word(&line);
	address = word(&line);
	if (!number(clock, 10, &event->clock) || !number(address, 16, &event->address))
		return -1;
	if (is(name, "patch"))
		return parse_patch(&line, event) ? 1 : -1;
	if (is(name, "object"))
		return parse_object(&line, event) ? 1 : -1;
	event->kind = PATCHLOG_UNLOAD;
	return number(word(&line), 10, &event->size) ? 1 : -1;
}

int patchlog_next(const char **text, size_t *size, struct patchlog_event *event)
{
	const char *end;

	while (*size > 0 && (end = memchr(*text, '\n', *size))) {
		struct rest line = {*text, (size_t)(end - *text)};
		int status;

		*size -= line.size + 1;
		*text += line.size + 1;
		status = parse(line, event);
		if (status != 0)
			return status;
	}
	return 0;
}

void patchlog_bytes(const char *digits, uint64_t size, uint8_t *bytes)
{
	for (uint64_t i = 0; i < size; i++)
		bytes[i] =
			(uint8_t)(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
}
