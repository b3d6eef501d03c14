/* What an inline cache can guard for. The rules are those of CPython's specializer
 * (Python/specialize.c), whose guards the stencils have. */
#include "jit/cache_shape.h"

#include <stddef.h>

#include "jit/iterators.h"

enum { SHAPE_FAR = 1 << 20 }; /* offsets beyond are left alone */

static uint32_t type_version(PyTypeObject *type)
{
	return _PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)
		       ? type->tp_version_tag
		       : 0;
}

static PyDictKeysObject *cached_keys(PyTypeObject *type)
{
	return ((PyHeapTypeObject *)type)->ht_cached_keys;
}

/* Place of a name in keys with string keys only, or -1. */
static Py_ssize_t find_key(PyDictKeysObject *keys, PyObject *name)
{
	Py_ssize_t place;

	if (!DK_IS_UNICODE(keys))
		return -1;
	place = _PyDictKeys_StringLookup(keys, name);
	return place < 0 ? -1 : place;
}

/* Where a name's value is in a dictionary with string keys: its offset from the keys,
 * whose version is stored; 0: nowhere. */
static uint32_t find_value(PyObject *object, PyObject *name, uint32_t *version)
{
	PyDictObject *dict = (PyDictObject *)object;
	PyDictKeysObject *keys;
	Py_ssize_t place;
	PyDictUnicodeEntry *entry;

	if (!object || !PyDict_CheckExact(object) || dict->ma_values)
		return 0;
	keys = dict->ma_keys;
	place = keys->dk_kind == DICT_KEYS_UNICODE ? find_key(keys, name) : -1;
	if (place < 0)
		return 0;
	*version = _PyDictKeys_GetVersionForCurrentState(keys);
	entry = DK_UNICODE_ENTRIES(keys) + place;
	if (!*version || !entry->me_value ||
		(char *)&entry->me_value - (char *)keys > SHAPE_FAR)
		return 0;
	return (uint32_t)((char *)&entry->me_value - (char *)keys);
}

/* Version of a dictionary's keys that do not have a name; 0: they have, or none. */
static uint32_t version_without(PyDictKeysObject *keys, PyObject *name)
{
	if (keys->dk_kind == DICT_KEYS_GENERAL || find_key(keys, name) >= 0)
		return 0;
	return _PyDictKeys_GetVersionForCurrentState(keys);
}

bool shape_global(PyObject *globals, PyObject *builtins, const struct cache *cache,
	struct cache_seed *seed)
{
	uint32_t version;
	uint32_t offset = find_value(globals, cache->name, &version);
	uint32_t inner;

	if (offset) {
		*seed = (struct cache_seed){
			STENCIL_GLOBAL_MODULE, {.a = version, .b = offset}};
		return true;
	}
	if (!PyDict_CheckExact(globals) || ((PyDictObject *)globals)->ma_values)
		return false;
	version = version_without(((PyDictObject *)globals)->ma_keys, cache->name);
	offset = find_value(builtins, cache->name, &inner);
	if (!version || !offset)
		return false;
	*seed = (struct cache_seed){
		STENCIL_GLOBAL_BUILTIN, {.a = version, .b = offset, .c = inner}};
	return true;
}

bool shape_is_settled(PyObject *value)
{
	return !value || _PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_IMMUTABLETYPE);
}

bool shape_is_slot(PyTypeObject *type, PyObject *descriptor, Py_ssize_t *offset)
{
	PyMemberDef *member;

	if (!descriptor || !Py_IS_TYPE(descriptor, &PyMemberDescr_Type) ||
		!PyType_IsSubtype(type, PyDescr_TYPE(descriptor)))
		return false;
	member = ((PyMemberDescrObject *)descriptor)->d_member;
	*offset = member->offset;
	return member->type == T_OBJECT_EX && !(member->flags & PY_AUDIT_READ) &&
	       member->offset > 0 && member->offset < SHAPE_FAR;
}

static PyDictValues *values_of(PyObject *object)
{
	return Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT
		       ? *_PyObject_ValuesPointer(object)
		       : NULL;
}

static PyDictObject *dictionary_of(PyObject *object)
{
	return Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT
		       ? *(PyDictObject **)_PyObject_ManagedDictPointer(object)
		       : NULL;
}

/* In the instance itself, whose class has no data descriptor of that name. */
static bool in_instance(PyObject *object, const struct cache *cache, uint32_t version,
	struct cache_seed *seed)
{
	PyDictValues *values = values_of(object);
	PyDictObject *dict = dictionary_of(object);
	Py_ssize_t place;

	if (values) {
		place = find_key(cached_keys(Py_TYPE(object)), cache->name);
		if (place < 0 || !values->values[place])
			return false;
		*seed = (struct cache_seed){STENCIL_ATTRIBUTE_VALUE,
			{.a = version,
				.b = (uint64_t)place * sizeof(PyObject *),
				.c = cache->owned}};
		return true;
	}
	if (!dict || dict->ma_values || dict->ma_keys->dk_kind != DICT_KEYS_UNICODE)
		return false;
	place = find_key(dict->ma_keys, cache->name);
	if (place < 0 || place > SHAPE_FAR)
		return false;
	*seed = (struct cache_seed){
		STENCIL_ATTRIBUTE_DICTIONARY, {.a = version,
						      .c = cache->owned,
						      .d = (uint64_t)place,
						      .e = (uintptr_t)cache->name}};
	return DK_UNICODE_ENTRIES(dict->ma_keys)[place].me_key == cache->name;
}

/* In the class, as a plain value. */
static bool in_class(PyObject *object, const struct cache *cache, uint32_t version,
	PyObject *value, struct cache_seed *seed)
{
	PyTypeObject *type = Py_TYPE(object);

	*seed = (struct cache_seed){STENCIL_ATTRIBUTE_CONSTANT,
		{.a = version, .c = cache->owned, .d = (uintptr_t)value}};
	if (!type->tp_dictoffset)
		return true;
	if (!values_of(object))
		return false;
	seed->stencil = STENCIL_ATTRIBUTE_CLASS;
	seed->holes.e = version_without(cached_keys(type), cache->name);
	return seed->holes.e != 0;
}

static bool of_module(
	PyObject *object, const struct cache *cache, struct cache_seed *seed)
{
	uint32_t version;
	uint32_t offset;

	if (_PyType_Lookup(&PyModule_Type, cache->name))
		return false;
	offset = find_value(((PyModuleObject *)object)->md_dict, cache->name, &version);
	*seed = (struct cache_seed){
		STENCIL_ATTRIBUTE_MODULE, {.a = version, .b = offset, .c = cache->owned}};
	return offset != 0;
}

/* An attribute of a class that is what is in its dictionary; borrowed. */
static PyObject *class_value(PyObject *object, const struct cache *cache)
{
	PyTypeObject *meta = Py_TYPE(object);
	PyObject *value;

	/* Nothing guards for the metaclass: it must not be able to change. */
	if (meta->tp_getattro != PyType_Type.tp_getattro || !shape_is_settled(object) ||
		_PyType_Lookup(meta, cache->name))
		return NULL;
	value = _PyType_Lookup((PyTypeObject *)object, cache->name);
	if (!value || !shape_is_settled(value) || !type_version((PyTypeObject *)object) ||
		(Py_TYPE(value)->tp_descr_get && !_PyType_HasFeature(Py_TYPE(value),
							 Py_TPFLAGS_METHOD_DESCRIPTOR)))
		return NULL;
	return value;
}

static bool of_class(PyObject *object, const struct cache *cache, struct cache_seed *seed)
{
	PyObject *value = class_value(object, cache);

	*seed = (struct cache_seed){
		STENCIL_ATTRIBUTE_OF_CLASS, {.a = type_version((PyTypeObject *)object),
						    .c = cache->owned,
						    .d = (uintptr_t)object,
						    .e = (uintptr_t)value}};
	return value != NULL;
}

/* A property read by a Python function. */
static bool is_property(PyObject *descriptor)
{
	PyObject *reader;

	if (!descriptor || !Py_IS_TYPE(descriptor, &PyProperty_Type))
		return false;
	reader = ((struct property *)descriptor)->reader;
	return reader && Py_IS_TYPE(reader, &PyFunction_Type);
}

bool shape_attribute(PyObject *object, const struct cache *cache, struct cache_seed *seed)
{
	PyTypeObject *type = Py_TYPE(object);
	PyObject *descriptor;
	uint32_t version;
	Py_ssize_t offset;

	if (PyModule_CheckExact(object))
		return of_module(object, cache, seed);
	if (PyType_Check(object))
		return of_class(object, cache, seed);
	if (type->tp_getattro != PyObject_GenericGetAttr)
		return false;
	descriptor = _PyType_Lookup(type, cache->name);
	version = type_version(type);
	if (!version || !shape_is_settled(descriptor))
		return false;
	if (shape_is_slot(type, descriptor, &offset)) {
		*seed = (struct cache_seed){STENCIL_ATTRIBUTE_SLOT,
			{.a = version, .b = (uint64_t)offset, .c = cache->owned}};
		return true;
	}
	if (is_property(descriptor)) {
		*seed = (struct cache_seed){STENCIL_ATTRIBUTE_PROPERTY,
			{.a = version, .c = cache->owned, .d = (uintptr_t)descriptor}};
		return true;
	}
	if (descriptor && PyDescr_IsData(descriptor))
		return false;
	if (in_instance(object, cache, version, seed))
		return true;
	return descriptor && !Py_TYPE(descriptor)->tp_descr_get &&
	       in_class(object, cache, version, descriptor, seed);
}

/* Turns what finds an attribute into what finds it for a call. */
static bool as_plain_call(const struct cache *cache, struct cache_seed *seed)
{
	switch (seed->stencil) {
	case STENCIL_ATTRIBUTE_VALUE: seed->stencil = STENCIL_METHOD_VALUE; break;
	case STENCIL_ATTRIBUTE_MODULE: seed->stencil = STENCIL_METHOD_MODULE; break;
	case STENCIL_ATTRIBUTE_OF_CLASS:
		seed->stencil = STENCIL_METHOD_OF_CLASS;
		seed->holes.b = seed->holes.e;
		break;
	default: return false;
	}
	seed->holes.e = cache->slot;
	return true;
}

bool shape_method(PyObject *object, const struct cache *cache, struct cache_seed *seed)
{
	PyTypeObject *type = Py_TYPE(object);
	PyObject *method;
	PyDictObject *dict;

	if (type->tp_getattro != PyObject_GenericGetAttr)
		return shape_attribute(object, cache, seed) && as_plain_call(cache, seed);
	method = _PyType_Lookup(type, cache->name);
	if (!method || !_PyType_HasFeature(Py_TYPE(method), Py_TPFLAGS_METHOD_DESCRIPTOR))
		return shape_attribute(object, cache, seed) && as_plain_call(cache, seed);
	*seed = (struct cache_seed){
		STENCIL_METHOD_CONSTANT, {.a = type_version(type),
						 .b = cache->slot,
						 .c = cache->owned,
						 .d = (uintptr_t)method}};
	if (!seed->holes.a)
		return false;
	if (!type->tp_dictoffset)
		return true;
	if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT))
		return false;
	dict = dictionary_of(object);
	seed->stencil = dict ? STENCIL_METHOD_DICTIONARY : STENCIL_METHOD_VALUES;
	if (dict && dict->ma_values)
		return false;
	seed->holes.e =
		version_without(dict ? dict->ma_keys : cached_keys(type), cache->name);
	if (seed->holes.e)
		return true;
	return shape_attribute(object, cache, seed) && as_plain_call(cache, seed);
}

bool shape_store(PyObject *object, const struct cache *cache, struct cache_seed *seed)
{
	PyTypeObject *type = Py_TYPE(object);
	PyObject *descriptor;
	uint32_t version;
	Py_ssize_t place;

	if (type->tp_setattro != PyObject_GenericSetAttr || PyType_Check(object))
		return false;
	descriptor = _PyType_Lookup(type, cache->name);
	version = type_version(type);
	if (!version || !shape_is_settled(descriptor))
		return false;
	if (shape_is_slot(type, descriptor, &place)) {
		if (((PyMemberDescrObject *)descriptor)->d_member->flags & READONLY)
			return false;
		*seed = (struct cache_seed){STENCIL_STORE_SLOT,
			{.a = version, .b = (uint64_t)place, .c = cache->owned}};
		return true;
	}
	if ((descriptor && PyDescr_IsData(descriptor)) || !values_of(object))
		return false;
	place = find_key(cached_keys(type), cache->name);
	if (place < 0)
		return false;
	*seed = (struct cache_seed){
		STENCIL_STORE_VALUE, {.a = version,
					     .b = (uint64_t)place * sizeof(PyObject *),
					     .c = cache->owned}};
	return true;
}
