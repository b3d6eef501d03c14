/* The tests of a `when` line: TEST:PATTERN, separated by blanks. */
#include "launcher/rule_match.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/rules.h"

enum {
	WORD_SIZE = 256,
	/* Launch scripts say early what they start. */
	SCRIPT_SIZE = 32 << 10,
};

void rule_evidence_init(
	struct rule_evidence *evidence, const struct rule_subject *subject)
{
	*evidence = (struct rule_evidence){.subject = subject};
}

void rule_evidence_release(struct rule_evidence *evidence)
{
	/* Taking the mapping away costs more than all that was done with it, and an execve
	 * is about to take away the whole memory. */
	free(evidence->script);
}

static const struct elf_file *elf_of(struct rule_evidence *evidence)
{
	if (!evidence->elf_tried)
		elf_file_open(&evidence->elf, evidence->subject->exec);
	evidence->elf_tried = true;
	return evidence->elf.bytes ? &evidence->elf : NULL;
}

static const char *script_of(struct rule_evidence *evidence)
{
	if (!evidence->subject->script)
		return NULL;
	if (evidence->script)
		return evidence->script;
	cleanup_fd int fd = open(
		evidence->subject->file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char *text = xcalloc(1, SCRIPT_SIZE);
	/* A NUL ends the text early: no script has one. */
	if (fd < 0 || read(fd, text, SCRIPT_SIZE - 1) < 0)
		*text = '\0';
	return evidence->script = text;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool test_file(struct rule_evidence *evidence, const char *pattern)
{
	const struct rule_subject *subject = evidence->subject;

	return fnmatch(pattern, base_name(subject->file), 0) == 0 ||
	       fnmatch(pattern, base_name(subject->exec), 0) == 0;
}

static bool test_needs(struct rule_evidence *evidence, const char *pattern)
{
	const struct elf_file *elf = elf_of(evidence);

	return elf && elf_file_needs(elf, pattern);
}

static bool test_section(struct rule_evidence *evidence, const char *pattern)
{
	const struct elf_file *elf = elf_of(evidence);

	return elf && elf_file_has_section(elf, pattern);
}

static bool test_note(struct rule_evidence *evidence, const char *pattern)
{
	const struct elf_file *elf = elf_of(evidence);

	return elf && elf_file_has_note(elf, pattern);
}

static bool test_exports(struct rule_evidence *evidence, const char *pattern)
{
	const struct elf_file *elf = elf_of(evidence);

	return elf && elf_file_exports(elf, pattern);
}

static bool test_script(struct rule_evidence *evidence, const char *pattern)
{
	const char *script = script_of(evidence);

	return script && strstr(script, pattern);
}

/* Cheap ones first helps nobody: a line's tests are made in its own order. */
static const struct test {
	const char *name;
	bool (*holds)(struct rule_evidence *evidence, const char *pattern);
} tests[] = {
	{"file:", test_file},
	{"needs:", test_needs},
	{"section:", test_section},
	{"note:", test_note},
	{"exports:", test_exports},
	{"script:", test_script},
};

/* Takes the next word off *line into `word`. 1, 0 at the end, or -1: too long. */
static int next_word(const char **line, char word[WORD_SIZE])
{
	const char *begin = *line + strspn(*line, " \t");
	size_t length = strcspn(begin, " \t");

	if (length == 0)
		return 0;
	if (length >= WORD_SIZE)
		return -1;
	memcpy(word, begin, length);
	word[length] = '\0';
	*line = begin + length;
	return 1;
}

static const struct test *find_test(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		size_t length = strlen(tests[i].name);
		if (strncmp(word, tests[i].name, length) == 0 && word[length])
			return &tests[i];
	}
	return NULL;
}

const char *rule_when_check(const char *line)
{
	char word[WORD_SIZE];
	bool evidence = false;
	int got;

	while ((got = next_word(&line, word)) > 0) {
		const struct test *test = find_test(word);
		if (!test)
			return "a test is one of file:, needs:, section:, note:, "
			       "exports:, "
			       "script: and a pattern";
		evidence |= test->holds != test_file;
	}
	if (got < 0)
		return "a test is too long";
	return evidence ? NULL
			: "a name alone is no evidence: add needs:, section:, note:, "
			  "exports: or script:";
}

bool rule_when_holds(struct rule_evidence *evidence, const char *line)
{
	char word[WORD_SIZE];

	while (next_word(&line, word) > 0) {
		const struct test *test = find_test(word);
		if (!test || !test->holds(evidence, word + strlen(test->name)))
			return false;
	}
	return true;
}
