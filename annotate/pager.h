/* Paging through less, or $PAGER, on a terminal. */
#ifndef ANNOTATE_PAGER_H
#define ANNOTATE_PAGER_H

#include <sys/types.h>

/* Sends what is written to stdout from now on through a pager: its pid, or 0 where none can
 * be started, and then stdout is as before. */
pid_t pager_start(void);

/* Closes stdout and waits for the user. */
void pager_finish(pid_t pager);

#endif
