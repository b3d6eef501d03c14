/* A hole in live code that is rewritten later: an inline cache's number, address or
 * target. */
#ifndef JIT_PATCHPOINT_H
#define JIT_PATCHPOINT_H

#include <stdint.h>

struct codemem;
struct symbols;

struct patchpoint {
	uint8_t *address; /* of the hole itself; crosses no 8-byte border */
	int32_t addend;
	uint8_t store; /* enum stencil_store */
};

/* Stores a new value (for jumps and calls: the absolute address of the new target), and
 * first tells `symbols` (may be NULL), with `why` for the log: one short line.
 * The caller holds the GIL. Returns 0, or -1 with nothing changed: the value does not fit
 * (ERANGE) or code memory could not be written. */
int patchpoint_set(const struct patchpoint *point, uint64_t value, struct codemem *memory,
	struct symbols *symbols, const char *why);

/* The value it has now. */
uint64_t patchpoint_get(const struct patchpoint *point);

#endif
