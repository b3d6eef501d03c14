/* Profilers that want to be called for each piece of JIT code: their libraries are loaded
 * at run time, where the user asks for one by --agent. */
#ifndef JIT_AGENT_H
#define JIT_AGENT_H

#include <stdbool.h>

struct code_info;

enum agent_kind {
	AGENT_NONE,
	AGENT_OPROFILE, /* libopagent: agent_opagent.c */
	AGENT_VTUNE,	/* ittnotify's JIT API: agent_ittnotify.c */
};

/* What every agent does; each has its own data behind it. */
struct agent {
	void (*load)(struct agent *agent, const struct code_info *code);
	void (*unload)(struct agent *agent, const struct code_info *code);
	/* In the child of a fork, which has a record of its own; all live code is loaded
	 * again then. */
	void (*forked)(struct agent *agent);
	void (*close)(struct agent *agent); /* frees it */
};

/* Loads the library and opens it. Returns owned, or NULL after one warning where there is
 * none or it refuses: the program runs on. */
struct agent *agent_open(enum agent_kind kind);

/* The agents' own files. */
struct agent *agent_opagent_open(void);
struct agent *agent_ittnotify_open(void);

/* The function called `name` of the library `handle` called `library`; NULL after one
 * warning. */
void *agent_find(void *handle, const char *library, const char *name);

#endif
