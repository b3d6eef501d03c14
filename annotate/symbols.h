/* A table of named address ranges, for one ELF file or the kernel. */
#ifndef ANNOTATE_SYMBOLS_H
#define ANNOTATE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbols_rank { /* among names of one address the highest is shown */
	SYMBOLS_LABEL,
	SYMBOLS_LOCAL,
	SYMBOLS_WEAK,
	SYMBOLS_GLOBAL,
};

struct symbol {
	uint64_t address, size;
	const char *name; /* lives as long as the table */
	uint8_t rank;
	bool data;	/* an object rather than code */
	void *function; /* for the profile's use */
};

struct symbols {
	struct symbol *list;
	size_t count, room;
	char **owned;
	size_t owned_count;
};

/* Adds one; the name is borrowed. symbols_index() must follow. */
void symbols_add(struct symbols *symbols, struct symbol symbol);

/* Makes room for `more` symbols at once. */
void symbols_reserve(struct symbols *symbols, size_t more);

/* Keeps `name`, which is taken, for as long as the table lives, and returns it. */
const char *symbols_own(struct symbols *symbols, char *name);

/* Sorts, keeps the best name of each address and gives those without a size one. */
void symbols_index(struct symbols *symbols);

/* The symbol that covers `address`, or NULL. */
struct symbol *symbols_find(const struct symbols *symbols, uint64_t address);

void symbols_release(struct symbols *symbols);

#endif
