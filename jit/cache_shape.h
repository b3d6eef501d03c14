/* What an inline cache can guard for: the layouts that attributes, methods and globals
 * are found in. */
#ifndef JIT_CACHE_SHAPE_H
#define JIT_CACHE_SHAPE_H

#include "jit/cache.h"
#include "jit/python.h"

/* Whether what an object in a class does as a descriptor stays so: a type that can change
 * may get __get__ and __set__ later, and no version guards for that. */
bool shape_is_settled(PyObject *value);

/* An object slot of a class with __slots__ that instances of `type` have, readable without
 * further ado, and its offset. A descriptor may stand in a class that is none of its own. */
bool shape_is_slot(PyTypeObject *type, PyObject *descriptor, Py_ssize_t *offset);

/* Each fills in the stencil that finds what the cache looks for in such an object, with
 * its holes; false: there is none for it. No exception is set. */
bool shape_global(PyObject *globals, PyObject *builtins, const struct cache *cache,
	struct cache_seed *seed);
bool shape_attribute(
	PyObject *object, const struct cache *cache, struct cache_seed *seed);
bool shape_method(PyObject *object, const struct cache *cache, struct cache_seed *seed);
bool shape_store(PyObject *object, const struct cache *cache, struct cache_seed *seed);

#endif
