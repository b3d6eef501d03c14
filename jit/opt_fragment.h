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
	OPT_TUPLE,
	OPT_ENUMERATE,
	OPT_ZIP,
	/* What UNPACK_SEQUENCE takes apart at once: the second value in the entry's place in
	 * the frame, the first in a slot (an int), or in the place above (`slot` -1). */
	OPT_PAIR,
	OPT_CONST, /* an object known when compiling, nowhere yet */
	OPT_NULL,  /* nothing, on the stack */
};

/* A value to be put into the frame at an exit. */
struct opt_value {
	uint8_t kind;  /* enum opt_kind */
	bool borrowed; /* OPT_FRAME on the stack: the object of the local `slot` */
	int16_t slot;  /* where a number is */
	int16_t flag;  /* slot that is 0 where the frame has the value itself, or -1 */
	int16_t group; /* of a local: the first local that may have the same object, or -1;
			* of a number on the stack: the local that it was loaded from */
	int16_t next;  /* the next local of this one's group, or -1 */
	PyObject *object; /* OPT_CONST */
};

struct opt_record {
	uint32_t index; /* code unit to go on at */
	bool leader;	/* the baseline has an entry there */
	bool counts;	/* an assumption failed: too many end the fragment */
	uint16_t depth;
	uint16_t failures;
	uint32_t unit;	/* of the instruction without its prefixes */
	uint32_t first; /* of the values: all locals, then the stack */
};

/* A condition of entry. */
struct opt_need {
	enum {
		OPT_NEED_KIND, /* local `number` is an int, float or bool: goes to its slot */
		OPT_NEED_ITERATOR, /* stack entry `number` is of the type `object` */
		OPT_NEED_OBJECT,   /* local `number` is `object` */
		OPT_NEED_GLOBAL,   /* the name `number` of the code is `object` */
		OPT_NEED_FUNCTION, /* the function `object` has the version `number` */
		OPT_NEED_KEEP,	   /* none: `object` lives as long as the fragment */
		OPT_NEED_PLAIN,	   /* local `number` is nothing that notices its end */
	} what;
	uint32_t number;
	uint8_t kind;
	bool owns;
	PyObject *object; /* owned, where it is of a simple type; else an address only */
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
	/* What the baseline's lowering makes in it: exits and caches of its own; the entries
	 * are the baseline's. */
	struct compiled own;
	struct opt_fragment *older; /* owned: given up, and perhaps still running */
};

/* Compiles the loop with its head at op `head` for what the frame holds now. Returns owned;
 * NULL: it has something that this tier does not do. No exception is set. */
struct opt_fragment *opt_compile(const struct ir *ir, int head,
	_PyInterpreterFrame *frame, struct compiled *compiled, struct opt_loop *loop);
/* Whether a fragment may have a reference of its own: to what is in no cycle and has
 * nobody who would notice. Of other objects it knows the address and looks at them only
 * where they were just found alive. */
bool opt_owns(const PyObject *object);
void opt_fragment_free(struct opt_fragment *fragment);

static inline bool opt_is_iterator(uint8_t kind)
{
	return kind >= OPT_RANGE && kind <= OPT_ZIP;
}

/* The address of a slot, from rbp. */
static inline int32_t opt_slot_at(int slot)
{
	return -8 * (slot + 1);
}

#endif
