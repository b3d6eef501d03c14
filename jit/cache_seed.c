/* What the interpreter's own inline caches (Include/internal/pycore_code.h) say about a
 * place, as the stencil to compile in line. */
#include "jit/cache.h"

static bool seed_attribute(const struct cache *cache, const _Py_CODEUNIT *units,
	uint8_t adaptive, struct cache_seed *seed)
{
	_PyAttrCache *own = (_PyAttrCache *)units;
	uint32_t version = read_u32(own->version);

	switch (adaptive) {
	case LOAD_ATTR_INSTANCE_VALUE:
		*seed = (struct cache_seed){STENCIL_ATTRIBUTE_VALUE,
			{.a = version,
				.b = own->index * sizeof(PyObject *),
				.c = cache->owned}};
		return version != 0;
	case LOAD_ATTR_SLOT:
		*seed = (struct cache_seed){STENCIL_ATTRIBUTE_SLOT,
			{.a = version, .b = own->index, .c = cache->owned}};
		return version != 0;
	case STORE_ATTR_INSTANCE_VALUE:
		*seed = (struct cache_seed){
			STENCIL_STORE_VALUE, {.a = version,
						     .b = own->index * sizeof(PyObject *),
						     .c = cache->owned}};
		return version != 0;
	case STORE_ATTR_SLOT:
		*seed = (struct cache_seed){STENCIL_STORE_SLOT,
			{.a = version, .b = own->index, .c = cache->owned}};
		return version != 0;
	default: return false;
	}
}

static bool seed_method(const struct cache *cache, const _Py_CODEUNIT *units,
	uint8_t adaptive, struct cache_seed *seed)
{
	_PyLoadMethodCache *own = (_PyLoadMethodCache *)units;
	uint32_t version = read_u32(own->type_version);

	*seed = (struct cache_seed){
		STENCIL_METHOD_CONSTANT, {.a = version,
						 .b = cache->slot,
						 .c = cache->owned,
						 .d = (uintptr_t)read_obj(own->descr)}};
	if (!version || !seed->holes.d)
		return false;
	if (adaptive == LOAD_METHOD_NO_DICT)
		return true;
	seed->stencil = STENCIL_METHOD_VALUES;
	seed->holes.e = read_u32(own->keys_version);
	return adaptive == LOAD_METHOD_WITH_VALUES && seed->holes.e;
}

bool cache_seed(PyCodeObject *code, const struct cache *cache, uint8_t adaptive,
	struct cache_seed *seed)
{
	const _Py_CODEUNIT *units = _PyCode_CODE(code) + cache->index + 1;

	switch ((enum cache_kind)cache->kind) {
	case CACHE_ATTRIBUTE:
	case CACHE_STORE: return seed_attribute(cache, units, adaptive, seed);
	case CACHE_METHOD: return seed_method(cache, units, adaptive, seed);
	default: return false;
	}
	return false;
}
