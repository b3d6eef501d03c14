/* What can be sampled here, or why nothing can. */
#ifndef LAUNCHER_SAMPLING_H
#define LAUNCHER_SAMPLING_H

#include <stdbool.h>

/* The event to sample by default, in perf's words: cycles where there are hardware
 * counters, else cpu-clock; user space only, which needs no privileges. NULL where the
 * kernel refuses both; then *cause, owned, says which setting does and how to change it.
 */
const char *sampling_event(char **cause);

/* The same refusal in words, from what was found: the errno of perf_event_open, the value
 * of kernel.perf_event_paranoid (-1: unreadable) and whether this process is under a
 * seccomp filter. Returns owned. */
char *sampling_explain(int error, int paranoid, bool filtered);

/* kernel.perf_event_max_sample_rate, or 0 where it cannot be read. */
unsigned long sampling_most(void);

#endif
