/* A compiled code object: where its native code is entered, and how it is left. */
#ifndef JIT_COMPILED_H
#define JIT_COMPILED_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/python.h"

struct cache;
struct cache_stub;
struct opt_loop;

/* What a stack entry is at an exit, where it is not in its slot yet. */
enum exit_kind {
	EXIT_LOCAL, /* borrowed from the local `value` */
	EXIT_CONST, /* borrowed from the constant `value` */
	EXIT_TOP,   /* owned, in the top-of-stack register */
	EXIT_NULL,
};

struct exit_entry {
	uint16_t slot; /* place on the stack, from its bottom */
	uint8_t kind;  /* enum exit_kind */
	uint32_t value;
};

/* What the exception table says of an instruction. */
struct exit_handler {
	uint32_t unit;	/* code unit where the handler starts */
	uint16_t level; /* depth that the stack is cut to */
	bool lasti;	/* whether the raising instruction's index is pushed */
	bool exists;
	bool known; /* the table has been asked */
};

/* A place where native code is left for an exception or for the interpreter: the frame as
 * it must look then. */
struct exit {
	uint32_t index; /* code unit of the instruction */
	uint32_t
		lookup; /* code unit for the exception table; differs at backward jumps */
	uint16_t depth; /* entries on the stack */
	uint16_t entry_count;
	uint32_t entries; /* first one in the code's `exit_entries` */
	uint32_t pair; /* code unit of the load of a pair that the interpreter would name
			  once it has quickened the code, else `index` */
	/* Found out when something is raised here first. */
	struct exit_handler handler;
	int line; /* of the source; 0: not known yet */
};

/* Native code at an instruction that starts no block: where it is, and the exit that tells
 * which stack entries are not in their slots there. Address 0: no way in. */
struct compiled_op {
	uint32_t address, exit;
};

struct compiled {
	PyCodeObject *code; /* borrowed: the record goes when it goes */
	void *start;	    /* native entry for a fresh frame */
	void *resume;	    /* native entry that goes on at an address of `entries` */
	void *leave;	    /* native place that leaves with jit.leaving */
	uint32_t *entries;  /* native address for each code unit, or 0 (code is below 2
			       GiB) */
	struct compiled_op *ops; /* for each code unit, or NULL */
	size_t size;		 /* of the native code */
	struct exit *exits;
	uint32_t exit_count, exit_room;
	struct exit_entry *exit_entries;
	uint32_t entry_count, entry_room;
	struct cache *caches; /* inline caches, in an array */
	uint32_t cache_count;
	struct cache_stub *callers; /* stubs that call this */
	struct opt_loop *loops;	    /* heads of loops, in an array */
	uint32_t loop_count;
	uint64_t calls; /* where they are counted: code that is compiled early */
};

#endif
