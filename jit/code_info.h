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
	uint8_t *saved; /* owned: the bytes of code that was freed; NULL while it lives */
	size_t row_count;
	/* Where the line changes, ascending; the first at offset 0. */
	struct code_row rows[];
};

/* Returns owned, or NULL: out of memory. */
struct code_info *code_info_new(const struct symbols_code *code, uint64_t index);
void code_info_free(struct code_info *code);

/* Its bytes: those in memory now, or those it had when it was freed. */
const void *code_info_bytes(const struct code_info *code);

/* Code objects by ascending address, none overlapping another. */
struct code_table {
	struct code_info **codes;
	size_t count, room;
};

/* Takes `code`; what it overlaps is dropped, because its memory was reused. False: no
 * memory, and `code` is freed. */
bool code_table_add(struct code_table *table, struct code_info *code);
/* Drops all that overlap a range. */
void code_table_drop(struct code_table *table, uintptr_t address, size_t size);
/* Hands out the one that begins at the address (the caller owns it then), or NULL. */
struct code_info *code_table_take(struct code_table *table, uintptr_t address);
/* The index of the first that ends behind an address. */
size_t code_table_find(const struct code_table *table, uintptr_t address);
void code_table_release(struct code_table *table);

#endif
