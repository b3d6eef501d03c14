/* `#!` lines: each row was tried on the kernel; tests/launcher/scripts.sh tries many
 * more. */
#include "launcher/shebang.h"

#include <string.h>

#include "launcher/check.h"
#include "launcher/env_line.h"
#include "launcher/base.h"

const char program_name[] = "shebang_test";

static const struct {
	const char *line;
	int result;
	const char *interpreter;
	const char *argument;
} rows[] = {
	{"#!/bin/sh\n", 1, "/bin/sh", NULL},
	{"#!/bin/sh", 1, "/bin/sh", NULL},
	{"#! \t /bin/sh \t \n", 1, "/bin/sh", NULL},
	{"#!/bin/sh -e\nrest", 1, "/bin/sh", "-e"},
	{"#!/usr/bin/env  two words \t\n", 1, "/usr/bin/env", "two words"},
	{"#!/bin/sh\r\n", 1, "/bin/sh\r", NULL},
	{"#!relative\n", 1, "relative", NULL},
	{"#!\n", -1, NULL, NULL},
	{"#! \t\n/bin/sh", -1, NULL, NULL},
	{"#!", 1, "", NULL},
	{"", 0, NULL, NULL},
	{"#", 0, NULL, NULL},
	{"# !/bin/sh\n", 0, NULL, NULL},
	{"\177ELF", 0, NULL, NULL},
};

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shebang line;

		CHECK(shebang_parse(&line, rows[i].line, strlen(rows[i].line)) ==
			rows[i].result);
		if (rows[i].result != 1)
			continue;
		CHECK_STRING(line.interpreter, rows[i].interpreter);
		CHECK(line.has_argument == !!rows[i].argument);
		if (rows[i].argument)
			CHECK_STRING(line.argument, rows[i].argument);
	}
}

/* The kernel looks at 256 bytes: a cut argument is taken, a cut name is not. */
static void test_long_lines(void)
{
	char bytes[400];
	struct shebang line;

	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes, "#!/", 3);
	CHECK(shebang_parse(&line, bytes, sizeof(bytes)) == -1);
	CHECK(shebang_parse(&line, bytes, 256) == -1);
	CHECK(shebang_parse(&line, bytes, 255) == 1);
	CHECK(strlen(line.interpreter) == 253);
	bytes[255] = ' ';
	CHECK(shebang_parse(&line, bytes, sizeof(bytes)) == 1);
	bytes[10] = ' ';
	CHECK(shebang_parse(&line, bytes, sizeof(bytes)) == 1);
	CHECK(strlen(line.interpreter) == 8 && line.has_argument);
	CHECK(strlen(line.argument) == 255 - 11);
	memset(bytes + 2, ' ', sizeof(bytes) - 2);
	CHECK(shebang_parse(&line, bytes, sizeof(bytes)) == -1);
}

static void test_zero_bytes(void)
{
	static const char in_name[] = "#!/bin/a\0b c\n",
			  in_argument[] = "#!/bin/a b\0c\n";
	struct shebang line;

	CHECK(shebang_parse(&line, in_name, sizeof(in_name) - 1) == 1);
	CHECK_STRING(line.interpreter, "/bin/a");
	CHECK(!line.has_argument);
	CHECK(shebang_parse(&line, in_argument, sizeof(in_argument) - 1) == 1);
	CHECK_STRING(line.argument, "b");
}

static void check_env(const char *argument, const char *expected)
{
	struct strv words;
	char joined[256] = "";

	strv_init(&words);
	int found = env_line_parse(&words, "/usr/bin/env", argument);
	CHECK(found == !!expected);
	CHECK(found || !words.count);
	for (size_t i = 0; i < words.count; i++) {
		strcat(joined, words.items[i]);
		strcat(joined, "|");
	}
	if (expected)
		CHECK_STRING(joined, expected);
	strv_release(&words);
}

static void test_env_lines(void)
{
	struct strv words;

	check_env("node", "node|");
	check_env("-S node --flag=1 \t -x", "node|--flag=1|-x|");
	check_env("-Snode -x", "node|-x|");
	check_env("node --flag", "node --flag|"); /* one word, as env sees it */
	check_env("-i node", NULL);
	check_env("A=b", NULL);
	check_env("-S A=b node", NULL);
	check_env("-S -i node", NULL);
	check_env("-S", NULL);
	check_env("-S node 'a b'", NULL);
	check_env("-S node $HOME", NULL);
	check_env("-S node a\\tb", NULL);
	check_env("-S node #comment", NULL);
	strv_init(&words);
	CHECK(!env_line_parse(&words, "/opt/env", "node"));
	strv_release(&words);
}

int main(void)
{
	test_rows();
	test_long_lines();
	test_zero_bytes();
	test_env_lines();
	return 0;
}
