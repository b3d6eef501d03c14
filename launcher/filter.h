/* The seccomp filter of a supervised run: which system calls the supervisor is asked
 * about. Every other call is as fast as without it. */
#ifndef LAUNCHER_FILTER_H
#define LAUNCHER_FILTER_H

#include <linux/filter.h>

/* What a run is supervised for; a mask. */
enum filter_want {
	FILTER_SEED = 1 << 0,  /* randomness */
	FILTER_CODE = 1 << 1,  /* code as it was when it went away */
	FILTER_CLOCK = 1 << 2, /* a hand on the vDSO before it is first used */
};

enum { FILTER_LENGTH = 256 };

/* Writes the program for a mask of wants. Returns how many instructions it has. */
unsigned short filter_build(struct sock_filter program[FILTER_LENGTH], unsigned wants);

/* Installs it for this thread and all that it will create, and returns the listener's
 * descriptor, close-on-exec; or -1 with errno (EBUSY: a listener is installed already;
 * EACCES never: no_new_privs is set where that is needed). */
int filter_install(unsigned wants);

#endif
