/* Stencils of inline caches: guard, then work; EXIT is where the guard fails. The guards
 * are those of ceval.c's specialised instructions. HOLE_C is what is owned. */
#include "jit/stencils.h"

#include "internal/pycore_moduleobject.h"

#define GUARD(condition) GUARD_OR(condition, exit1(a))

#define HAS_VERSION(object, hole) \
	(Py_TYPE(object)->tp_version_tag == (unsigned)HOLE32(hole))

/* An attribute's value goes on top; the object is dropped. */
#define FINISH(value)                       \
	do {                                \
		PyObject *found_ = (value); \
		Py_INCREF(found_);          \
		top = found_;               \
		if (HOLE_ARGUMENT(HOLE_C))  \
			RELEASE(a);         \
		CONT();                     \
	} while (0)

/* In the instance's values, B bytes from their start. */
void op_ATTRIBUTE_VALUE(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	PyDictValues *values = *_PyObject_ValuesPointer(a);
	GUARD(values != NULL);
	PyObject *value = *(PyObject **)((char *)values + HOLE_INT(HOLE_B));
	GUARD(value != NULL);
	FINISH(value);
}

/* In a slot of the object, at offset B. */
void op_ATTRIBUTE_SLOT(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	PyObject *value = *(PyObject **)((char *)a + HOLE_INT(HOLE_B));
	GUARD(value != NULL);
	FINISH(value);
}

/* In the instance's dictionary, B bytes from the start of its keys' entries. */
void op_ATTRIBUTE_DICTIONARY(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	PyDictObject *dict = *(PyDictObject **)_PyObject_ManagedDictPointer(a);
	GUARD(dict != NULL);
	PyDictKeysObject *keys = dict->ma_keys;
	GUARD(DK_IS_UNICODE(keys) && !dict->ma_values);
	GUARD((size_t)HOLE32(HOLE_D) < (size_t)keys->dk_nentries);
	PyDictUnicodeEntry *entry = DK_UNICODE_ENTRIES(keys) + HOLE32(HOLE_D);
	GUARD(entry->me_key == HOLE_OBJECT(HOLE_E));
	PyObject *value = entry->me_value;
	GUARD(value != NULL);
	FINISH(value);
}

/* In the class, and instances have no attribute of the name: E is their keys' version. */
void op_ATTRIBUTE_CLASS(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	GUARD(*_PyObject_ValuesPointer(a) != NULL);
	GUARD(((PyHeapTypeObject *)Py_TYPE(a))->ht_cached_keys->dk_version ==
		(uint32_t)HOLE32(HOLE_E));
	FINISH(HOLE_OBJECT(HOLE_D));
}

/* In the class of objects without a dictionary. */
void op_ATTRIBUTE_CONSTANT(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	FINISH(HOLE_OBJECT(HOLE_D));
}

/* Of a class: D is the class itself. */
void op_ATTRIBUTE_OF_CLASS(PyObject *a)
{
	GUARD(a == HOLE_OBJECT(HOLE_D) &&
		((PyTypeObject *)a)->tp_version_tag == (unsigned)HOLE32(HOLE_A));
	FINISH(HOLE_OBJECT(HOLE_E));
}

/* Of a module: its dictionary's keys have version A, the value is B bytes behind them. */
#define MODULE_VALUE(a)                                                             \
	GUARD(PyModule_CheckExact(a));                                              \
	PyDictObject *dict = (PyDictObject *)((PyModuleObject *)a)->md_dict;        \
	GUARD(dict->ma_keys->dk_version == (uint32_t)HOLE32(HOLE_A));               \
	PyObject *value = *(PyObject **)((char *)dict->ma_keys + HOLE_INT(HOLE_B)); \
	GUARD(value != NULL)

void op_ATTRIBUTE_MODULE(PyObject *a)
{
	MODULE_VALUE(a);
	FINISH(value);
}

/* A property: D. */
void op_ATTRIBUTE_PROPERTY(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	SET_INSTRUCTION();
	TOP_UNLESS_ERROR(runtime_call_getter(
		thread, HOLE_OBJECT(HOLE_D), a, HOLE_ARGUMENT(HOLE_C)));
}

void op_ATTRIBUTE_MISS(PyObject *a)
{
	SET_INSTRUCTION();
	TOP_UNLESS_ERROR(runtime_attribute_miss(a, (struct cache *)HOLE64(HOLE_A)));
}

/* Methods: D is the function; B is where it and self go; C whether self is owned. */
#define FINISH_METHOD()                                  \
	do {                                             \
		PyObject **at_ = SLOT_AT(HOLE_B);        \
		PyObject *method_ = HOLE_OBJECT(HOLE_D); \
		Py_INCREF(method_);                      \
		at_[0] = method_;                        \
		at_[1] = a;                              \
		if (!HOLE_ARGUMENT(HOLE_C))              \
			Py_INCREF(a);                    \
		CONT();                                  \
	} while (0)

void op_METHOD_VALUES(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	GUARD(*(PyObject **)_PyObject_ManagedDictPointer(a) == NULL);
	GUARD(((PyHeapTypeObject *)Py_TYPE(a))->ht_cached_keys->dk_version ==
		(uint32_t)HOLE32(HOLE_E));
	FINISH_METHOD();
}

void op_METHOD_DICTIONARY(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	PyDictObject *dict = *(PyDictObject **)_PyObject_ManagedDictPointer(a);
	GUARD(dict != NULL);
	GUARD(dict->ma_keys->dk_version == (uint32_t)HOLE32(HOLE_E));
	FINISH_METHOD();
}

void op_METHOD_CONSTANT(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	FINISH_METHOD();
}

/* Not a method after all: NULL and the attribute; E is where they go. */
#define FINISH_ATTRIBUTE(value)                   \
	do {                                      \
		PyObject **at_ = SLOT_AT(HOLE_E); \
		PyObject *plain_ = (value);       \
		Py_INCREF(plain_);                \
		at_[0] = NULL;                    \
		at_[1] = plain_;                  \
		if (HOLE_ARGUMENT(HOLE_C))        \
			RELEASE(a);               \
		CONT();                           \
	} while (0)

void op_METHOD_VALUE(PyObject *a)
{
	GUARD(HAS_VERSION(a, HOLE_A));
	PyDictValues *values = *_PyObject_ValuesPointer(a);
	GUARD(values != NULL);
	PyObject *value = *(PyObject **)((char *)values + HOLE_INT(HOLE_B));
	GUARD(value != NULL);
	FINISH_ATTRIBUTE(value);
}

void op_METHOD_MODULE(PyObject *a)
{
	MODULE_VALUE(a);
	FINISH_ATTRIBUTE(value);
}

void op_METHOD_OF_CLASS(PyObject *a)
{
	GUARD(a == HOLE_OBJECT(HOLE_D) &&
		((PyTypeObject *)a)->tp_version_tag == (unsigned)HOLE32(HOLE_A));
	FINISH_ATTRIBUTE((PyObject *)HOLE64(HOLE_B));
}

void op_METHOD_MISS(PyObject *a)
{
	SET_INSTRUCTION();
	CONT_UNLESS_ERROR(runtime_method_miss(a, (struct cache *)HOLE64(HOLE_A),
				  SLOT_AT(HOLE_B)) >= 0);
}

/* Globals: A is the version of the module's keys; the value is B bytes behind them. */
void op_GLOBAL_MODULE(void)
{
	PyDictKeysObject *keys = ((PyDictObject *)frame->f_globals)->ma_keys;
	GUARD_OR(keys->dk_version == (uint32_t)HOLE32(HOLE_A), EXIT());
	PyObject *value = *(PyObject **)((char *)keys + HOLE_INT(HOLE_B));
	GUARD_OR(value != NULL, EXIT());
	Py_INCREF(value);
	top = value;
	CONT();
}

/* C is the version of the builtins' keys, and the value is B bytes behind those. */
void op_GLOBAL_BUILTIN(void)
{
	PyDictKeysObject *keys = ((PyDictObject *)frame->f_globals)->ma_keys;
	GUARD_OR(keys->dk_version == (uint32_t)HOLE32(HOLE_A), EXIT());
	keys = ((PyDictObject *)frame->f_builtins)->ma_keys;
	GUARD_OR(keys->dk_version == (uint32_t)HOLE32(HOLE_C), EXIT());
	PyObject *value = *(PyObject **)((char *)keys + HOLE_INT(HOLE_B));
	GUARD_OR(value != NULL, EXIT());
	Py_INCREF(value);
	top = value;
	CONT();
}

void op_GLOBAL_MISS(void)
{
	SET_INSTRUCTION();
	TOP_UNLESS_ERROR(
		runtime_global_miss(thread, frame, (struct cache *)HOLE64(HOLE_A)));
}

/* Stores: C has bit 0 where the object, bit 1 where the value is owned. */
#define OWN_VALUE()                                     \
	do {                                            \
		if (!(HOLE32(HOLE_C) & RUNTIME_OWNS_B)) \
			Py_INCREF(value);               \
	} while (0)

#define FINISH_STORE()                                 \
	do {                                           \
		if (HOLE32(HOLE_C) & RUNTIME_OWNS_A) { \
			SET_INSTRUCTION();             \
			runtime_drop_two(old, a);      \
		} else {                               \
			XRELEASE(old);                 \
		}                                      \
		CONT();                                \
	} while (0)

void op_STORE_VALUE(PyObject *a, PyObject *value)
{
	GUARD_OR(HAS_VERSION(a, HOLE_A), exit2(a, value));
	PyDictValues *values = *_PyObject_ValuesPointer(a);
	GUARD_OR(values != NULL, exit2(a, value));
	PyObject **at = (PyObject **)((char *)values + HOLE_INT(HOLE_B));
	PyObject *old = *at;
	OWN_VALUE();
	*at = value;
	if (!old)
		_PyDictValues_AddToInsertionOrder(
			values, HOLE_INT(HOLE_B) / (int)sizeof(PyObject *));
	FINISH_STORE();
}

void op_STORE_SLOT(PyObject *a, PyObject *value)
{
	GUARD_OR(HAS_VERSION(a, HOLE_A), exit2(a, value));
	PyObject **at = (PyObject **)((char *)a + HOLE_INT(HOLE_B));
	PyObject *old = *at;
	OWN_VALUE();
	*at = value;
	FINISH_STORE();
}

void op_STORE_MISS(PyObject *a, PyObject *value)
{
	SET_INSTRUCTION();
	CONT_UNLESS_ERROR(
		runtime_store_miss(a, value, (struct cache *)HOLE64(HOLE_A)) >= 0);
}
