/* What an inline cache can guard for: the layouts that attributes, methods and globals
 * are found in. */
#ifndef JIT_CACHE_SHAPE_H
#define JIT_CACHE_SHAPE_H

#include "jit/cache.h"
#include "jit/python.h"

/* Each fills in the stencil that finds what the cache looks for in such an object, with
 * its holes; false: there is none for it. No exception is set. */
bool shape_global(PyObject *globals, PyObject *builtins, const struct cache *cache,
	struct cache_seed *seed);
bool shape_attribute(
	PyObject *object, const struct cache *cache, struct cache_seed *seed);
bool shape_method(PyObject *object, const struct cache *cache, struct cache_seed *seed);
bool shape_store(PyObject *object, const struct cache *cache, struct cache_seed *seed);
bool shape_call(const PyFunctionObject *function, const struct compiled *callee,
	const struct cache *cache, bool method, bool bound, struct cache_seed *seed);

#endif
