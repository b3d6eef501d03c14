/* Runtime rules: how a runtime is recognised and what makes it stable and readable.
 *
 * A rule is an INI file NAME.rule; the user's stand in $XDG_CONFIG_HOME/stablerun/rules
 * (or
 * ~/.config/…) and hide installed ones of the same name. Its sections and keys:
 *
 *   [match]
 *   when = TEST:PATTERN...   alternatives, one a line; all tests of a line must hold.
 *                            file: the program's base name; needs: a needed library;
 * section: an ELF section; note: the owner of an ELF note; exports: a dynamic symbol;
 * script: text in the script that is executed (script is a plain string, the others are
 * shell patterns). A name alone is no evidence: a line has one of the others too. [pin]
 * what makes addresses and bytes repeat, applied always [frames]   what keeps frame
 * pointers, applied always: cheap, and stacks need it [dump]     what makes the runtime
 * write symbols and code, only where the run is kept arg = ARG              inserted
 * after the program's name env = NAME=VALUE       set; NAME+=VALUE adds after a blank,
 * NAME:=VALUE after a colon [needs] seed = N               deterministic randomness clock
 * = startup        a clock that stands still while the program starts cpu = one a single
 * CPU [collect] file = PATTERN         what a dump leaves in the working directory or in
 * /tmp; %p is the pid, and '*' anything [about] name = TEXT  why = TEXT  (continued on
 * indented lines)
 *
 * [match] comes first, so that a file that does not match is read no further. */
#ifndef LAUNCHER_RULES_H
#define LAUNCHER_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/strv.h"

struct plan;
struct rule_evidence;

enum rule_part { RULE_PIN, RULE_FRAMES, RULE_DUMP, RULE_PARTS };

struct rule {
	char *name;	  /* of the file, without .rule */
	char *path;	  /* of the file */
	struct strv when; /* each line as written */
	struct strv args[RULE_PARTS];
	struct strv env[RULE_PARTS]; /* as written */
	bool seed;
	unsigned long seed_value;
	unsigned clock_ms; /* 0: a real clock */
	bool one_cpu;
	struct strv collect;
	char *title; /* [about] name */
	char *why;
	bool user;	 /* one of the user's own */
	bool for_script; /* it matched the script: its arguments stand after that */
};

/* What a program is recognised by. */
struct rule_subject {
	const char *file; /* what the user named: a script, or the program */
	const char *exec; /* the binary */
	bool script;	  /* `file` is a script that `exec` interprets */
};

enum { RULE_MESSAGE = 512 };

/* Reads the rule in `text`. With evidence, reading stops after [match] where it does not
 * match. Returns 1 where it is read (and matches), 0 where it does not match, or -1 with
 * `message`: "file:line: cause". The rule is to be released in every case. */
int rule_parse(struct rule *rule, const char *path, const char *text, size_t size,
	struct rule_evidence *evidence, char message[RULE_MESSAGE]);
void rule_release(struct rule *rule);

/* The rule for the subject: the one named, or with NULL the first that matches, the
 * user's own before the installed ones. Returns 1, 0 where there is none, or -1 after one
 * message (a named rule that is missing or broken). A broken rule met while looking is a
 * warning. */
int rules_find(struct rule *rule, const struct rule_subject *subject, const char *name);

/* Calls `each` for every rule in the order of their names; the rule is borrowed. Returns
 * the number of broken rules, each with its message on stderr. */
int rules_walk(void (*each)(void *context, const struct rule *rule), void *context);

/* The plan's step, before its variables are weighed: arguments, variables and needs, each
 * with its pin. `kept`: the run is kept, so that the dumps are wanted too. `first_cpu`:
 * the CPU for a rule that needs a single one. */
void rules_apply(struct plan *plan, const struct rule *rule, bool kept, int first_cpu);

/* `stablerun rules` */
int rules_main(int argc, char **argv);

#endif
