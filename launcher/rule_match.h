/* Recognising a program by a rule's `when` line. */
#ifndef LAUNCHER_RULE_MATCH_H
#define LAUNCHER_RULE_MATCH_H

#include <stdbool.h>

#include "launcher/elf_file.h"

struct rule_subject;

/* The subject's file is opened when the first test asks for it, and once for all rules.
 */
struct rule_evidence {
	const struct rule_subject *subject;
	struct elf_file elf;
	bool elf_tried;
	char *script; /* the beginning of the script; owned */
};

void rule_evidence_init(
	struct rule_evidence *evidence, const struct rule_subject *subject);
void rule_evidence_release(struct rule_evidence *evidence);

/* Whether the line makes sense; NULL, or what is wrong with it (static). */
const char *rule_when_check(const char *line);

/* Whether all tests of the line, which rule_when_check() has passed, hold. */
bool rule_when_holds(struct rule_evidence *evidence, const char *line);

#endif
