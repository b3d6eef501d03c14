/* What an inline cache can do with two operands. */
#include "jit/cache_operand.h"

#include <stddef.h>

#include "jit/runtime.h"
#include "jit/runtime_operator.h"

/* A class that stays as it is. */
static bool is_builtin(const PyTypeObject *type)
{
	return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
	       type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE;
}

static bool is_short_int(PyObject *object)
{
	return PyLong_CheckExact(object) && (size_t)(Py_SIZE(object) + 1) <= 2;
}

static bool plan_subscript(PyObject *a, PyObject *b, struct cache_seed *seed)
{
	PyMappingMethods *methods = Py_TYPE(a)->tp_as_mapping;

	if (PyDict_CheckExact(a)) {
		seed->stencil = STENCIL_SUBSCRIPT_DICT;
		return true;
	}
	if (is_short_int(b)) {
		if (PyTuple_CheckExact(a)) {
			seed->stencil = STENCIL_SUBSCRIPT_TUPLE;
			return true;
		}
		if (PyUnicode_CheckExact(a) && PyUnicode_IS_COMPACT_ASCII(a)) {
			seed->stencil = STENCIL_SUBSCRIPT_STRING;
			return true;
		}
		if (PyBytes_CheckExact(a)) {
			seed->stencil = STENCIL_SUBSCRIPT_BYTES;
			return true;
		}
	}
	if (!is_builtin(Py_TYPE(a)) || PyType_Check(a) || !methods ||
		!methods->mp_subscript)
		return false;
	seed->stencil = STENCIL_SUBSCRIPT_FUNCTION;
	seed->holes.c = (uintptr_t)methods->mp_subscript;
	seed->holes.d = (uintptr_t)Py_TYPE(a);
	return true;
}

static bool plan_store(PyObject *a, struct cache_seed *seed)
{
	PyMappingMethods *methods = Py_TYPE(a)->tp_as_mapping;

	if (!is_builtin(Py_TYPE(a)) || !methods || !methods->mp_ass_subscript)
		return false;
	seed->stencil = STENCIL_STORE_SUBSCRIPT_FUNCTION;
	seed->holes.c = (uintptr_t)methods->mp_ass_subscript;
	seed->holes.d = (uintptr_t)Py_TYPE(a);
	return true;
}

/* Of operations that only have one slot, in the order of their numbers. */
static const size_t slots[] = {
	[NB_ADD] = offsetof(PyNumberMethods, nb_add),
	[NB_AND] = offsetof(PyNumberMethods, nb_and),
	[NB_FLOOR_DIVIDE] = offsetof(PyNumberMethods, nb_floor_divide),
	[NB_LSHIFT] = offsetof(PyNumberMethods, nb_lshift),
	[NB_MULTIPLY] = offsetof(PyNumberMethods, nb_multiply),
	[NB_REMAINDER] = offsetof(PyNumberMethods, nb_remainder),
	[NB_OR] = offsetof(PyNumberMethods, nb_or),
	[NB_RSHIFT] = offsetof(PyNumberMethods, nb_rshift),
	[NB_SUBTRACT] = offsetof(PyNumberMethods, nb_subtract),
	[NB_TRUE_DIVIDE] = offsetof(PyNumberMethods, nb_true_divide),
	[NB_XOR] = offsetof(PyNumberMethods, nb_xor),
};

static binaryfunc number_slot(const PyTypeObject *type, uint32_t operation)
{
	if (!type->tp_as_number || operation >= sizeof(slots) / sizeof(slots[0]) ||
		(operation != NB_ADD && !slots[operation]))
		return NULL;
	return *(binaryfunc *)((char *)type->tp_as_number + slots[operation]);
}

/* The function for an operation without in-place form on builtin classes, the left one's
 * where it has one; for sequences, concatenation. */
static binaryfunc find_function(PyObject *a, PyObject *b, uint32_t operation)
{
	binaryfunc function = number_slot(Py_TYPE(a), operation);

	if (Py_TYPE(a) != Py_TYPE(b) && PyType_IsSubtype(Py_TYPE(b), Py_TYPE(a)))
		return NULL;
	/* An int leaves it to the float. */
	if (!function || (PyLong_CheckExact(a) && PyFloat_CheckExact(b)))
		function = number_slot(Py_TYPE(b), operation);
	if (function)
		return function;
	return operation == NB_ADD && Py_TYPE(a)->tp_as_sequence
		       ? Py_TYPE(a)->tp_as_sequence->sq_concat
		       : NULL;
}

static bool plan_binary(
	const struct cache *cache, PyObject *a, PyObject *b, struct cache_seed *seed)
{
	uint32_t operation = cache->oparg;
	binaryfunc function;

	seed->holes.a = operation << RUNTIME_OWNS_BITS | cache->owned;
	if (PyLong_CheckExact(a) && PyLong_CheckExact(b)) {
		seed->stencil = STENCIL_BINARY_INTEGERS;
		return true;
	}
	if (!is_builtin(Py_TYPE(a)) || !is_builtin(Py_TYPE(b)))
		return false;
	/* Numbers and strings, and more that cannot change, have no in-place form. */
	if (operation >= NB_INPLACE_ADD) {
		if (!PyFloat_CheckExact(a) && !PyLong_CheckExact(a) &&
			!PyUnicode_CheckExact(a) && !PyTuple_CheckExact(a))
			return false;
		operation -= NB_INPLACE_ADD;
	}
	if (PyUnicode_CheckExact(a) && PyUnicode_CheckExact(b) && operation == NB_ADD) {
		seed->stencil = STENCIL_BINARY_STRINGS;
		return true;
	}
	function = find_function(a, b, operation);
	seed->stencil = STENCIL_BINARY_FUNCTION;
	seed->holes.c = (uintptr_t)function;
	seed->holes.d = (uintptr_t)Py_TYPE(a);
	seed->holes.e = (uintptr_t)Py_TYPE(b);
	return function != NULL;
}

/* Objects that are compared without a look at others: no recursion to be counted. */
static bool is_flat(const PyTypeObject *type)
{
	return type == &PyUnicode_Type || type == &PyLong_Type || type == &PyFloat_Type ||
	       type == &PyBytes_Type;
}

static bool plan_compare(
	const struct cache *cache, PyObject *a, PyObject *b, struct cache_seed *seed)
{
	uint32_t operation = cache->oparg & ~(uint32_t)RUNTIME_WHEN;
	bool when = cache->oparg & RUNTIME_WHEN;
	bool jumps = cache->target_label;

	if (Py_TYPE(a) != Py_TYPE(b) || !is_flat(Py_TYPE(a)))
		return false;
	if (PyUnicode_CheckExact(a) && (operation == Py_EQ || operation == Py_NE)) {
		seed->stencil =
			jumps ? STENCIL_COMPARE_STRINGS_JUMP : STENCIL_COMPARE_STRINGS;
		seed->holes.b = (operation == Py_NE) ^ (jumps && !when);
		return true;
	}
	seed->stencil = jumps ? STENCIL_COMPARE_FUNCTION_JUMP : STENCIL_COMPARE_FUNCTION;
	seed->holes.b = (uintptr_t)(when ? Py_True : Py_False);
	seed->holes.c = (uintptr_t)Py_TYPE(a)->tp_richcompare;
	seed->holes.d = (uintptr_t)Py_TYPE(a);
	seed->holes.e = operation;
	return true;
}

bool operand_plan(
	const struct cache *cache, PyObject *a, PyObject *b, struct cache_seed *seed)
{
	*seed = (struct cache_seed){.holes = {.a = cache->owned}};
	switch ((enum cache_kind)cache->kind) {
	case CACHE_SUBSCRIPT: return plan_subscript(a, b, seed);
	case CACHE_STORE_SUBSCRIPT: return plan_store(a, seed);
	case CACHE_BINARY: return plan_binary(cache, a, b, seed);
	case CACHE_COMPARE: return plan_compare(cache, a, b, seed);
	default: return false;
	}
}

bool operator_plan(
	struct operator_plan *plan, const struct cache *cache, PyObject *a, PyObject *b)
{
	PyObject *method = runtime_operator_method(a, b, cache->oparg);

	*plan = (struct operator_plan){
		.left = Py_TYPE(a),
		.right = Py_TYPE(b),
		.what = cache->oparg << RUNTIME_OWNS_BITS | cache->owned,
	};
	return method && _PyType_HasFeature(Py_TYPE(a), Py_TPFLAGS_VALID_VERSION_TAG) &&
	       call_plan_method(&plan->call, (PyFunctionObject *)method, 2, cache->slot);
}

void operator_emit(struct emit *emit, const struct operator_plan *plan,
	const struct emit_holes *ends)
{
	const struct call_plan *call = &plan->call;
	struct emit_holes holes = {.f = ends->f, .exit = ends->exit};
	struct emit_holes inner = *ends;

	holes.b = (uintptr_t)call->function->func_code;
	holes.c = call->slot;
	holes.d = plan->left->tp_version_tag;
	holes.e = (uintptr_t)plan->right;
	holes.g = (uintptr_t)call->function;
	holes.patches = 1u << HOLES_HOLE_B;
	call_emit_room(emit, call, ends, STENCIL_CALL_ROOM_OPERANDS);
	emit_stencil(emit, STENCIL_OPERATOR_METHOD, &holes);
	inner.cont = 0;
	inner.error = emit_label(emit);
	call_emit_frame(emit, call, &inner);
	holes = *ends;
	holes.a = plan->what;
	holes.c = call->slot;
	emit_stencil(emit, STENCIL_OPERATOR_END, &holes);
	emit_cold(emit, true);
	emit_bind(emit, inner.error);
	emit_stencil(emit, STENCIL_OPERATOR_ERROR, &holes);
	emit_cold(emit, false);
}
