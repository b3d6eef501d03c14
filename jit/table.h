/* What the engine knows of each code object: a side table keyed by its address. */
#ifndef JIT_TABLE_H
#define JIT_TABLE_H

#include <stdint.h>

#include "jit/python.h"

struct compiled;

enum table_state {
	TABLE_COUNTING,
	TABLE_COMPILED,
	TABLE_REFUSED, /* could not be compiled: interpreted for ever */
};

struct table_entry {
	PyCodeObject *code; /* NULL: free; borrowed */
	struct compiled *compiled;
	uint32_t calls;
	uint8_t state; /* enum table_state */
};

extern struct table_entry *table_entries; /* open addressing */
extern uint32_t table_mask;

static inline struct table_entry *table_find(const PyCodeObject *code)
{
	uint64_t number = (uintptr_t)code >> 4;
	uint32_t at = (uint32_t)((number * 0x9e3779b97f4a7c15ull) >> 32) & table_mask;

	while (table_entries[at].code && table_entries[at].code != code)
		at = (at + 1) & table_mask;
	return &table_entries[at];
}

/* Starts to watch code objects go. Returns 0, or -1 without memory. */
int table_start(void);

/* The entry of a code object, made where it is new; NULL without memory. Valid until the
 * next call of this function. */
struct table_entry *table_get(PyCodeObject *code);

/* The compiled form of a code object, or NULL. */
static inline struct compiled *table_compiled(const PyCodeObject *code)
{
	return table_find(code)->compiled;
}

/* Calls `visit` for each entry. */
void table_each(void (*visit)(struct table_entry *entry));

#endif
