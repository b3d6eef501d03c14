/* The plan: everything that a launch will do, decided before anything is done.
 *
 *     options + machine + command (+ rule)  ->  plan  ->  print it, or launch it
 *
 * Making a plan has no effects, so that --plan can show exactly what a run would do.
 * Whoever adds a pin adds a step to plan_make() in plan.c, in the order given there, and
 * records it with plan_pin(), so that --plan and run.json tell it with its source. */
#ifndef LAUNCHER_PLAN_H
#define LAUNCHER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#include "launcher/options.h"
#include "launcher/strv.h"

struct command;
struct machine;
struct rule;

/* One fact that is held fixed, in words. Source: "default", "option --cpu", "rule node",
 * "machine: …". */
struct pin {
	const char *name; /* static: "stack limit", "environment", … */
	char *value;	  /* owned */
	char *source;	  /* owned */
};

struct plan_limit {
	int resource;	  /* RLIMIT_… */
	const char *name; /* "stack" */
	struct rlimit limit;
};

enum { PLAN_LIMITS = 4 };

/* What `stablerun perf` adds to a launch in a child of its own: it attaches perf once all is
 * ready for the execve. Descriptors; see launcher/sampled.c. */
struct plan_outer {
	int ready; /* a byte is written to it when only the execve is left to do */
	int gate;  /* and one read from it before that */
};

struct plan {
	/* What is executed. */
	char *file; /* the file the user named (the script where exec is an interpreter)
		     */
	char *exec; /* what execve gets: absolute */
	struct strv argv; /* what the program will see */
	struct strv envp;
	char *cwd; /* NULL where it is gone */

	/* How. */
	enum options_env env;
	enum options_place place; /* never AUTO: what auto came to; OFF: addresses move */
	bool hold; /* the program is left stopped before its first instruction */
	bool place_required;   /* where moving fails the program must not run */
	unsigned long persona; /* the personality to set; unchanged where place is not
				   * PLACE_PERSONALITY */
	struct plan_limit limits[PLAN_LIMITS];
	size_t limit_count;
	int cpu; /* the one CPU to run on, or -1 */

	/* Supervised launches: see launch.h for where they plug in. */
	bool seeded;
	uint64_t seed;
	unsigned
		clock_ms; /* how long each program's CLOCK_MONOTONIC stands still, or 0 */
	char *rule;	  /* the rule's name, or NULL */
	struct strv collect; /* a kept run gathers these files, see launcher/rules.h */
	char *run;	     /* the RUN directory to keep, or NULL */
	bool force;	     /* an existing one may be replaced */
	int keep_in; /* a directory to keep what only a supervisor sees in, which another part
		      * of stablerun makes a RUN of; else -1 */

	const struct plan_outer *outer; /* borrowed; NULL in a plain run */

	/* What to tell. */
	struct pin *pins;
	size_t pin_count;
	struct strv dropped;  /* names of the caller's variables that the program does not
				 get */
	struct strv warnings; /* said on stderr before the launch, and in --plan */
	char *refusal;	      /* why a launch ends with status 125, or NULL */
};

/* Decides; `rule` is the runtime's, or NULL. Never fails; what cannot be pinned becomes a
 * warning. Copies what it keeps. */
void plan_make(struct plan *plan, const struct options *options,
	const struct machine *machine, const struct command *command,
	const struct rule *rule);
void plan_release(struct plan *plan);

/* What goes with one CPU, see launch.c. */
#define PLAN_TURNS "batch, in turns of up to 100 ms"

/* For those who add pins. The value is a format; name and source are copied or static. */
void plan_pin(struct plan *plan, const char *name, const char *source, const char *format,
	...) __attribute__((format(printf, 4, 5)));
void plan_warn(struct plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The launch will be refused with status 125; the first refusal is the one that is told.
 */
void plan_refuse(struct plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets or replaces one variable of the program's environment. To be called before
 * plan_make() sorts and pads, which is where the rules have their step. */
void plan_setenv(struct plan *plan, const char *name, const char *value);
const char *plan_getenv(const struct plan *plan, const char *name);

/* --plan and --plan=json. Returns 0, or -1 with errno where the stream failed. */
int plan_print_text(const struct plan *plan, FILE *stream);
int plan_print_json(const struct plan *plan, FILE *stream);

#endif
