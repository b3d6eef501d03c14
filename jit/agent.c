/* Which agent, and what they share. */
#include "jit/agent.h"

#include "launcher/base.h"

#include <dlfcn.h>
#include <stddef.h>

struct agent *agent_open(enum agent_kind kind)
{
	switch (kind) {
	case AGENT_OPROFILE: return agent_opagent_open();
	case AGENT_VTUNE: return agent_ittnotify_open();
	case AGENT_NONE: break;
	}
	return NULL;
}

void *agent_find(void *handle, const char *library, const char *name)
{
	void *function = dlsym(handle, name);

	if (!function)
		warn("cannot use '%s' for compiled code: it has no '%s'", library, name);
	return function;
}
