/* What the plan needs to know of the machine and of this process, read once. */
#ifndef LAUNCHER_MACHINE_H
#define LAUNCHER_MACHINE_H

#include <stdbool.h>
#include <sys/resource.h>

#include "launcher/place.h"

struct machine {
	char *const *envp;     /* the caller's environment, borrowed */
	char *cwd;	       /* owned; NULL where the directory is gone or unreadable */
	unsigned long persona; /* personality(2)'s flags */
	struct rlimit stack;   /* RLIMIT_STACK */
	bool no_new_privs;     /* set-user-ID bits and file capabilities have no effect */
	bool privileged;       /* root: file capabilities add nothing */
	struct place_facts place; /* read by whoever may need to move the program */
	int first_cpu; /* the lowest CPU that this process may use; read by decide() */
	bool persona_refused; /* asking for ADDR_NO_RANDOMIZE fails (a container) */
};

/* Reads the facts. Tries the personality and puts it back, because that is the only way
 * to know whether a seccomp filter refuses it. */
void machine_read(struct machine *machine, char *const *envp);
void machine_release(struct machine *machine);

#endif
