/* What the plan needs to know of the machine and of this process, read once. */
#include "launcher/machine.h"

#include <stdlib.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PERSONA_READ = 0xffffffff };

static void read_persona(struct machine *machine)
{
	int persona = personality(PERSONA_READ);

	/* A kernel or filter that refuses even to tell has no flags that we could keep.
	 */
	machine->persona = persona < 0 ? 0 : (unsigned)persona;
	if (machine->persona & ADDR_NO_RANDOMIZE)
		return;
	if (personality(machine->persona | ADDR_NO_RANDOMIZE) < 0)
		machine->persona_refused = true;
	else
		personality(machine->persona);
}

void machine_read(struct machine *machine, char *const *envp)
{
	*machine = (struct machine){.envp = envp};
	machine->cwd = getcwd(NULL, 0);
	/* A directory outside of the root (chroot, a detached mount) has no path. */
	if (machine->cwd && machine->cwd[0] != '/') {
		free(machine->cwd);
		machine->cwd = NULL;
	}
	read_persona(machine);
	if (getrlimit(RLIMIT_STACK, &machine->stack))
		machine->stack = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
	machine->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
	machine->privileged = geteuid() == 0;
}

void machine_release(struct machine *machine)
{
	free(machine->cwd);
	*machine = (struct machine){0};
}
