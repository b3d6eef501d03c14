/* The environment that a program is given: pinned or clean. */
#ifndef LAUNCHER_ENVIRONMENT_H
#define LAUNCHER_ENVIRONMENT_H

#include "launcher/strv.h"

/* Copies `envp` without what callers add by themselves (shells, gdb, perf), with the PATH
 * prefix of perf taken off and PWD set to `cwd` (no PWD where that is NULL). The names of
 * what was dropped or changed are added to `dropped`. Not sorted yet. */
void environment_pin(
	struct strv *out, struct strv *dropped, char *const *envp, const char *cwd);

/* The small fixed set: PATH, LANG, HOME (the caller's, "/" where unset), PWD. */
void environment_clean(struct strv *out, char *const *envp, const char *cwd);

/* Sorts by name, bytewise; variables of one name keep their order, because the first of
 * them is the one that getenv() finds. */
void environment_sort(struct strv *variables);

/* Sets or replaces `name`; every other variable of that name goes. */
void environment_set(struct strv *variables, const char *name, const char *value);

/* The value of `name` in a NULL-terminated array, borrowed, or NULL. */
const char *environment_get(char *const *variables, const char *name);

/* `path` (a PATH's value) without the directories that perf puts before it. */
const char *environment_strip_path(const char *path);

#endif
