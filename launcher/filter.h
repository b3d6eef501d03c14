/* The seccomp filter of a supervised run: which system calls the supervisor is asked
 * about. Every other call is as fast as without it. */
#ifndef LAUNCHER_FILTER_H
#define LAUNCHER_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

/* What a run is supervised for; a mask. */
enum filter_want {
	FILTER_SEED = 1 << 0,  /* randomness */
	FILTER_CODE = 1 << 1,  /* code as it was when it went away */
	FILTER_CLOCK = 1 << 2, /* a hand on the vDSO before it is first used */
};

enum { FILTER_LENGTH = 512 };

/* Where the dynamic linker's code is going to be: what it maps and opens itself concerns
 * nobody, and is most of what a short program does. begin == end: not known. What is there
 * in place of it is not asked about either: code from a static program's JIT that makes
 * system calls itself, say. */
struct filter_loader {
	uint64_t begin, end;
};

/* Writes the program for a mask of wants. Returns how many instructions it has. */
unsigned short filter_build(struct sock_filter program[FILTER_LENGTH], unsigned wants,
	const struct filter_loader *loader);

/* Installs it for this thread and all that it will create, and returns the listener's
 * descriptor, close-on-exec; or -1 with errno (EBUSY: a listener is installed already;
 * EACCES never: no_new_privs is set where that is needed). */
int filter_install(unsigned wants, const struct filter_loader *loader);

#endif
