/* What `jit -s` prints: timers in microseconds, and counters. */
#ifndef JIT_TIMERS_H
#define JIT_TIMERS_H

#include <stdint.h>

/* Timers, nested: compiling = all the time spent in the compiler, of which irgen =
 * bytecode to intermediate code, jitting = intermediate code to machine code. */
#define TIMERS_EACH(X)        \
	X(us_compiling)       \
	X(us_compiling_irgen) \
	X(us_compiling_jitting)

#define COUNTERS_EACH(X)          \
	X(functions_compiled)     \
	X(functions_not_compiled) \
	X(functions_freed)        \
	X(code_bytes)             \
	X(entries)                \
	X(direct_calls)           \
	X(loops_compiled)         \
	X(loops_entered)          \
	X(loops_failed)           \
	X(deopts_tracing)         \
	X(deopts_opcode)          \
	X(deopts_stress)          \
	X(caches_monomorphic)     \
	X(caches_polymorphic)     \
	X(caches_megamorphic)     \
	X(patches)                \
	X(bytecodes_compiled)     \
	X(bytecodes_interpreted)

struct timers {
#define TIMERS_FIELD_(name) uint64_t name;
	TIMERS_EACH(TIMERS_FIELD_) /* in nanoseconds here */
	COUNTERS_EACH(TIMERS_FIELD_)
#undef TIMERS_FIELD_
};

/* The calling thread's processor time in nanoseconds: other programs do not count. */
uint64_t timers_now(void);
/* One `name: value` a line on stderr. */
void timers_print(const struct timers *timers);

#endif
