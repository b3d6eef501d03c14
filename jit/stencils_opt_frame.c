/* Stencils of the optimising tier between slots and the frame: numbers become objects
 * there before anybody may look, and objects become numbers. */
#include "jit/stencils_opt.h"

static inline __attribute__((always_inline)) void drop_maybe(PyObject *object)
{
	if (object)
		drop(object);
}

/* What a local is in the frame takes the place of what was there, which is nothing that
 * notices. */
static inline __attribute__((always_inline)) void replace(PyObject **at, PyObject *new)
{
	PyObject *old = *at;

	*at = new;
	drop_maybe(old);
}

/* The number in slot A as an object: SYNC to the local B, SYNC_FLAGGED where the flag C
 * says that the frame does not have it yet, BOX to the stack. */
#define BOXING(kind)                                          \
	void op_OPT_SYNC_##kind(void)                         \
	{                                                     \
		replace(SLOT_AT(HOLE_B), BOX_##kind(HOLE_A)); \
		CONT();                                       \
	}                                                     \
	void op_OPT_SYNC_FLAGGED_##kind(void)                 \
	{                                                     \
		if (!INT(HOLE_C)) {                           \
			CONT();                               \
			return;                               \
		}                                             \
		INT(HOLE_C) = 0;                              \
		replace(SLOT_AT(HOLE_B), BOX_##kind(HOLE_A)); \
		CONT();                                       \
	}                                                     \
	void op_OPT_BOX_##kind(void)                          \
	{                                                     \
		SLOT(HOLE_B) = BOX_##kind(HOLE_A);            \
		CONT();                                       \
	}

BOXING(INT)
BOXING(FLOAT)
BOXING(BOOL)

/* The object at A as a number in slot B; OWNED: it is on the stack and goes. */
#define UNBOXING(kind)                                  \
	void op_OPT_UNBOX_##kind(void)                  \
	{                                               \
		PyObject *item = SLOT(HOLE_A);          \
		GUARD(item != NULL && IS_##kind(item)); \
		TAKE_##kind(HOLE_B, item);              \
		CONT();                                 \
	}                                               \
	void op_OPT_UNBOX_OWNED_##kind(void)            \
	{                                               \
		PyObject *item = SLOT(HOLE_A);          \
		GUARD(item != NULL && IS_##kind(item)); \
		TAKE_##kind(HOLE_B, item);              \
		SLOT(HOLE_A) = NULL;                    \
		if (LIKELY(--item->ob_refcnt == 0))     \
			opt_drop(item);                 \
		CONT();                                 \
	}

UNBOXING(INT)
UNBOXING(FLOAT)
UNBOXING(BOOL)

/* A new reference to the object A for the place B. */
void op_OPT_CONST(void)
{
	PyObject *object = HOLE_OBJECT(HOLE_A);

	Py_INCREF(object);
	SLOT(HOLE_B) = object;
	CONT();
}

/* A number takes the place of what the local A was: it must be nothing that notices. */
void op_OPT_EMPTY(void)
{
	PyObject *old = SLOT(HOLE_A);

	if (!old) {
		CONT();
		return;
	}
	GUARD(is_free(old));
	SLOT(HOLE_A) = NULL;
	drop(old);
	CONT();
}

/* The object at A, or a new reference to it, becomes the local B. Where what was there
 * may notice its end, SET leaves by EXIT and STORE by DEOPT; SLOWLY is where numbers have
 * been put into the frame. */
#define SETTING(move, copy, guard, drop_old)                       \
	void op_OPT_##move(void)                                   \
	{                                                          \
		PyObject *old = SLOT(HOLE_B);                      \
		guard;                                             \
		SLOT(HOLE_B) = SLOT(HOLE_A);                       \
		SLOT(HOLE_A) = NULL;                               \
		drop_old;                                          \
		CONT();                                            \
	}                                                          \
	void op_OPT_##copy(void)                                   \
	{                                                          \
		PyObject *old = SLOT(HOLE_B), *new = SLOT(HOLE_A); \
		guard;                                             \
		Py_INCREF(new);                                    \
		SLOT(HOLE_B) = new;                                \
		drop_old;                                          \
		CONT();                                            \
	}

SETTING(SET, SET_COPY, GUARD_OR(is_free(old), EXIT()), drop_maybe(old))
SETTING(STORE, STORE_COPY, GUARD(is_free(old)), drop_maybe(old))
SETTING(SET_SLOWLY, SET_COPY_SLOWLY, (void)0, XRELEASE(old))

/* The object at A on the stack goes. EXIT: it is the last reference to something that may
 * notice. */
void op_OPT_POP(void)
{
	PyObject *object = SLOT(HOLE_A);

	GUARD_OR(is_free(object), EXIT());
	SLOT(HOLE_A) = NULL;
	drop(object);
	CONT();
}

void op_OPT_POP_SLOWLY(void)
{
	PyObject *object = SLOT(HOLE_A);

	SLOT(HOLE_A) = NULL;
	RELEASE(object);
	CONT();
}

/* The name is still D: A, B and C as for GLOBAL_MODULE and GLOBAL_BUILTIN. */
void op_OPT_GLOBAL_MODULE(void)
{
	PyDictKeysObject *keys = ((PyDictObject *)frame->f_globals)->ma_keys;

	GUARD(keys->dk_version == (uint32_t)HOLE32(HOLE_A) &&
		*(uintptr_t *)((char *)keys + HOLE_INT(HOLE_B)) == HOLE64(HOLE_D));
	CONT();
}

void op_OPT_GLOBAL_BUILTIN(void)
{
	PyDictKeysObject *keys = ((PyDictObject *)frame->f_globals)->ma_keys;
	PyDictKeysObject *builtin = ((PyDictObject *)frame->f_builtins)->ma_keys;

	GUARD(keys->dk_version == (uint32_t)HOLE32(HOLE_A) &&
		builtin->dk_version == (uint32_t)HOLE32(HOLE_C) &&
		*(uintptr_t *)((char *)builtin + HOLE_INT(HOLE_B)) == HOLE64(HOLE_D));
	CONT();
}

/* The function A still has the version B. */
void op_OPT_FUNCTION_VERSION(void)
{
	GUARD(((PyFunctionObject *)HOLE64(HOLE_A))->func_version ==
		(uint32_t)HOLE32(HOLE_B));
	CONT();
}

/* What the cell in the local A has, to the stack at B. */
void op_OPT_LOAD_CELL(void)
{
	PyObject *item = ((PyCellObject *)SLOT(HOLE_A))->ob_ref;

	GUARD(item);
	Py_INCREF(item);
	SLOT(HOLE_B) = item;
	CONT();
}

/* Whether the object at A is (C: 0) or is not (C: 1) the object B, to slot D. */
void op_OPT_IS(void)
{
	INT(HOLE_D) = ((uintptr_t)SLOT(HOLE_A) == HOLE64(HOLE_B)) ^ HOLE_INT(HOLE_C);
	CONT();
}

/* What an exception finds in the frame: the numbers first, as the exit B says. */
typedef void code(void);

void op_OPT_UNWIND(uintptr_t number)
{
	code *next = (code *)runtime_unwind(
		thread, frame, (struct compiled *)HOLE64(HOLE_A), (uint32_t)number, top);

	cont1((PyObject *)next);
}

void op_OPT_RERAISE(uintptr_t number)
{
	code *next = (code *)runtime_reraise(
		thread, frame, (struct compiled *)HOLE64(HOLE_A), (uint32_t)number, top);

	cont1((PyObject *)next);
}
