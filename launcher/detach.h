/* What a helper beside the program does to be no part of its caller any more. */
#ifndef LAUNCHER_DETACH_H
#define LAUNCHER_DETACH_H

#include <stddef.h>

/* A session of its own, which no terminal's signals reach; no signal but SIGKILL and
 * those of its own faults ends it; full disks and limits are errors to report. */
void detach_session(void);

/* Closes every descriptor but those in `kept`, which is sorted by it (-1 is nothing), and
 * opens /dev/null for the standard ones that are free then. A pipe that a helper held
 * open would keep its reader waiting. */
void detach_descriptors(int *kept, size_t count);

#endif
