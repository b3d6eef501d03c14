/* Doing what a plan says: one straight list of irreversible steps that ends in execve.
 *
 *   1. affinity, resource limits
 *   2. keep_start()       the RUN directory and its helper      where the run is kept
 *   3. personality, set and read back                           PLACE_PERSONALITY
 *   4. place_prepare()    the helper that moves the program     PLACE_MOVE
 *                         (before the filter, which would ask the supervisor about it)
 *   5. supervise_start()  helper and seccomp filter             seed, clock, kept run
 *   6. execve, exactly once and in this process: the pid stays, gdb's exec-wrapper counts
 *   7. only if that failed: one message that says why
 *
 * Steps 2, 4 and 5 do nothing in a plain run, which then never forks. A step returns 0, or
 * an exit status after its own message. */
#ifndef LAUNCHER_LAUNCH_H
#define LAUNCHER_LAUNCH_H

struct plan;

/* Does not return where the program was executed; else the exit status, 125 to 127, after
 * one message. */
int launch(const struct plan *plan);

#endif
