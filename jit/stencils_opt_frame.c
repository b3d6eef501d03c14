/* Stencils of the optimising tier between slots and the frame: numbers become objects
 * there before anybody may look, and objects become numbers. */
#include "jit/opt.h"
#include "jit/stencils_opt.h"

/* What a local is in the frame takes the place of what was there, which is nothing that
 * notices. */
static inline __attribute__((always_inline)) void replace(PyObject **at, PyObject *new)
{
	PyObject *old = *at;

	*at = new;
	if (old && --old->ob_refcnt == 0)
		opt_drop(old);
}

/* The number in slot A as an object: SYNC to the local B, SYNC_FLAGGED where the flag C
 * says that the frame does not have it yet, BOX to the stack. */
#define BOXING(name, value)                        \
	void op_OPT_SYNC_##name(void)              \
	{                                          \
		replace(SLOT_AT(HOLE_B), (value)); \
		CONT();                            \
	}                                          \
	void op_OPT_SYNC_FLAGGED_##name(void)      \
	{                                          \
		if (!INT(HOLE_C)) {                \
			CONT();                    \
			return;                    \
		}                                  \
		INT(HOLE_C) = 0;                   \
		replace(SLOT_AT(HOLE_B), (value)); \
		CONT();                            \
	}                                          \
	void op_OPT_BOX_##name(void)               \
	{                                          \
		SLOT(HOLE_B) = (value);            \
		CONT();                            \
	}

BOXING(INT, opt_box_int(INT(HOLE_A)))
BOXING(FLOAT, opt_box_float(FLOAT(HOLE_A)))
BOXING(BOOL, Py_NewRef(INT(HOLE_A) ? Py_True : Py_False))

/* The object at A as a number in slot B; OWNED: it is on the stack and goes. */
#define UNBOXING(name, test, store)                 \
	void op_OPT_UNBOX_##name(void)              \
	{                                           \
		PyObject *item = SLOT(HOLE_A);      \
		if (UNLIKELY(!item || !(test))) {   \
			DEOPT();                    \
			return;                     \
		}                                   \
		store;                              \
		CONT();                             \
	}                                           \
	void op_OPT_UNBOX_OWNED_##name(void)        \
	{                                           \
		PyObject *item = SLOT(HOLE_A);      \
		if (UNLIKELY(!item || !(test))) {   \
			DEOPT();                    \
			return;                     \
		}                                   \
		store;                              \
		SLOT(HOLE_A) = NULL;                \
		if (LIKELY(--item->ob_refcnt == 0)) \
			opt_drop(item);             \
		CONT();                             \
	}

UNBOXING(INT, is_small_int(item), INT(HOLE_B) = small_int(item))
UNBOXING(FLOAT, item->ob_type == &PyFloat_Type,
	FLOAT(HOLE_B) = ((PyFloatObject *)item)->ob_fval)
UNBOXING(BOOL, item == Py_True || item == Py_False, INT(HOLE_B) = item == Py_True)

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
	if (UNLIKELY(!is_free(old))) {
		DEOPT();
		return;
	}
	SLOT(HOLE_A) = NULL;
	if (--old->ob_refcnt == 0)
		opt_drop(old);
	CONT();
}

/* The object at A becomes the local B. EXIT: what was there may notice its end. */
void op_OPT_SET(void)
{
	PyObject *old = SLOT(HOLE_B);

	if (UNLIKELY(!is_free(old))) {
		EXIT();
		return;
	}
	SLOT(HOLE_B) = SLOT(HOLE_A);
	SLOT(HOLE_A) = NULL;
	if (old && --old->ob_refcnt == 0)
		opt_drop(old);
	CONT();
}

void op_OPT_SET_COPY(void)
{
	PyObject *old = SLOT(HOLE_B), *new = SLOT(HOLE_A);

	if (UNLIKELY(!is_free(old))) {
		EXIT();
		return;
	}
	Py_INCREF(new);
	SLOT(HOLE_B) = new;
	if (old && --old->ob_refcnt == 0)
		opt_drop(old);
	CONT();
}

/* The same where numbers have been put into the frame. */
void op_OPT_SET_SLOWLY(void)
{
	PyObject *old = SLOT(HOLE_B);

	SLOT(HOLE_B) = SLOT(HOLE_A);
	SLOT(HOLE_A) = NULL;
	XRELEASE(old);
	CONT();
}

void op_OPT_SET_COPY_SLOWLY(void)
{
	PyObject *old = SLOT(HOLE_B), *new = SLOT(HOLE_A);

	Py_INCREF(new);
	SLOT(HOLE_B) = new;
	XRELEASE(old);
	CONT();
}

/* The object at A on the stack goes. EXIT: it is the last reference to something that may
 * notice. */
void op_OPT_POP(void)
{
	PyObject *object = SLOT(HOLE_A);

	if (UNLIKELY(!is_free(object))) {
		EXIT();
		return;
	}
	SLOT(HOLE_A) = NULL;
	if (--object->ob_refcnt == 0)
		opt_drop(object);
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

	if (UNLIKELY(keys->dk_version != (uint32_t)HOLE32(HOLE_A) ||
		     *(uintptr_t *)((char *)keys + HOLE_INT(HOLE_B)) != HOLE64(HOLE_D))) {
		DEOPT();
		return;
	}
	CONT();
}

void op_OPT_GLOBAL_BUILTIN(void)
{
	PyDictKeysObject *keys = ((PyDictObject *)frame->f_globals)->ma_keys;
	PyDictKeysObject *builtin = ((PyDictObject *)frame->f_builtins)->ma_keys;

	if (UNLIKELY(keys->dk_version != (uint32_t)HOLE32(HOLE_A) ||
		     builtin->dk_version != (uint32_t)HOLE32(HOLE_C) ||
		     *(uintptr_t *)((char *)builtin + HOLE_INT(HOLE_B)) !=
			     HOLE64(HOLE_D))) {
		DEOPT();
		return;
	}
	CONT();
}

/* The function A still has the version B. */
void op_OPT_FUNCTION_VERSION(void)
{
	if (UNLIKELY(((PyFunctionObject *)HOLE64(HOLE_A))->func_version !=
		     (uint32_t)HOLE32(HOLE_B)))
		DEOPT();
	else
		CONT();
}

/* What the cell in the local A has, to the stack at B. */
void op_OPT_LOAD_CELL(void)
{
	PyObject *item = ((PyCellObject *)SLOT(HOLE_A))->ob_ref;

	if (UNLIKELY(!item)) {
		DEOPT();
		return;
	}
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
