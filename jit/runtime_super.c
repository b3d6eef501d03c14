/* super() without arguments whose attribute is called at once: super_getattro() and what
 * super() itself finds out (Objects/typeobject.c), without the object between. */
#include "jit/runtime.h"

/* What super() would begin at: the class behind which the search starts, the object, and
 * the class whose order of resolution counts. */
struct super {
	PyTypeObject *type;
	PyObject *object;
	PyTypeObject *start;
};

/* False: something that super() itself should see to. */
static bool find_super(_PyInterpreterFrame *frame, uint32_t local, struct super *super)
{
	PyObject *cell = frame->localsplus[local];

	super->object = frame->localsplus[0];
	if (!cell || !PyCell_Check(cell) || !PyCell_GET(cell) ||
		!PyType_Check(PyCell_GET(cell)) || !super->object ||
		super->object == Py_None)
		return false;
	super->type = (PyTypeObject *)PyCell_GET(cell);
	if (PyType_Check(super->object) &&
		PyType_IsSubtype((PyTypeObject *)super->object, super->type))
		super->start = (PyTypeObject *)super->object;
	else
		super->start = Py_TYPE(super->object);
	return PyType_IsSubtype(super->start, super->type) && super->start->tp_mro;
}

/* What stands in the first class behind that has it, borrowed, or NULL. */
static PyObject *find_value(const struct super *super, PyObject *name)
{
	PyObject *mro = super->start->tp_mro;
	Py_ssize_t count = PyTuple_GET_SIZE(mro);
	Py_ssize_t i = 0;

	while (i < count && PyTuple_GET_ITEM(mro, i) != (PyObject *)super->type)
		i++;
	for (i++; i < count; i++) {
		PyObject *dict = ((PyTypeObject *)PyTuple_GET_ITEM(mro, i))->tp_dict;
		PyObject *value = PyDict_GetItemWithError(dict, name);

		if (value || PyErr_Occurred())
			return value;
	}
	return NULL;
}

/* By way of an object of super(), or whatever the name stands for. */
static int load_plain(PyThreadState *thread, _PyInterpreterFrame *frame, PyObject **base,
	PyObject *name)
{
	PyObject *super = runtime_call(thread, frame, base, 0, NULL);

	if (!super)
		return -1;
	/* The next instruction loads. */
	frame->prev_instr += 1 + _PyOpcode_Caches[CALL];
	return runtime_load_method(super, name, base, RUNTIME_OWNS_A) < 0 ? 1 : 0;
}

int runtime_super_method(PyThreadState *thread, _PyInterpreterFrame *frame,
	PyObject **base, PyObject *name, uint32_t local)
{
	struct super super;
	PyObject *value;
	descrgetfunc get;

	if (base[0] || base[1] != (PyObject *)&PySuper_Type ||
		name == &_Py_ID(__class__) || !find_super(frame, local, &super))
		return load_plain(thread, frame, base, name);
	value = find_value(&super, name);
	if (!value) {
		PyErr_Clear();
		return load_plain(thread, frame, base, name);
	}
	Py_DECREF(base[1]);
	Py_INCREF(value);
	if (super.object != (PyObject *)super.start &&
		_PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_METHOD_DESCRIPTOR)) {
		base[0] = value;
		base[1] = Py_NewRef(super.object);
		return 0;
	}
	get = Py_TYPE(value)->tp_descr_get;
	base[1] = value;
	if (!get)
		return 0;
	frame->prev_instr += 1 + _PyOpcode_Caches[CALL];
	base[1] =
		get(value, super.object == (PyObject *)super.start ? NULL : super.object,
			(PyObject *)super.start);
	Py_DECREF(value);
	return base[1] ? 0 : 1;
}
