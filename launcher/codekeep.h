/* The newest bytes of every range of a process that ever held code without a file.
 *
 * What is about to go away is copied before it does; what is live at the end is copied
 * then. Where code was put where other code had been, the later bytes win. */
#ifndef LAUNCHER_CODEKEEP_H
#define LAUNCHER_CODEKEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;

/* What became of code after it was copied. */
enum codekeep_fate {
	CODE_LIVE,	/* it was there at the end */
	CODE_CRASHED,	/* it was there when a signal killed the process */
	CODE_UNMAPPED,	/* munmap, shmdt */
	CODE_PROTECTED, /* mprotect took the right to execute it */
	CODE_MOVED,	/* mremap */
	CODE_MAPPED,	/* another mapping was put over it */
	CODE_DISCARDED, /* madvise gave its pages back */
	CODE_EXECUTED,	/* the process executed another program */
};

/* "live at exit", "unmapped", … */
const char *codekeep_fate_name(enum codekeep_fate fate);

struct codekeep_piece {
	uint64_t address;
	size_t size;
	uint8_t *bytes;
	uint64_t time; /* CLOCK_MONOTONIC, ns, when it was copied */
	enum codekeep_fate fate;
};

struct codekeep {
	struct codekeep_piece *pieces; /* by address, none overlaps another */
	size_t count;
	uint64_t bytes; /* in all */
	uint64_t lost;	/* bytes that could not be read or kept */
	int error;	/* the errno of the first of them */
};

/* All zero to begin with. */
void codekeep_release(struct codekeep *keep);

/* Adds a copy of bytes over whatever was kept of that range before. */
void codekeep_add(struct codekeep *keep, uint64_t address, const uint8_t *bytes,
	size_t size, uint64_t time, enum codekeep_fate fate);

/* Copies what from..to of the process holds of code without a file. */
void codekeep_copy(struct codekeep *keep, struct process *process, uint64_t from,
	uint64_t to, enum codekeep_fate fate);

#endif
