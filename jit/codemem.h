/* Memory for code: executable and never writable, dense, at the same addresses every run.
 */
#ifndef JIT_CODEMEM_H
#define JIT_CODEMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program is linked at 4 MiB (non-PIE), so code below 2 GiB reaches it by 32-bit
 * displacements, and every code address fits a sign-extended immediate. */
#define CODEMEM_BASE  0x60000000UL
#define CODEMEM_LIMIT 0x7ffff000UL

enum {
	CODEMEM_ALIGN = 16,
	/* Kept free behind each block: perf maps an eh_frame past the code (16 bytes of
	 * rounding, 20 of header, 84 of CIE, FDE and end), and overlapping maps cut
	 * stacks. */
	CODEMEM_ROOM = 128,
};

/* How bytes get into memory that is not writable. */
enum codemem_method {
	CODEMEM_AUTO,
	CODEMEM_PROC_MEM, /* through /proc/self/mem: no view is ever writable */
	CODEMEM_MPROTECT, /* where that is refused: writable, not executable for the
			     moment */
};

struct codemem;

/* Returns owned, or NULL (errno). Nothing is mapped yet. */
struct codemem *codemem_new(enum codemem_method method);
/* Unmaps everything. NULL is allowed. */
void codemem_free(struct codemem *memory);

/* `size` bytes of executable memory, filled with int3 and aligned to CODEMEM_ALIGN; the
 * first free place of the lowest address that fits. NULL where there is none (errno). */
void *codemem_allocate(struct codemem *memory, size_t size);
/* The same with bytes that nobody knows, for codemem_fill(). */
void *codemem_reserve(struct codemem *memory, size_t size);
/* Writes all `size` bytes of a block that was reserved, and what stands behind them: one
 * system call in place of three. 0, or -1 (errno). */
int codemem_fill(struct codemem *memory, void *address, const void *bytes, size_t size);
/* Gives a block back and fills it with int3. No thread may return into it any more. */
void codemem_release(struct codemem *memory, void *address);

/* Writes into allocated code, live or not. The caller holds the GIL, so nobody executes
 * the bytes meanwhile; other threads may wait in functions called from the same page.
 * Returns 0, or -1 (errno); up to 8 bytes are written whole or not at all. */
int codemem_write(struct codemem *memory, void *address, const void *bytes, size_t size);

/* Calls `visit` for each mapped arena, ascending, until it returns non-zero; returns
 * that. */
int codemem_each(struct codemem *memory,
	int (*visit)(void *context, const void *address, size_t size), void *context);

bool codemem_contains(const struct codemem *memory, const void *address);
enum codemem_method codemem_method(const struct codemem *memory);

/* Figures: bytes in blocks, and bytes mapped. */
size_t codemem_used(const struct codemem *memory);
size_t codemem_mapped(const struct codemem *memory);

/* For tests: the `count`th allocation or write from now on fails (0: never). */
void codemem_fail(struct codemem *memory, unsigned count);

#endif
