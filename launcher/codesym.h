/* Names for code, from what runtimes write: perf maps and jitdumps. */
#ifndef LAUNCHER_CODESYM_H
#define LAUNCHER_CODESYM_H

#include <stddef.h>
#include <stdint.h>

struct codesym {
	uint64_t address;
	uint64_t size;
	char *name; /* owned by the list */
};

struct codesyms {
	struct codesym *items;
	size_t count, room;
};

/* All zero to begin with. */
void codesyms_release(struct codesyms *syms);

/* Adds what a perf map or a jitdump in memory tells. Lines and records that make no sense
 * are skipped: both files may end in the middle of one. */
void codesyms_read_map(struct codesyms *syms, const char *text, size_t size);
void codesyms_read_jitdump(struct codesyms *syms, const uint8_t *bytes, size_t size);

/* Adds what process `pid` wrote, wherever it is by now, and settles: in its working
 * directory `cwd` (NULL: not known), in /tmp, or gathered in `directory` (-1: nowhere). */
void codesyms_find(struct codesyms *syms, int pid, const char *cwd, int directory);

/* Orders by address; of those that overlap the ones that were added last stay. */
void codesyms_settle(struct codesyms *syms);

#endif
