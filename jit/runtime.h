/* What native code calls. Owned and borrowed as each says; NULL or -1: an exception. */
#ifndef JIT_RUNTIME_H
#define JIT_RUNTIME_H

#include "jit/compiled.h"
#include "jit/python.h"

/* An instruction done on the stack in memory: `sp` is the place above its top. What is
 * taken off the stack leaves a NULL behind, so that an exception can cut the stack from
 * where it was before. Returns 0, or 1 where it decides to jump; -1: exception. */
typedef int runtime_op(
	PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **sp, uint32_t oparg);

/* One that leaves the frame: the value for the caller, or NULL: exception. */
typedef PyObject *runtime_leave_op(
	PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **sp, uint32_t oparg);

/* Unpacks `before` values, and where `after` >= 0 a list and `after` more, to below
 * `top`: the first value highest. 0 or -1. */
int runtime_unpack_iterable(
	PyThreadState *thread, PyObject *iterable, int before, int after, PyObject **top);

/* RETURN_GENERATOR. */
runtime_leave_op runtime_return_generator;

/* The function of an instruction, or NULL where the baseline has code of its own or
 * leaves it to the interpreter. */
runtime_op *runtime_find(uint8_t opcode);

/* The request for attention in the main interpreter (pycore_interp.h), at its fixed
 * address. */
#define runtime_eval_breaker \
	(*(volatile int *)&_PyRuntime._main_interpreter.ceval.eval_breaker._value)

/* Guards until the next one fails under --stress=deopt. */
extern int runtime_stress;
void runtime_stress_again(void) __attribute__((cold));
/* The same for a cache's guard: the cache learns nothing from the miss that follows. */
void runtime_stress_guard(void) __attribute__((cold));

void runtime_dealloc(PyObject *object);
void runtime_unbound_local(_PyInterpreterFrame *frame, uintptr_t local);
void runtime_unbound_cell(_PyInterpreterFrame *frame, uintptr_t local);

/* Signals, pending calls, the GIL, asynchronous exceptions. */
int runtime_handle_pending(PyThreadState *thread);

/* 0, 1, or -1 with an exception; takes the reference where `owned`. */
int runtime_truth(PyObject *object, int owned);

/* An iterator gave NULL: 0 where it has ended (its reference is taken), -1. */
int runtime_iterator_end(
	PyThreadState *thread, _PyInterpreterFrame *frame, PyObject *iterator);

/* frame_clear_and_pop(). */
void runtime_clear_and_pop(PyThreadState *thread, _PyInterpreterFrame *frame);
void runtime_drop_locals(_PyInterpreterFrame *frame, uint32_t count);

/* jit.leaving. */
PyObject *runtime_leaving(void);
void *runtime_unwind(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct compiled *compiled, uint32_t number, PyObject *top);
void *runtime_reraise(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct compiled *compiled, uint32_t number, PyObject *top);
PyObject *runtime_deopt(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct compiled *compiled, uint32_t number, PyObject *top);

/* super().NAME for a call, without an object of super() where that is the builtin: base[0]
 * and base[1] are the entries of its call and become those of a method; `local` has the cell
 * of the class. 0; -1: super() raised; 1: the attribute did. */
int runtime_super_method(PyThreadState *thread, _PyInterpreterFrame *frame,
	PyObject **base, PyObject *name, uint32_t local);

/* A call: base[0] is a method or NULL, base[1] the callable or self, then the arguments
 * (ceval.c: PRECALL and CALL). Takes all of them off the stack. */
PyObject *runtime_call(PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **base,
	uint32_t oparg, PyObject *names);

/* Drops the entries of a call, its arguments included. */
void runtime_drop_entries(PyObject **base, uint32_t count);

/* What common builtins do; owned, or NULL. runtime_append() takes the reference. */
PyObject *runtime_vectorcall(
	PyObject *callable, PyObject **arguments, size_t given, PyObject *names);
PyObject *runtime_length(PyObject *object);
PyObject *runtime_is_instance(PyObject *object, PyObject *type);
PyObject *runtime_append(PyListObject *list, PyObject *value);
/* To a list without room; takes the reference. */
int runtime_append_item(PyListObject *list, PyObject *value);

/* What object.__new__() makes. */
PyObject *runtime_new_instance(PyTypeObject *type);
/* __init__() has raised (`result` is NULL) or has returned something: drops all three, and
 * an exception is set. */
void runtime_init_failed(PyObject *result, PyObject *object, PyObject *type)
	__attribute__((cold));

/* Operations on operands that are borrowed but where `owned` has the bit of the operand:
 * then its reference is taken. */
enum {
	RUNTIME_OWNS_A = 1,
	RUNTIME_OWNS_B = 2,
	RUNTIME_OWNS_C = 4,
	RUNTIME_OWNS_BITS = 3
};

/* `what` is the operation << RUNTIME_OWNS_BITS | owned. */
PyObject *runtime_binary(PyObject *a, PyObject *b, uint32_t what);
PyObject *runtime_compare(PyObject *a, PyObject *b, uint32_t what);
int runtime_compare_truth(PyObject *a, PyObject *b, uint32_t what);
/* Whether to jump; `what` has RUNTIME_WHEN where the outcome that jumps is true. */
enum { RUNTIME_WHEN = 1 << 16 };
int runtime_compare_jump(PyObject *a, PyObject *b, uint32_t what);
/* An operation by its function; of strings; whether two strings of one length are equal. */
PyObject *runtime_apply(binaryfunc function, PyObject *a, PyObject *b, uint32_t what);
PyObject *runtime_concatenate(PyObject *a, PyObject *b, uint32_t what);
int runtime_equal(PyObject *a, PyObject *b);
/* A method for an operator has given `result` (NULL: raised) for the operands at `at`,
 * which go where they are owned: the result after all, or NULL. */
PyObject *runtime_operator_end(PyObject *result, PyObject **at, uint32_t what);
/* Stores by a class's function; takes what is owned. */
int runtime_store_by(objobjargproc function, PyObject *container, PyObject *key,
	PyObject *value, uint32_t owned);
/* Misses of inline caches: the work, and a stub for the next time. */
PyObject *runtime_binary_miss(PyObject *a, PyObject *b, struct cache *cache);
PyObject *runtime_compare_miss(PyObject *a, PyObject *b, struct cache *cache);
int runtime_compare_jump_miss(PyObject *a, PyObject *b, struct cache *cache);
PyObject *runtime_subscript_miss(PyObject *a, PyObject *b, struct cache *cache);
int runtime_store_subscript_miss(
	PyObject *a, PyObject *b, PyObject *value, struct cache *cache);
PyObject *runtime_attribute_miss(PyObject *a, struct cache *cache);
/* f(*tuple, **keywords), all borrowed, of a Python function; false: not a plain case, and
 * nothing has happened. `keywords` may be NULL. */
bool runtime_call_spread(PyThreadState *thread, PyObject *callable, PyObject *tuple,
	PyObject *keywords, PyObject **value);
/* Calls a Python function with one or two borrowed arguments. */
PyObject *runtime_call_one(PyThreadState *thread, PyObject *function, PyObject *a);
PyObject *runtime_call_two(
	PyThreadState *thread, PyObject *function, PyObject *a, PyObject *b);
/* Reads a property, whose getter is a Python function as a rule. */
PyObject *runtime_call_getter(
	PyThreadState *thread, PyObject *property, PyObject *self, uint32_t owned);
int runtime_method_miss(PyObject *a, struct cache *cache, PyObject **at);
int runtime_store_miss(PyObject *a, PyObject *value, struct cache *cache);
PyObject *runtime_global_miss(
	PyThreadState *thread, _PyInterpreterFrame *frame, struct cache *cache);
PyObject *runtime_call_miss(PyThreadState *thread, _PyInterpreterFrame *frame,
	PyObject **base, struct cache *cache);
/* Unpacks exactly `count` values to `at`, the first one highest; drops `a` where `owned`. */
int runtime_unpack_value(PyThreadState *thread, PyObject *a, PyObject **at,
	uint32_t count, uint32_t owned);
/* Drops those of two operands that are owned; what was replaced and then those. */
void runtime_drop_operands(PyObject *a, PyObject *b, uint32_t owned);
void runtime_drop_stored(PyObject *old, PyObject *a, PyObject *b, uint32_t owned);
/* Drops the first one (may be NULL), then the second. */
void runtime_drop_two(PyObject *a, PyObject *b);

/* Ints that nobody has any more are kept for new ones. */
void runtime_number_start(void);

/* A new int or float; an int or float nobody has any more. */
PyObject *runtime_new_int(long value);
/* The same with ints that are not needed any more, or NULL: one may become the result. */
PyObject *runtime_int_result(long value, PyObject *a, PyObject *b);
PyObject *runtime_new_float(double value) __attribute__((cold));
void runtime_free_number(PyObject *object);
/* Frees those of two numbers whose count is 0. */
void runtime_free_numbers(PyObject *a, PyObject *b);
int runtime_contains(PyObject *a, PyObject *b, uint32_t owned);
PyObject *runtime_subscript(PyObject *a, PyObject *b, uint32_t owned);
int runtime_store_subscript(
	PyObject *container, PyObject *key, PyObject *value, uint32_t owned);
PyObject *runtime_load_attribute(PyObject *a, PyObject *name, uint32_t owned);
int runtime_store_attribute(
	PyObject *owner, PyObject *name, PyObject *value, uint32_t owned);
/* Puts two entries on the stack at `at`: method and self, or NULL and the attribute. */
int runtime_load_method(PyObject *a, PyObject *name, PyObject **at, uint32_t owned);
PyObject *runtime_load_global(
	PyThreadState *thread, _PyInterpreterFrame *frame, PyObject *name);
/* Adds to a local and stores the sum to it; appends in place where nobody else has the
 * string. `what` as for runtime_binary(). */
int runtime_append_string(PyObject **local, PyObject *right, uint32_t what);

#endif
