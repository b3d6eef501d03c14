/* `stablerun verify`: the same command in many contexts, and whether anything moved. */
#ifndef LAUNCHER_VERIFY_H
#define LAUNCHER_VERIFY_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/strv.h"

enum verify_context {
	VERIFY_PLAIN,
	VERIFY_ENV,
	VERIFY_PERF,
	VERIFY_GDB,
	VERIFY_CONTEXTS
};

extern const char *const verify_context_names[VERIFY_CONTEXTS];

struct verify_launch {
	const char *stablerun;	    /* this program's path */
	const struct strv *options; /* of a plain run, to hand on */
	const char *file; /* the command's file, absolute: gdb executes it so, and argv[0]
			   * is part of what is compared */
	char *const *arguments; /* after the command's name; NULL-terminated */
	bool script;		/* gdb cannot be given a script */
};

/* Runs it once in a context (verify_run.c), keeps the run as `run`, and puts what it printed
 * into `log`. Returns 0; or -1 with *cause, owned: the run was not made. */
int verify_launch(const struct verify_launch *launch, enum verify_context context,
	unsigned number, const char *run, const char *log, char **cause);

int verify_main(int argc, char **argv);

#endif
