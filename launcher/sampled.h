/* One run of a plan under perf, kept in a RUN directory. */
#ifndef LAUNCHER_SAMPLED_H
#define LAUNCHER_SAMPLED_H

#include <signal.h>
#include <stdbool.h>

#include "launcher/recorder.h"

struct plan;
struct run_info;

struct sampled {
	/* Set by the caller, borrowed. */
	const struct plan *plan;
	const struct recorder_options
		*recorder;	/* NULL: run without samples, because of */
	const char *no_samples; /* this */
	int directory;		/* of the RUN, being written */
	int signals;		/* a signalfd of what a user stops a program with */
	const sigset_t *mask;	/* of signals, for the program */
	bool again;		/* the plan's warnings have been said */

	/* Set by sampled_run(). */
	int wait_status;  /* of the program, as waitpid() gives it */
	bool started;	  /* it was executed: else the launcher has said why not */
	bool interrupted; /* a signal came from the terminal or was sent to us */
	unsigned long samples;
};

/* Runs it to its end and fills `info` and the directory, all but run.json. Returns 0, or
 * -1 after one message where no process could be made. */
int sampled_run(struct sampled *sampled, struct run_info *info);

#endif
