/* Threads of a starting program that take turns. */
#ifndef LAUNCHER_SETTLE_H
#define LAUNCHER_SETTLE_H

#include <sys/types.h>

struct process;

/* Waits, for a fifth of a second at most, until every thread of the process but `caller`,
 * which waits for an answer, sleeps. */
void settle(const struct process *process, pid_t caller);

#endif
