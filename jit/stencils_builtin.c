/* Stencils of calls of C functions, without what PyObject_Vectorcall() has to find out. A
 * stub is strung together: the callable, the work, the entries dropped one by one.
 *
 * The entries of the call start at A. EXIT is for any other callable, and where the
 * recursion limit is near: nothing has changed then. C is the C function, D what the
 * callable is told by. */
#include "jit/stencils.h"

#define GUARD(condition) GUARD_OR(condition, EXIT())

/* A builtin function; its self goes on. */
void op_BUILTIN_FUNCTION(void)
{
	PyObject **base = SLOT_AT(HOLE_A);
	PyCFunctionObject *callable = (PyCFunctionObject *)base[1];

	GUARD(base[0] == NULL);
	GUARD(Py_TYPE(callable) == &PyCFunction_Type);
	GUARD(callable->m_ml == (PyMethodDef *)HOLE64(HOLE_D));
	GUARD(thread->recursion_remaining > 1);
	cont1(callable->m_self);
}

/* A method of a builtin class, on an instance of that class itself. */
void op_BUILTIN_METHOD(void)
{
	PyObject **base = SLOT_AT(HOLE_A);
	PyMethodDescrObject *callable = (PyMethodDescrObject *)base[0];

	GUARD(callable != NULL);
	GUARD(Py_TYPE(callable) == &PyMethodDescr_Type);
	GUARD(callable->d_method == (PyMethodDef *)HOLE64(HOLE_D));
	GUARD(Py_TYPE(base[1]) == callable->d_common.d_type);
	GUARD(thread->recursion_remaining > 1);
	cont1(base[1]);
}

/* A builtin class. */
void op_BUILTIN_CLASS(void)
{
	PyObject **base = SLOT_AT(HOLE_A);

	GUARD(base[0] == NULL);
	GUARD(base[1] == HOLE_OBJECT(HOLE_D));
	cont1(base[1]);
}

/* The work; the result may be NULL, and goes on top. C functions without fast calling
 * convention count for the recursion limit. */
void op_BUILTIN_NONE(PyObject *self)
{
	SET_INSTRUCTION();
	thread->recursion_remaining--;
	top = ((PyCFunction)HOLE64(HOLE_C))(self, NULL);
	thread->recursion_remaining++;
	CONT();
}

void op_BUILTIN_ONE(PyObject *self)
{
	SET_INSTRUCTION();
	thread->recursion_remaining--;
	top = ((PyCFunction)HOLE64(HOLE_C))(self, SLOT_AT(HOLE_A)[2]);
	thread->recursion_remaining++;
	CONT();
}

/* B is the number of arguments by place, E the names of the others. */
void op_BUILTIN_FAST(PyObject *self)
{
	SET_INSTRUCTION();
	top = ((_PyCFunctionFast)HOLE64(HOLE_C))(
		self, SLOT_AT(HOLE_A) + 2, HOLE_INT(HOLE_B));
	CONT();
}

void op_BUILTIN_NAMED(PyObject *self)
{
	SET_INSTRUCTION();
	top = ((_PyCFunctionFastWithKeywords)HOLE64(HOLE_C))(
		self, SLOT_AT(HOLE_A) + 2, HOLE_INT(HOLE_B), HOLE_OBJECT(HOLE_E));
	CONT();
}

/* Any callable, with arguments from the entry behind the one at A on; B as
 * PyObject_Vectorcall() has it. */
void op_BUILTIN_VECTOR(PyObject *self)
{
	PyObject **callable = SLOT_AT(HOLE_A);

	(void)self;
	SET_INSTRUCTION();
	top = runtime_vectorcall(
		*callable, callable + 1, HOLE64(HOLE_B), HOLE_OBJECT(HOLE_E));
	CONT();
}

/* len() of what has its length at hand. */
void op_BUILTIN_LENGTH(PyObject *self)
{
	PyObject *object = SLOT_AT(HOLE_A)[2];

	(void)self;
	if (LIKELY(Py_TYPE(object) == &PyList_Type || Py_TYPE(object) == &PyTuple_Type)) {
		top = runtime_new_int(Py_SIZE(object));
	} else if (Py_TYPE(object) == &PyUnicode_Type) {
		top = runtime_new_int(((PyASCIIObject *)object)->length);
	} else {
		SET_INSTRUCTION();
		top = runtime_length(object);
	}
	CONT();
}

/* list.append() where there is room. */
void op_BUILTIN_APPEND(PyObject *self)
{
	PyListObject *list = (PyListObject *)self;
	Py_ssize_t size = Py_SIZE(list);
	PyObject *value = SLOT_AT(HOLE_A)[2];

	Py_INCREF(value);
	if (LIKELY(size < list->allocated)) {
		PyList_SET_ITEM(list, size, value);
		Py_SET_SIZE(list, size + 1);
		top = Py_NewRef(Py_None);
	} else {
		SET_INSTRUCTION();
		top = runtime_append(list, value);
	}
	CONT();
}

/* isinstance() of an instance of the very class. */
void op_BUILTIN_INSTANCE(PyObject *self)
{
	PyObject **base = SLOT_AT(HOLE_A);

	(void)self;
	if (LIKELY(Py_TYPE(base[2]) == (PyTypeObject *)base[3])) {
		top = Py_NewRef(Py_True);
	} else {
		SET_INSTRUCTION();
		top = runtime_is_instance(base[2], base[3]);
	}
	CONT();
}

/* An entry of the call goes. */
void op_BUILTIN_DROP(void)
{
	RELEASE(SLOT(HOLE_A));
	CONT();
}

void op_BUILTIN_END(void)
{
	CONT_UNLESS_ERROR(top);
}
