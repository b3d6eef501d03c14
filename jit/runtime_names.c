/* Instructions on names, cells, imports and attributes. */
#include "jit/errors.h"
#include "jit/runtime_stack.h"

/* An item of a namespace, owned. NULL without exception: it has none of that name. */
static PyObject *find_name(PyThreadState *thread, PyObject *space, PyObject *name)
{
	PyObject *value;

	if (PyDict_CheckExact(space))
		return Py_XNewRef(PyDict_GetItemWithError(space, name));
	value = PyObject_GetItem(space, name);
	if (!value && _PyErr_ExceptionMatches(thread, PyExc_KeyError))
		_PyErr_Clear(thread);
	return value;
}

static int store_name(PyObject *space, PyObject *name, PyObject *value)
{
	return PyDict_CheckExact(space) ? PyDict_SetItem(space, name, value)
					: PyObject_SetItem(space, name, value);
}

RUNTIME_OP(runtime_load_name)
{
	PyObject *name = runtime_name(frame, oparg);
	PyObject *value;

	if (!frame->f_locals) {
		_PyErr_Format(
			thread, PyExc_SystemError, "no locals when loading %R", name);
		return -1;
	}
	value = find_name(thread, frame->f_locals, name);
	if (!value && !_PyErr_Occurred(thread))
		value = Py_XNewRef(PyDict_GetItemWithError(frame->f_globals, name));
	if (!value && !_PyErr_Occurred(thread))
		value = find_name(thread, frame->f_builtins, name);
	if (!value && !_PyErr_Occurred(thread))
		errors_name(thread, name);
	*sp = value;
	return value ? 0 : -1;
}

RUNTIME_OP(runtime_store_name)
{
	PyObject *name = runtime_name(frame, oparg);
	PyObject *value = runtime_take(sp, 1);
	int result = -1;

	if (frame->f_locals)
		result = store_name(frame->f_locals, name, value);
	else
		_PyErr_Format(thread, PyExc_SystemError,
			"no locals found when storing %R", name);
	Py_DECREF(value);
	return result ? -1 : 0;
}

RUNTIME_OP(runtime_delete_name)
{
	PyObject *name = runtime_name(frame, oparg);

	if (!frame->f_locals) {
		_PyErr_Format(
			thread, PyExc_SystemError, "no locals when deleting %R", name);
		return -1;
	}
	if (!PyObject_DelItem(frame->f_locals, name))
		return 0;
	errors_name(thread, name);
	return -1;
}

RUNTIME_OP(runtime_store_global)
{
	PyObject *value = runtime_take(sp, 1);
	int result = PyDict_SetItem(frame->f_globals, runtime_name(frame, oparg), value);

	Py_DECREF(value);
	return result ? -1 : 0;
}

RUNTIME_OP(runtime_delete_global)
{
	PyObject *name = runtime_name(frame, oparg);

	if (!PyDict_DelItem(frame->f_globals, name))
		return 0;
	if (_PyErr_ExceptionMatches(thread, PyExc_KeyError))
		errors_name(thread, name);
	return -1;
}

RUNTIME_OP(runtime_load_classderef)
{
	PyObject *name = PyTuple_GET_ITEM(frame->f_code->co_localsplusnames, oparg);
	PyObject *value = find_name(thread, frame->f_locals, name);

	if (!value && !_PyErr_Occurred(thread)) {
		value = Py_XNewRef(PyCell_GET(frame->localsplus[oparg]));
		if (!value)
			errors_unbound_cell(thread, frame->f_code, oparg);
	}
	*sp = value;
	return value ? 0 : -1;
}

RUNTIME_OP(runtime_delete_deref)
{
	PyObject *cell = frame->localsplus[oparg];
	PyObject *old = PyCell_GET(cell);

	if (!old) {
		errors_unbound_cell(thread, frame->f_code, oparg);
		return -1;
	}
	PyCell_SET(cell, NULL);
	Py_DECREF(old);
	return 0;
}

RUNTIME_OP(runtime_make_cell)
{
	PyObject *initial = frame->localsplus[oparg];
	PyObject *cell = PyCell_New(initial);

	if (!cell)
		return -1;
	frame->localsplus[oparg] = cell;
	Py_XDECREF(initial);
	return 0;
}

RUNTIME_OP(runtime_copy_free_vars)
{
	PyCodeObject *code = frame->f_code;
	PyObject *closure = frame->f_func->func_closure;
	PyObject **to = frame->localsplus + code->co_nlocals + code->co_nplaincellvars;

	for (uint32_t i = 0; i < oparg; i++)
		to[i] = Py_NewRef(PyTuple_GET_ITEM(closure, i));
	return 0;
}

RUNTIME_OP(runtime_setup_annotations)
{
	PyObject *name = &_Py_ID(__annotations__);
	PyObject *annotations;
	int result;

	if (!frame->f_locals) {
		_PyErr_Format(thread, PyExc_SystemError,
			"no locals found when setting up annotations");
		return -1;
	}
	annotations = find_name(thread, frame->f_locals, name);
	if (annotations) {
		Py_DECREF(annotations);
		return 0;
	}
	if (_PyErr_Occurred(thread))
		return -1;
	annotations = PyDict_New();
	if (!annotations)
		return -1;
	result = store_name(frame->f_locals, name, annotations);
	Py_DECREF(annotations);
	return result ? -1 : 0;
}

RUNTIME_OP(runtime_load_build_class)
{
	PyObject *value = find_name(thread, frame->f_builtins, &_Py_ID(__build_class__));

	if (!value && !_PyErr_Occurred(thread))
		_PyErr_SetString(thread, PyExc_NameError, "__build_class__ not found");
	*sp = value;
	return value ? 0 : -1;
}

RUNTIME_OP(runtime_load_assertion)
{
	*sp = Py_NewRef(PyExc_AssertionError);
	return 0;
}

RUNTIME_OP(runtime_delete_subscript)
{
	PyObject *key = runtime_take(sp, 1);
	PyObject *container = runtime_take(sp, 2);
	int result = PyObject_DelItem(container, key);

	Py_DECREF(container);
	Py_DECREF(key);
	return result ? -1 : 0;
}

RUNTIME_OP(runtime_delete_attribute)
{
	PyObject *owner = runtime_take(sp, 1);
	int result = PyObject_SetAttr(owner, runtime_name(frame, oparg), NULL);

	Py_DECREF(owner);
	return result ? -1 : 0;
}

static PyObject *import_name(PyThreadState *thread, _PyInterpreterFrame *frame,
	PyObject *name, PyObject *list, PyObject *level)
{
	PyObject *locals = frame->f_locals ? frame->f_locals : Py_None;
	PyObject *function =
		_PyDict_GetItemWithError(frame->f_builtins, &_Py_ID(__import__));
	PyObject *arguments[] = {name, frame->f_globals, locals, list, level};
	PyObject *module;

	if (!function) {
		if (!_PyErr_Occurred(thread))
			_PyErr_SetString(
				thread, PyExc_ImportError, "__import__ not found");
		return NULL;
	}
	if (function == thread->interp->import_func) {
		int number = _PyLong_AsInt(level);

		if (number == -1 && _PyErr_Occurred(thread))
			return NULL;
		return PyImport_ImportModuleLevelObject(
			name, frame->f_globals, locals, list, number);
	}
	Py_INCREF(function);
	module = PyObject_Vectorcall(function, arguments, 5, NULL);
	Py_DECREF(function);
	return module;
}

RUNTIME_OP(runtime_import_name)
{
	PyObject *list = runtime_take(sp, 1);
	PyObject *level = runtime_take(sp, 2);
	PyObject *module =
		import_name(thread, frame, runtime_name(frame, oparg), list, level);

	Py_DECREF(level);
	Py_DECREF(list);
	sp[-2] = module;
	return module ? 0 : -1;
}

static void import_from_failed(
	PyThreadState *thread, PyObject *module, PyObject *name, PyObject *package)
{
	PyObject *known =
		package ? package : PyUnicode_FromString("<unknown module name>");
	PyObject *path = PyModule_GetFilenameObject(module);
	PyObject *message;
	PyObject *spec;

	if (!package && !known) {
		Py_XDECREF(path);
		return;
	}
	if (!path || !PyUnicode_Check(path)) {
		_PyErr_Clear(thread);
		message = PyUnicode_FromFormat(
			"cannot import name %R from %R (unknown location)", name, known);
		PyErr_SetImportError(message, package, NULL);
	} else {
		spec = PyObject_GetAttr(module, &_Py_ID(__spec__));
		message = PyUnicode_FromFormat(
			_PyModuleSpec_IsInitializing(spec)
				? "cannot import name %R from partially initialized "
				  "module "
				  "%R (most likely due to a circular import) (%S)"
				: "cannot import name %R from %R (%S)",
			name, known, path);
		Py_XDECREF(spec);
		PyErr_SetImportError(message, package, path);
	}
	Py_XDECREF(message);
	if (!package)
		Py_DECREF(known);
	Py_XDECREF(path);
}

static PyObject *import_from(PyThreadState *thread, PyObject *module, PyObject *name)
{
	PyObject *value;
	PyObject *package;
	PyObject *full;

	if (_PyObject_LookupAttr(module, name, &value))
		return value;
	/* Circular imports: the module may be in sys.modules and not yet in its package.
	 */
	package = PyObject_GetAttr(module, &_Py_ID(__name__));
	if (package && !PyUnicode_Check(package))
		Py_CLEAR(package);
	if (package) {
		full = PyUnicode_FromFormat("%U.%U", package, name);
		value = full ? PyImport_GetModule(full) : NULL;
		Py_XDECREF(full);
		if (value || _PyErr_Occurred(thread)) {
			Py_DECREF(package);
			return value;
		}
	}
	import_from_failed(thread, module, name, package);
	Py_XDECREF(package);
	return NULL;
}

RUNTIME_OP(runtime_import_from)
{
	*sp = import_from(thread, sp[-1], runtime_name(frame, oparg));
	return *sp ? 0 : -1;
}

/* Names that `import *` takes: __all__, or all of the dictionary. Owned. */
static PyObject *star_names(PyThreadState *thread, PyObject *module, bool *all)
{
	PyObject *names;
	PyObject *space;

	*all = false;
	if (_PyObject_LookupAttr(module, &_Py_ID(__all__), &names) < 0 || names)
		return names;
	*all = true;
	if (_PyObject_LookupAttr(module, &_Py_ID(__dict__), &space) < 0)
		return NULL;
	if (!space) {
		_PyErr_SetString(thread, PyExc_ImportError,
			"from-import-* object has no __dict__ and no __all__");
		return NULL;
	}
	names = PyMapping_Keys(space);
	Py_DECREF(space);
	return names;
}

static void star_name_no_string(
	PyThreadState *thread, PyObject *module, PyObject *name, bool all)
{
	PyObject *package = PyObject_GetAttr(module, &_Py_ID(__name__));

	if (!package)
		return;
	if (!PyUnicode_Check(package))
		_PyErr_Format(thread, PyExc_TypeError,
			"module __name__ must be a string, not %.100s",
			Py_TYPE(package)->tp_name);
	else
		_PyErr_Format(thread, PyExc_TypeError,
			"%s in %U.%s must be str, not %.100s", all ? "Key" : "Item",
			package, all ? "__dict__" : "__all__", Py_TYPE(name)->tp_name);
	Py_DECREF(package);
}

static int import_one(PyThreadState *thread, PyObject *locals, PyObject *module,
	PyObject *name, bool all)
{
	PyObject *value;
	int result;

	if (!PyUnicode_Check(name)) {
		star_name_no_string(thread, module, name, all);
		return -1;
	}
	if (all && PyUnicode_READY(name))
		return -1;
	if (all && PyUnicode_GET_LENGTH(name) && PyUnicode_READ_CHAR(name, 0) == '_')
		return 0;
	value = PyObject_GetAttr(module, name);
	result = value ? store_name(locals, name, value) : -1;
	Py_XDECREF(value);
	return result;
}

static int import_all(PyThreadState *thread, PyObject *locals, PyObject *module)
{
	bool all;
	PyObject *names = star_names(thread, module, &all);
	int result = 0;

	if (!names)
		return -1;
	for (Py_ssize_t i = 0; !result; i++) {
		PyObject *name = PySequence_GetItem(names, i);

		if (!name) {
			if (_PyErr_ExceptionMatches(thread, PyExc_IndexError))
				_PyErr_Clear(thread);
			else
				result = -1;
			break;
		}
		result = import_one(thread, locals, module, name, all);
		Py_DECREF(name);
	}
	Py_DECREF(names);
	return result;
}

RUNTIME_OP(runtime_import_star)
{
	PyObject *module = runtime_take(sp, 1);
	int result = _PyFrame_FastToLocalsWithError(frame);

	if (result >= 0 && !frame->f_locals) {
		_PyErr_SetString(
			thread, PyExc_SystemError, "no locals found during 'import *'");
		result = -1;
	}
	if (result >= 0) {
		result = import_all(thread, frame->f_locals, module);
		_PyFrame_LocalsToFast(frame, 0);
	}
	Py_DECREF(module);
	return result ? -1 : 0;
}
