/* `stablerun perf --engine`: the runs of a series made by a program that scatters jobs over
 * machines, GNU parallel or Slurm, and gathered into one RUN. */
#ifndef LAUNCHER_ENGINE_H
#define LAUNCHER_ENGINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "launcher/gather.h"
#include "launcher/run.h"

struct strv;

/* Strings are borrowed from the command line. */
struct engine_options {
	const char *name;	/* "parallel" or "slurm"; NULL: runs are made here */
	const char *hosts;	/* for parallel: a list as its --sshlogin has it */
	const char *hosts_file; /* for parallel: as its --sshloginfile has it */
	const char *program;	/* stablerun on the hosts; NULL: where this one is */
	unsigned long jobs;	/* runs at a time on each host, or in all; 0: not said */
	enum gather_differing differing;
};

/* What is run. Borrowed. */
struct engine_job {
	unsigned runs;
	const char *output; /* the RUN, or NULL: named after `file` */
	bool force;
	const char *file;		 /* the program, found */
	const struct strv *perf_options; /* of stablerun perf, on the hosts */
	const struct strv *command; /* options of a plain run, "--" and the command */
	int signals;		    /* a signalfd of what a user stops a program with */
	const sigset_t *mask;	    /* of signals, for children */
};

/* Takes the value of the long option `name`; a bad one ends the program. */
void engine_option(struct engine_options *options, const char *name, const char *value);
/* Ends the program where options were given that make no sense together. */
void engine_check(const struct engine_options *options);

/* Makes the runs and the RUN, and tells about both. Returns the wait status of the first
 * run that failed, 0, or that of an exit with STATUS_TROUBLE. */
int engine_record(const struct engine_options *options, const struct engine_job *job);

/* ---- between the files of the engine ---- */

struct engine {
	const struct engine_options *options;
	const struct engine_job *job;
	struct run_writer writer;
	char *staging;	  /* absolute; a directory of ours in the RUN being written */
	char *out;	  /* in it: run N leaves the archive N there, and N.err */
	char **makers;	  /* [runs + 1], owned: which host made run N; NULL: none has */
	unsigned missing; /* runs that no host made */
	bool interrupted;
};

/* The job as a shell's text (engine_script.c): one run, whose files it writes to standard
 * output as an archive. Owned. */
char *engine_script(const struct engine_job *job, const char *program);

/* Starts argv with standard output and error going to the files, which are created in the
 * staging directory (NULL: standard output is returned in *output). Returns the pid, or -1
 * after one message (engine_child.c). */
pid_t engine_start(
	const struct engine *engine, char *const *argv, const char *log, int *output);

/* Waits for it with progress on a terminal; a signal to us calls `cancel`, once. Returns the
 * wait status. */
int engine_wait(struct engine *engine, pid_t pid, unsigned (*count)(struct engine *),
	void (*cancel)(struct engine *, pid_t pid));

/* The last line of a file of the staging directory that says something; owned, or NULL. */
char *engine_last_line(const struct engine *engine, const char *name);

/* Writes a file there, executable where asked. 0, or -1 after one message. */
int engine_write(
	const struct engine *engine, const char *name, const char *text, bool run);

/* Each engine: makes the runs as far as it can. 0, or -1 after one message where it could
 * not even begin. */
int engine_parallel(struct engine *engine);
int engine_slurm(struct engine *engine);

#endif
