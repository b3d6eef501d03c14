/* The GDB JIT interface (gdb's manual, "JIT Compilation Interface"): ELF images in memory
 * that gdb reads through __jit_debug_descriptor. gdb takes time quadratic in their
 * number, so one image describes all code in a window of the address space. */
#ifndef JIT_GDBJIT_H
#define JIT_GDBJIT_H

#include <stdint.h>

struct code_table;
struct gdbjit;

/* Returns owned, or NULL: out of memory. File names are relative to `directory`. */
struct gdbjit *gdbjit_new(const char *directory);
/* The code at an address has been added to the table, or removed from it. */
void gdbjit_update(struct gdbjit *gdb, const struct code_table *table, uintptr_t address);
/* Unregisters and frees everything. */
void gdbjit_free(struct gdbjit *gdb);

/* Calls __jit_debug_register_code() without news for gdb: a place to stop at whenever
 * code becomes live, for who watches for an address. */
void gdbjit_announce(void);

#endif
