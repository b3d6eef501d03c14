/* What the world outside learns about JIT code: perf map, jitdump, the GDB JIT interface,
 * code.elf at exit and the log of patches. The engine calls this; it never calls back. */
#ifndef JIT_SYMBOLS_H
#define JIT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols;

/* From `offset` bytes into the code on, it came from this source line and bytecode. */
struct symbols_line {
	uint32_t offset;   /* in bytes from the start of the code object, ascending */
	int line;	   /* 1-based; 0: none */
	uint32_t bytecode; /* index of the code unit in co_code */
	uint8_t opcode;	   /* CPython's number, deoptimised form */
};

/* One compiled code object. Everything is borrowed for the length of the call. */
struct symbols_code {
	const void *address;
	size_t size;
	const char *name; /* "module.qualname" */
	const char *file; /* co_filename */
	int first_line;
	const struct symbols_line *lines;
	size_t line_count;
	const char *kind; /* "baseline", "optimised", "trampoline", … */
};

enum symbols_output {
	SYMBOLS_PERF = 1,     /* perf map, jitdump, code.elf, patches.log: `jit -p` */
	SYMBOLS_GDB = 2,      /* the GDB JIT interface */
	SYMBOLS_OPROFILE = 4, /* OProfile's agent */
	SYMBOLS_VTUNE = 8,    /* VTune's JIT API */
};

/* Opens the outputs wanted (a mask of enum symbols_output) for this process. Files of
 * SYMBOLS_PERF: /tmp/perf-PID.map, DIR/jit-PID.dump, and at exit DIR/jit-PID.elf and
 * DIR/jit-PID.patches, with DIR = `directory`, or the current directory where it is NULL.
 * Returns owned, or NULL where nothing could be opened (one warning has been written). */
struct symbols *symbols_open(unsigned outputs, const char *directory);

/* Writes what is due at exit (code.elf with the code's final bytes) and frees. */
void symbols_close(struct symbols *symbols);

/* After fork, in the child: starts files of its own, with all code loaded so far. */
void symbols_forked(struct symbols *symbols);

/* New code is in place / is about to be freed. A NULL `symbols` is allowed everywhere. */
void symbols_load(struct symbols *symbols, const struct symbols_code *code);
void symbols_unload(struct symbols *symbols, const void *address);

/* Live code is about to be rewritten: `size` bytes at `address` become `bytes`. */
void symbols_patch(struct symbols *symbols, const void *address, const void *bytes,
	size_t size, const char *why);

/* Code at `address` refers to the Python object at `object`: what to show for it. */
void symbols_object(
	struct symbols *symbols, const void *object, const char *type, const char *repr);

#endif
