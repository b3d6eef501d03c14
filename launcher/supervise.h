/* Supervising a program from beside it: the program keeps its process, pid and parent,
 *and a helper answers for the kernel those system calls that the run is about.
 *
 *	stablerun ── fork ── middle (exits) ── fork ── supervisor ── fork ── watchdog
 *	    │ installs the seccomp filter, hands its listener to the supervisor
 *	    └─ execve: the program and, under the same filter, all that it starts
 *
 * The supervisor ends when the last process under the filter has ended. */
#ifndef LAUNCHER_SUPERVISE_H
#define LAUNCHER_SUPERVISE_H

#include <stdbool.h>
#include <stdint.h>

struct plan;

/* Whether the plan asks for something that only a supervisor gives. */
bool supervise_wanted(const struct plan *plan);

/* A step of launch(): starts supervising this process. Returns 0, or an exit status after
 * one message. Where the kernel allows no supervisor it says so, and the launch goes on
 * without. Does nothing where none is wanted. */
int supervise_start(const struct plan *plan);

#endif
