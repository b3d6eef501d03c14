/* Rule files: read whole, and read against a program that is there. What is wrong has to be
 * told with the file's name and a line that the file has. */
#include <stdlib.h>
#include <string.h>

#include "launcher/rule_match.h"
#include "launcher/rules.h"
#include "tests/fuzz/fuzz.h"

static void check_message(const char *message, const uint8_t *data, size_t size)
{
	size_t lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (strncmp(message, "x.rule:", 7) != 0 ||
		strtoul(message + 7, NULL, 10) > lines + 1)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rule_subject subject = {
		.file = "/bin/true", .exec = "/bin/true", .script = true};
	struct rule_evidence evidence;
	char message[RULE_MESSAGE] = "";
	struct rule rule;

	if (rule_parse(&rule, "x.rule", (const char *)data, size, NULL, message) < 0)
		check_message(message, data, size);
	rule_release(&rule);
	rule_evidence_init(&evidence, &subject);
	if (rule_parse(&rule, "x.rule", (const char *)data, size, &evidence, message) < 0)
		check_message(message, data, size);
	rule_release(&rule);
	rule_evidence_release(&evidence);
	return 0;
}
