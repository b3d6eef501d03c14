/* What the engine knows of each code object: a side table keyed by its address, with open
 * addressing. Code objects leave it when they are freed; co_extra is not used, because
 * others may and because it is looked up through the interpreter state. */
#include "jit/table.h"

#include <stdlib.h>

#include "jit/compile.h"

enum { TABLE_FIRST = 4096 };

struct table_entry *table_entries;
uint32_t table_mask;
static uint32_t used;
static destructor code_dealloc;

static uint32_t hash(const PyCodeObject *code)
{
	uint64_t number = (uintptr_t)code >> 4;

	return (uint32_t)((number * 0x9e3779b97f4a7c15ull) >> 32);
}

/* Open addressing without tombstones: what follows in the same run moves up. */
static void delete_entry(struct table_entry *entry)
{
	uint32_t hole = (uint32_t)(entry - table_entries);
	uint32_t at = hole;

	for (;;) {
		uint32_t home;

		at = (at + 1) & table_mask;
		if (!table_entries[at].code)
			break;
		home = hash(table_entries[at].code) & table_mask;
		if (((at - home) & table_mask) >= ((at - hole) & table_mask)) {
			table_entries[hole] = table_entries[at];
			hole = at;
		}
	}
	table_entries[hole] = (struct table_entry){0};
	used--;
}

static void on_dealloc(PyObject *object)
{
	struct table_entry *entry = table_find((PyCodeObject *)object);

	if (entry->code) {
		struct compiled *compiled = entry->compiled;

		delete_entry(entry);
		if (compiled)
			compile_free(compiled);
	}
	code_dealloc(object);
}

int table_start(void)
{
	table_entries = calloc(TABLE_FIRST, sizeof(*table_entries));
	if (!table_entries)
		return -1;
	table_mask = TABLE_FIRST - 1;
	code_dealloc = PyCode_Type.tp_dealloc;
	PyCode_Type.tp_dealloc = on_dealloc;
	return 0;
}

static int grow(void)
{
	struct table_entry *old = table_entries;
	uint32_t count = table_mask + 1;
	struct table_entry *bigger = calloc(count * 2, sizeof(*table_entries));

	if (!bigger)
		return -1;
	table_entries = bigger;
	table_mask = count * 2 - 1;
	for (uint32_t i = 0; i < count; i++)
		if (old[i].code)
			*table_find(old[i].code) = old[i];
	free(old);
	return 0;
}

struct table_entry *table_get(PyCodeObject *code)
{
	struct table_entry *entry = table_find(code);

	if (entry->code)
		return entry;
	if (used >= table_mask / 2) {
		if (grow())
			return NULL;
		entry = table_find(code);
	}
	used++;
	entry->code = code;
	return entry;
}

void table_each(void (*visit)(struct table_entry *entry))
{
	for (uint32_t i = 0; i <= table_mask; i++)
		if (table_entries[i].code)
			visit(&table_entries[i]);
}
