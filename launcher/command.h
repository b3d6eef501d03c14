/* The command: the file a word names, and the binary that execve really gets for it. */
#ifndef LAUNCHER_COMMAND_H
#define LAUNCHER_COMMAND_H

#include <stdbool.h>

#include "launcher/strv.h"

struct machine;

struct command {
	char *file; /* owned: what the word named, as a shell would have passed it */
	char *exec; /* owned: absolute path of the binary (a script's interpreter);
		     * relative only where the working directory is gone */
	struct strv argv; /* as the kernel would have made it from the `#!` lines */
	int scripts;	  /* `#!` lines that were resolved on the way */
	/* Why the kernel will ignore the personality for this binary, or NULL. */
	const char *privilege;
};

/* Finds words[0] (along the caller's PATH where it has no slash) and resolves `#!` lines.
 * Returns 0, or the exit status 126 or 127 after one message. */
int command_find(
	struct command *command, const struct machine *machine, char *const *words);
void command_release(struct command *command);

#endif
