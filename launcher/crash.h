/* Holding the program at its end also where a signal ends it, by ptrace: seized, so that it
 * is not stopped by that, and asked to stop before it dies (PTRACE_O_TRACEEXIT).
 *
 * What it costs: each signal to the program's first thread takes a detour, and nobody else
 * can trace the program meanwhile. Where somebody does already there is nothing to do. */
#ifndef LAUNCHER_CRASH_H
#define LAUNCHER_CRASH_H

#include <stdbool.h>
#include <sys/types.h>

struct process;
struct supervisor;

struct crash {
	int signals; /* a signalfd for SIGCHLD, polled; -1 */
	bool seized;
	bool leaving; /* the program is to stop, and then to be traced by somebody else */
	int refused;  /* errno of the last refusal */
};

/* Prepares; 0, or -1 with errno. */
int crash_init(struct crash *crash, int poll);

/* Seizes the program, as often as it is called until it works. */
void crash_seize(struct crash *crash, pid_t program);

/* Lets go of the program, which is inside a call that the kernel asked about, so that
 * somebody else can trace it. True: the call is to be answered so that it is made again
 * (-ERESTARTNOINTR), and nobody traces the program by then. False: nobody does now. */
bool crash_let_go(struct crash *crash, const struct process *process);

/* To be called when `signals` is readable. */
void crash_serve(struct supervisor *supervisor);

#endif
