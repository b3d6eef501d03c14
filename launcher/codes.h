/* The JIT code objects of a kept run: where they were, and their bytes at exit.
 *
 * Names and addresses come from the perf map, which lists every code object in the order it
 * was made; without one, from the symbols of code.elf; where the runtime names nothing, each
 * region of code.elf is one object. Bytes come from code.elf. */
#ifndef LAUNCHER_CODES_H
#define LAUNCHER_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/elf_file.h"
#include "launcher/strv.h"

struct run;

struct code {
	uint64_t address;
	uint64_t size;
	const char *name;
	const unsigned char *bytes; /* at exit; NULL where they are not kept */
};

struct codes {
	struct code *items; /* in the order they were made, where that is known */
	size_t count;
	uint64_t bytes; /* of code kept in code.elf */
	bool have_elf;	/* code.elf is there and readable */
	size_t ignored; /* lines of the perf map that make no sense */
	struct elf_file elf;
	struct strv names; /* of regions */
	char *map;	   /* the perf map's text */
};

/* Reads those of the run's main process. Never fails: what is not there is not there. */
void codes_read(struct codes *codes, const struct run *run);
void codes_release(struct codes *codes);

/* Pairs the k-th object of a name in `a` with the k-th of that name in `b`: for each of a's
 * its partner's index, or b's count where it has none. Returns owned. */
size_t *codes_pair(const struct codes *a, const struct codes *b);

/* A perf map's text, for the reader of fuzzed ones; takes `text`. */
void codes_parse_map(struct codes *codes, char *text, size_t size);

#endif
