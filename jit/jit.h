/* The engine as a whole: one per process, for the main interpreter. */
#ifndef JIT_JIT_H
#define JIT_JIT_H

#include <stdbool.h>

#include "jit/python.h"
#include "jit/timers.h"

struct codemem;
struct options;
struct symbols;

struct jit {
	PyInterpreterState *interpreter; /* the only one whose code is compiled */
	struct codemem *memory;
	struct symbols *symbols; /* NULL: nobody wants to know */
	struct timers timers;
	long tier2;	    /* turns of a loop before it is optimised; 0: never */
	uint32_t threshold; /* calls before a code object without a loop is compiled */
	bool statistics;    /* -s */
	bool perf;	    /* -p */
	bool stress_deopt;
	bool stress_missed;  /* a guard failed for the stress alone */
	bool check_stack;    /* --check-stack */
	const char *dump_ir; /* name of functions to print, or NULL */
	PyObject *leaving;   /* the value that native code leaves with, see `leave` */
	bool broken;	     /* compiling failed for want of memory: no more of it */
};

extern struct jit jit;

/* Installs the evaluation hook in the current (main) interpreter. Without code memory
 * there is one warning, and everything is interpreted. */
void jit_start(const struct options *options);

#endif
