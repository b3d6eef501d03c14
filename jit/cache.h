/* Inline caches: places in compiled code that are rewritten as they meet types.
 *
 * A place begins as a jump to its miss code, which asks here. For each kind of operand seen
 * a stub is made that guards for it and does the work; the jump is patched to go to the
 * newest stub, which goes to the one before where its guard fails, and the last one to the
 * miss code. What the interpreter knew already is compiled in line. */
#ifndef JIT_CACHE_H
#define JIT_CACHE_H

#include <stdint.h>

#include "jit/emit.h"
#include "jit/jit.h"
#include "jit/patchpoint.h"
#include "jit/python.h"

struct compiled;

enum cache_kind {
	CACHE_GLOBAL,
	CACHE_ATTRIBUTE,
	CACHE_METHOD,
	CACHE_STORE,
	CACHE_SUBSCRIPT,
	CACHE_STORE_SUBSCRIPT,
	CACHE_BINARY,
	CACHE_COMPARE,
	CACHE_CALL, /* from here on operands are in slots only */
	CACHE_ITERATE,
	CACHE_SEND,
};

enum cache_state {
	CACHE_EMPTY,
	CACHE_MONOMORPHIC,
	CACHE_POLYMORPHIC,
	CACHE_MEGAMORPHIC, /* seen too much: no more stubs */
};

enum {
	/* Misses until the first stub: much code runs a few times only, and a stub costs as
	 * much as hundreds of misses. */
	CACHE_WARM = 64,
	CACHE_PATIENCE = 1 << 12,
	CACHE_STUBS = 8,   /* at a time in a chain */
	CACHE_RETRIES = 2, /* times that a full chain starts anew: types change */
	/* Stubs made again for one class, each within so many nanoseconds of the one before:
	 * it changes all the time. */
	CACHE_CHANGES = 3,
	CACHE_LASTS = 20 * 1000 * 1000,
};

/* A guard and the work it guards. */
struct cache_stub {
	struct cache_stub *next;	/* of the same cache */
	struct cache_stub *next_caller; /* of the same callee */
	struct cache_stub *previous_caller;
	struct compiled *callee; /* called straight, or NULL */
	const void *type;	 /* whose attribute it finds; only ever compared */
	uint64_t made;		 /* when, as timers_now() */
	void *address;
	struct patchpoint guard; /* of a call: the code object; 0 never matches */
};

struct cache {
	uint8_t kind;  /* enum cache_kind */
	uint8_t state; /* enum cache_state */
	uint8_t owned; /* operands that are owned, as in runtime.h */
	uint8_t count; /* stubs in the chain */
	uint8_t retries;
	uint8_t changes;   /* stubs made for a class that had one already */
	uint16_t misses;   /* since it was last looked at */
	uint16_t patience; /* misses until it is again */
	/* Of a call and of an operation; of SEND the slot of what is sent. A comparison that
	 * jumps has RUNTIME_WHEN as for runtime_compare_jump(). */
	uint32_t oparg;
	uint32_t
		slot; /* offset from the frame of the result's or the call's first slot */
	uint32_t index; /* code unit of the instruction */
	PyObject *name; /* borrowed from the code object; of a call: its keyword names */
	struct compiled *owner;
	struct patchpoint jump;
	/* Labels until the code is committed, then addresses. */
	int next_label, miss_label, error_label, target_label;
	void *next, *miss, *error, *target; /* the last one: where it jumps, or none */
	struct cache_stub *stubs;	    /* all, old ones included */
};

/* What to compile in line, from the interpreter's own cache. */
struct cache_seed {
	enum stencils stencil;
	struct emit_holes holes; /* the guard's and the work's */
};

/* Whether the interpreter has a cache worth compiling in. */
bool cache_seed(PyCodeObject *code, const struct cache *cache, uint8_t adaptive,
	struct cache_seed *seed);

/* The code was committed: labels become addresses. */
void cache_commit(struct cache *cache, const struct emit *emit);

/* A miss: makes a stub for what was met, before the work is done by a C function. */
void cache_learn_global(struct cache *cache, _PyInterpreterFrame *frame);
void cache_learn_attribute(struct cache *cache, PyObject *object);
void cache_learn_method(struct cache *cache, PyObject *object);
void cache_learn_store(struct cache *cache, PyObject *object);
/* `base` holds the entries of the call, as for runtime_call(). */
void cache_learn_call(struct cache *cache, PyObject **base);
/* The operands of a subscript, an operation or a comparison. */
void cache_learn_operands(struct cache *cache, PyObject *a, PyObject *b);
/* What a loop goes over, or what is sent to. */
void cache_learn_iterate(struct cache *cache, PyObject *iterator);

/* Whether a miss is worth looking at: the second one is, and then fewer and fewer, so that
 * what no stub is made for costs little. */
static inline bool cache_learns(struct cache *cache)
{
	if (jit.stress_missed) {
		jit.stress_missed = false;
		return false;
	}
	if (cache->state == CACHE_MEGAMORPHIC || ++cache->misses < cache->patience)
		return false;
	cache->misses = 0;
	cache->patience = (uint16_t)(cache->patience * 2);
	if (cache->patience > CACHE_PATIENCE)
		cache->patience = CACHE_PATIENCE;
	return true;
}

/* Releases the stubs. */
void cache_release(struct cache *cache);

/* Nobody may call this code any more. */
void cache_forget_callee(struct compiled *callee);

#endif
