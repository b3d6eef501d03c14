/* What is remembered of each live code object: its place, its names and its lines. */
#ifndef JIT_CODE_INFO_H
#define JIT_CODE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_code;

struct code_row {
	uint32_t offset;
	int line;
};

struct code_info {
	uintptr_t address;
	size_t size;
	uint64_t index;	    /* counts from 0 in the order of loading */
	const char *name;   /* "module.qualname" */
	const char *symbol; /* "module.qualname (file.py:12)", and " [kind]" but for
			       baseline */
	const char *file;
	int first_line;
	size_t row_count;
	/* Where the line changes, ascending; the first at offset 0. */
	struct code_row rows[];
};

/* Returns owned (one block, freed by free()), or NULL: out of memory. */
struct code_info *code_info_new(const struct symbols_code *code, uint64_t index);

/* All live code, by ascending address. */
struct code_table {
	struct code_info **codes;
	size_t count, room;
};

/* Takes `code`; what it overlaps is dropped, because its memory was reused. False: no
 * memory, and `code` is freed. */
bool code_table_add(struct code_table *table, struct code_info *code);
/* Frees the one that begins at the address; false: there is none. */
bool code_table_remove(struct code_table *table, uintptr_t address);
/* The index of the first that ends behind an address. */
size_t code_table_find(const struct code_table *table, uintptr_t address);
void code_table_release(struct code_table *table);

#endif
