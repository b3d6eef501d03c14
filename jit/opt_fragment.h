/* A compiled loop: what it needs on entry, and what its exits leave behind. */
#ifndef JIT_OPT_FRAGMENT_H
#define JIT_OPT_FRAGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/opt.h"

enum { OPT_LOCALS = 64 }; /* of a code object, at most */

/* What a local or a stack entry is. */
enum opt_kind {
	OPT_FRAME, /* an object (or nothing), in its place in the frame */
	OPT_INT,   /* a long, in a slot */
	OPT_FLOAT, /* a double, in a slot */
	OPT_BOOL,  /* a long, 0 or 1, in a slot */
	OPT_RANGE, /* a range iterator, in its place in the frame */
	OPT_LIST,  /* an iterator over a list, the same */
	OPT_CONST, /* an object known when compiling, nowhere yet */
	OPT_NULL,  /* nothing, on the stack */
};

/* A value to be put into the frame at an exit. */
struct opt_value {
	uint8_t kind;  /* enum opt_kind */
	bool borrowed; /* OPT_FRAME on the stack: the object of the local `slot` */
	int16_t slot;  /* where a number is */
	int16_t flag;  /* slot that is 0 where the frame has the value itself, or -1 */
	int16_t group; /* of a local: the first local that may have the same object, or -1 */
	int16_t next;	  /* the next local of this one's group, or -1 */
	PyObject *object; /* OPT_CONST */
};

struct opt_record {
	uint32_t index; /* code unit to go on at */
	bool leader;	/* the baseline has an entry there */
	bool counts;	/* an assumption failed: too many end the fragment */
	uint16_t depth;
	uint32_t first; /* of the values: all locals, then the stack */
};

/* A condition of entry. */
struct opt_need {
	enum {
		OPT_NEED_KIND, /* local `number` is an int, float or bool: goes to its slot */
		OPT_NEED_RANGE,	 /* stack entry `number` is a range iterator */
		OPT_NEED_LIST,	 /* stack entry `number` is a list iterator */
		OPT_NEED_TYPE,	 /* the type `object` has the version `number` */
		OPT_NEED_OBJECT, /* local `number` is `object` */
		OPT_NEED_GLOBAL, /* the name `number` of the code is `object` */
		OPT_NEED_CODE,	 /* the function `object` has the code `code` */
		OPT_NEED_PLAIN,	 /* local `number` is nothing that notices its end */
	} what;
	uint32_t number;
	uint8_t kind;
	PyObject *object, *code; /* owned */
};

struct opt_constant {
	int slot;
	uint64_t bits;
};

struct opt_fragment {
	struct opt_loop *loop; /* borrowed */
	void *start;
	size_t size;
	struct opt_need *needs;
	size_t need_count, need_room;
	struct opt_constant *constants;
	size_t constant_count, constant_room;
	int *flags; /* slots to be 0 on entry */
	size_t flag_count, flag_room;
	struct opt_record *records;
	size_t record_count, record_room;
	struct opt_value *values;
	size_t value_count, value_room;
	uint32_t failures;
	struct opt_fragment *older; /* owned: given up, and perhaps still running */
};

/* Compiles the loop with its head at op `head` for what the frame holds now. Returns owned;
 * NULL: it has something that this tier does not do. No exception is set. */
struct opt_fragment *opt_compile(const struct ir *ir, int head,
	_PyInterpreterFrame *frame, struct compiled *compiled, struct opt_loop *loop);
void opt_fragment_free(struct opt_fragment *fragment);

/* The address of a slot, from rbp. */
static inline int32_t opt_slot_at(int slot)
{
	return -8 * (slot + 1);
}

#endif
