/* Binary operators whose left operand's class defines them in Python: straight into the
 * method, past the slots of Objects/typeobject.c. */
#include "jit/runtime_operator.h"

#include <stddef.h>

#include "jit/runtime.h"

/* What the slots of an operator are, its method's name and its sign. */
struct operation {
	size_t slot;	 /* in PyNumberMethods */
	size_t in_place; /* the slot tried first, or 0 */
	PyObject *name;
	const char *sign;
};

#define SLOT_OF(name) offsetof(PyNumberMethods, name)

static bool describe(uint32_t operation, struct operation *what)
{
	switch (operation) {
	case NB_ADD:
		*what = (struct operation){SLOT_OF(nb_add), 0, &_Py_ID(__add__), "+"};
		return true;
	case NB_SUBTRACT:
		*what = (struct operation){
			SLOT_OF(nb_subtract), 0, &_Py_ID(__sub__), "-"};
		return true;
	case NB_MULTIPLY:
		*what = (struct operation){
			SLOT_OF(nb_multiply), 0, &_Py_ID(__mul__), "*"};
		return true;
	case NB_INPLACE_ADD:
		*what = (struct operation){
			SLOT_OF(nb_add), SLOT_OF(nb_inplace_add), &_Py_ID(__add__), "+="};
		return true;
	case NB_INPLACE_SUBTRACT:
		*what = (struct operation){SLOT_OF(nb_subtract),
			SLOT_OF(nb_inplace_subtract), &_Py_ID(__sub__), "-="};
		return true;
	case NB_INPLACE_MULTIPLY:
		*what = (struct operation){SLOT_OF(nb_multiply),
			SLOT_OF(nb_inplace_multiply), &_Py_ID(__mul__), "*="};
		return true;
	default: return false;
	}
}

static binaryfunc slot_of(PyTypeObject *type, size_t slot)
{
	return type->tp_as_number ? *(binaryfunc *)((char *)type->tp_as_number + slot)
				  : NULL;
}

/* Whether the right operand has no say before or instead of the left one: it is of the
 * same class, or a number. */
static bool is_plain_right(PyObject *a, PyObject *b)
{
	return Py_TYPE(a) == Py_TYPE(b) || PyFloat_CheckExact(b) || PyLong_CheckExact(b);
}

/* The method did not know what to do: the number's own operation has its turn, and then
 * the error is that of PyNumber_Add() and its kin. */
static PyObject *not_implemented(
	PyObject *a, PyObject *b, const struct operation *what, PyObject *result)
{
	binaryfunc other = slot_of(Py_TYPE(b), what->slot);

	if (Py_TYPE(a) != Py_TYPE(b) && other) {
		Py_DECREF(result);
		result = other(a, b);
		if (result != Py_NotImplemented)
			return result;
	}
	Py_DECREF(result);
	PyErr_Format(PyExc_TypeError,
		"unsupported operand type(s) for %.100s: '%.100s' and '%.100s'",
		what->sign, Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name);
	return NULL;
}

static PyObject *find_method(PyObject *a, const struct operation *what)
{
	PyTypeObject *type = Py_TYPE(a);
	PyObject *method;

	if ((what->in_place && slot_of(type, what->in_place)) ||
		type->tp_as_sequence->sq_concat || type->tp_as_sequence->sq_repeat ||
		type->tp_as_sequence->sq_inplace_concat)
		return NULL;
	method = _PyType_Lookup(type, what->name);
	return method && Py_IS_TYPE(method, &PyFunction_Type) ? method : NULL;
}

PyObject *runtime_operator_method(PyObject *a, PyObject *b, uint32_t operation)
{
	PyTypeObject *type = Py_TYPE(a);
	struct operation what;

	if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || type->tp_as_sequence == NULL ||
		!is_plain_right(a, b) || !describe(operation, &what))
		return NULL;
	return find_method(a, &what);
}

bool runtime_operator(PyObject *a, PyObject *b, uint32_t operation, PyObject **result)
{
	PyObject *method = runtime_operator_method(a, b, operation);
	struct operation what;

	if (!method)
		return false;
	describe(operation, &what);
	*result = runtime_call_two(_PyThreadState_GET(), method, a, b);
	if (*result == Py_NotImplemented)
		*result = not_implemented(a, b, &what, *result);
	return true;
}

PyObject *runtime_operator_end(PyObject *result, PyObject **at, uint32_t owned)
{
	PyObject *a = at[0];
	PyObject *b = at[1];
	struct operation what;

	if (result == Py_NotImplemented) {
		describe(owned >> RUNTIME_OWNS_BITS, &what);
		result = not_implemented(a, b, &what, result);
	}
	if (owned & RUNTIME_OWNS_A)
		Py_DECREF(a);
	if (owned & RUNTIME_OWNS_B)
		Py_DECREF(b);
	return result;
}
