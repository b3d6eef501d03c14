/* Reading a rule file; the only file that knows inih. */
#include "launcher/rules.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/rule_match.h"

enum {
	/* inih's buffer for a line: what is longer would be cut without a word. */
	LINE_MOST = INI_MAX_LINE - 2,
	/* What --clock=startup means, and the most it takes. */
	CLOCK_MS = 200,
	CLOCK_MS_MOST = 60000,
};

struct parse {
	struct rule *rule;
	struct rule_evidence *evidence; /* NULL: read it whatever it matches */
	const char *path;
	const char *text; /* what is left to read */
	const char *end;
	int line; /* that was handed to inih last */
	char *message;
	bool failed;
	bool matched;
	bool decided; /* [match] has ended */
};

__attribute__((format(printf, 2, 3))) static int fail(
	struct parse *parse, const char *format, ...)
{
	va_list list;

	if (parse->failed)
		return 0;
	parse->failed = true;
	int used = snprintf(
		parse->message, RULE_MESSAGE, "%s:%d: ", parse->path, parse->line);
	if (used < 0 || used >= RULE_MESSAGE)
		return 0;
	va_start(list, format);
	vsnprintf(parse->message + used, (size_t)(RULE_MESSAGE - used), format, list);
	va_end(list);
	return 0;
}

static int take_match(struct parse *parse, const char *key, const char *value)
{
	const char *wrong = rule_when_check(value);

	if (strcmp(key, "when") != 0)
		return fail(parse, "unknown key '%s' in [match]: there is when", key);
	if (wrong)
		return fail(parse, "%s", wrong);
	if (parse->decided)
		return fail(parse, "[match] has to be the first section");
	strv_add(&parse->rule->when, xstrdup(value));
	if (parse->evidence && !parse->matched &&
		rule_when_holds(parse->evidence, value)) {
		parse->matched = true;
		parse->rule->for_script = strstr(value, "script:") != NULL;
	}
	return 1;
}

static bool is_variable(const char *value)
{
	size_t name = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (name == 0 || (*value >= '0' && *value <= '9'))
		return false;
	value += name;
	value += *value == '+' || *value == ':';
	return *value == '=';
}

static int take_part(
	struct parse *parse, enum rule_part part, const char *key, const char *value)
{
	if (strcmp(key, "arg") == 0) {
		strv_add(&parse->rule->args[part], xstrdup(value));
		return 1;
	}
	if (strcmp(key, "env") != 0)
		return fail(parse, "unknown key '%s': there are arg and env", key);
	if (!is_variable(value))
		return fail(parse,
			"'%s' is no variable: expected NAME=VALUE, NAME+=VALUE or "
			"NAME:=VALUE",
			value);
	strv_add(&parse->rule->env[part], xstrdup(value));
	return 1;
}

static int take_need(struct parse *parse, const char *key, const char *value)
{
	struct rule *rule = parse->rule;
	char *end;

	if (strcmp(key, "seed") == 0) {
		errno = 0;
		rule->seed = true;
		rule->seed_value = strtoul(value, &end, 0);
		if (errno || *end || *value < '0' || *value > '9')
			return fail(parse, "'%s' is no seed: expected a number", value);
	} else if (strcmp(key, "clock") == 0) {
		errno = 0;
		rule->clock_ms = CLOCK_MS;
		if (strncmp(value, "startup:", 8) == 0)
			rule->clock_ms = (unsigned)strtoul(value + 8, &end, 10);
		if (strcmp(value, "startup") != 0 &&
			(strncmp(value, "startup:", 8) != 0 || errno || *end ||
				rule->clock_ms < 1 || rule->clock_ms > CLOCK_MS_MOST))
			return fail(parse,
				"'%s' is no clock: expected startup or startup:MS, at most "
				"%d",
				value, CLOCK_MS_MOST);
	} else if (strcmp(key, "cpu") == 0) {
		rule->one_cpu = true;
		if (strcmp(value, "one") != 0)
			return fail(
				parse, "'%s' is no choice of CPUs: there is one", value);
	} else {
		return fail(parse,
			"unknown key '%s' in [needs]: there are seed, clock and cpu",
			key);
	}
	return 1;
}

static int take_collect(struct parse *parse, const char *key, const char *value)
{
	if (strcmp(key, "file") != 0)
		return fail(parse, "unknown key '%s' in [collect]: there is file", key);
	/* Only in the working directory and /tmp, and only with what names the process:
	 * a rule must not carry away other files. */
	if (strchr(value, '/') || !strstr(value, "%p"))
		return fail(parse,
			"'%s' is no file that can be collected: expected a name "
			"without '/' that holds %%p",
			value);
	strv_add(&parse->rule->collect, xstrdup(value));
	return 1;
}

/* Indented lines arrive with the key of the line that they continue. */
static void append(char **text, const char *more)
{
	char *before = *text;

	*text = before ? xasprintf("%s %s", before, more) : xstrdup(more);
	free(before);
}

static int take_about(struct parse *parse, const char *key, const char *value)
{
	if (strcmp(key, "name") == 0)
		append(&parse->rule->title, value);
	else if (strcmp(key, "why") == 0)
		append(&parse->rule->why, value);
	else
		return fail(parse, "unknown key '%s' in [about]: there are name and why",
			key);
	return 1;
}

static int take(void *context, const char *section, const char *key, const char *value)
{
	static const char *const parts[] = {
		[RULE_PIN] = "pin", [RULE_FRAMES] = "frames", [RULE_DUMP] = "dump"};
	struct parse *parse = context;

	if (parse->failed)
		return 0;
	if (!*value)
		return fail(parse, "'%s' has no value", key);
	if (strcmp(section, "match") == 0)
		return take_match(parse, key, value);
	parse->decided = true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcmp(section, parts[i]) == 0)
			return take_part(parse, (enum rule_part)i, key, value);
	}
	if (strcmp(section, "needs") == 0)
		return take_need(parse, key, value);
	if (strcmp(section, "collect") == 0)
		return take_collect(parse, key, value);
	if (strcmp(section, "about") == 0)
		return take_about(parse, key, value);
	return fail(parse, "unknown section [%s]", section);
}

/* inih's source of lines. Ends early where the rule is for another program. */
static char *next_line(char *buffer, int size, void *context)
{
	struct parse *parse = context;
	const char *begin = parse->text;

	if (begin == parse->end || parse->failed)
		return NULL;
	parse->line++;
	if (*begin == '[' && parse->rule->when.count > 0) {
		parse->decided = true;
		if (parse->evidence && !parse->matched)
			return NULL;
	}
	const char *newline = memchr(begin, '\n', (size_t)(parse->end - begin));
	parse->text = newline ? newline + 1 : parse->end;
	size_t length = (size_t)(parse->text - begin);
	if (length > LINE_MOST || length >= (size_t)size ||
		memchr(begin, '\0', length) != NULL) {
		fail(parse, "the line is no text of at most %d bytes", LINE_MOST);
		return NULL;
	}
	memcpy(buffer, begin, length);
	buffer[length] = '\0';
	return buffer;
}

static char *rule_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return strndup(name, dot ? (size_t)(dot - name) : strlen(name));
}

int rule_parse(struct rule *rule, const char *path, const char *text, size_t size,
	struct rule_evidence *evidence, char message[RULE_MESSAGE])
{
	struct parse parse = {.rule = rule,
		.evidence = evidence,
		.path = path,
		.text = text,
		.end = text + size,
		.message = message};

	*rule = (struct rule){0};
	int wrong = ini_parse_stream(next_line, &parse, take, &parse);
	if (wrong && !parse.failed) {
		parse.line = wrong;
		fail(&parse, "neither a [section] nor KEY = VALUE");
	}
	if (!parse.failed && rule->when.count == 0)
		fail(&parse, "the rule recognises nothing: it has no [match]");
	if (parse.failed)
		return -1;
	if (evidence && !parse.matched)
		return 0;
	rule->name = rule_name(path);
	rule->path = xstrdup(path);
	return 1;
}

void rule_release(struct rule *rule)
{
	free(rule->name);
	free(rule->path);
	free(rule->title);
	free(rule->why);
	strv_release(&rule->when);
	strv_release(&rule->collect);
	for (int i = 0; i < RULE_PARTS; i++) {
		strv_release(&rule->args[i]);
		strv_release(&rule->env[i]);
	}
	*rule = (struct rule){0};
}
