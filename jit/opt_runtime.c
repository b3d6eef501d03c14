/* Into the fragments of the optimising tier and out of them. */
#include "jit/opt_fragment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jit/codemem.h"
#include "jit/frame.h"
#include "jit/ir.h"
#include "jit/jit.h"
#include "jit/runtime.h"
#include "jit/symbols.h"

enum {
	MAX_TRIES = 8, /* compilations of one loop */
	/* Exits by failed assumptions that one fragment may have, and that one place. */
	MAX_FAILURES = 100,
	MAX_FAILURES_HERE = 12,
	MAX_MISSES = 1000,  /* refused entries in a row */
	RECURSION_LEFT = 8, /* calls that must be left for what is inlined */
	NEVER = INT32_MAX,
};

bool opt_owns(const PyObject *object)
{
	return object &&
	       (PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
		       PyUnicode_CheckExact(object) || PyBool_Check(object) ||
		       PyCFunction_CheckExact(object) ||
		       (PyType_Check(object) && !(((PyTypeObject *)object)->tp_flags &
							Py_TPFLAGS_HEAPTYPE)));
}

static long *int_slot(char *base, int slot)
{
	return (long *)(base + opt_slot_at(slot));
}

static PyObject *find_global(_PyInterpreterFrame *frame, uint32_t number)
{
	PyObject *name = PyTuple_GET_ITEM(frame->f_code->co_names, number);
	PyObject *object;

	if (!PyDict_CheckExact(frame->f_globals))
		return NULL;
	object = PyDict_GetItemWithError(frame->f_globals, name);
	if (!object && !PyErr_Occurred() && PyDict_CheckExact(frame->f_builtins))
		object = PyDict_GetItemWithError(frame->f_builtins, name);
	PyErr_Clear();
	return object;
}

/* Nothing that would notice being let go later than the interpreter does it. */
static bool is_plain(const PyObject *object)
{
	return !object || object == Py_None || PyLong_CheckExact(object) ||
	       PyFloat_CheckExact(object) || PyBool_Check(object) ||
	       PyUnicode_CheckExact(object);
}

static bool enter_number(PyObject *object, uint8_t kind, char *base, int slot)
{
	int overflow;
	long value;

	if (!object)
		return false;
	switch (kind) {
	case OPT_FLOAT:
		if (!PyFloat_CheckExact(object))
			return false;
		*(double *)(base + opt_slot_at(slot)) = PyFloat_AS_DOUBLE(object);
		return true;
	case OPT_BOOL:
		if (!PyBool_Check(object))
			return false;
		*int_slot(base, slot) = object == Py_True;
		return true;
	default:
		if (!PyLong_CheckExact(object))
			return false;
		value = PyLong_AsLongAndOverflow(object, &overflow);
		*int_slot(base, slot) = value;
		return !overflow;
	}
}

static bool is_met(const struct opt_need *need, _PyInterpreterFrame *frame, char *base)
{
	PyObject *object;

	switch (need->what) {
	case OPT_NEED_KIND:
		return enter_number(frame->localsplus[need->number], need->kind, base,
			(int)need->number);
	case OPT_NEED_ITERATOR:
		object = _PyFrame_Stackbase(frame)[need->number];
		return object && Py_IS_TYPE(object, (PyTypeObject *)need->object);
	case OPT_NEED_OBJECT: return frame->localsplus[need->number] == need->object;
	case OPT_NEED_GLOBAL: return find_global(frame, need->number) == need->object;
	case OPT_NEED_FUNCTION:
		return ((PyFunctionObject *)need->object)->func_version == need->number;
	case OPT_NEED_KEEP: return true;
	case OPT_NEED_PLAIN: return is_plain(frame->localsplus[need->number]);
	}
	return false;
}

/* Gives a fragment up; its code stays, because it may be running. */
static void give_up(struct opt_fragment *fragment)
{
	struct opt_loop *loop = fragment->loop;

	loop->native = NULL;
	loop->misses = 0;
	loop->turns = loop->tries < MAX_TRIES ? (int32_t)jit.tier2 * 4 : NEVER;
}

static bool is_stressed(void)
{
	if (!jit.stress_deopt || --runtime_stress > 0)
		return false;
	runtime_stress_again();
	return true;
}

int opt_enter(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct opt_fragment *fragment, char *base)
{
	if (thread->recursion_remaining < RECURSION_LEFT || thread->cframe->use_tracing)
		return 0;
	for (size_t i = 0; i < fragment->need_count; i++) {
		if (is_met(&fragment->needs[i], frame, base) && !is_stressed())
			continue;
		if (++fragment->loop->misses > MAX_MISSES)
			give_up(fragment);
		return 0;
	}
	fragment->loop->misses = 0;
	for (size_t i = 0; i < fragment->constant_count; i++)
		memcpy(base + opt_slot_at(fragment->constants[i].slot),
			&fragment->constants[i].bits, 8);
	for (size_t i = 0; i < fragment->flag_count; i++)
		*int_slot(base, fragment->flags[i]) = 0;
	jit.timers.loops_entered++;
	return 1;
}

static PyObject *box(const struct opt_value *value, char *base)
{
	PyObject *object;

	switch (value->kind) {
	case OPT_FLOAT:
		object = PyFloat_FromDouble(*(double *)(base + opt_slot_at(value->slot)));
		break;
	case OPT_BOOL:
		object = Py_NewRef(*int_slot(base, value->slot) ? Py_True : Py_False);
		break;
	default: object = PyLong_FromLong(*int_slot(base, value->slot)); break;
	}
	/* The frame cannot be rebuilt, so there is no state to raise in. */
	if (!object)
		Py_FatalError("out of memory where compiled code is left");
	return object;
}

/* Whether an object is the number in a slot, to the bit. */
static bool is_same(PyObject *object, const struct opt_value *value, const char *base)
{
	const char *at = base + opt_slot_at(value->slot);
	int overflow;
	long number;

	if (!object)
		return false;
	switch (value->kind) {
	case OPT_FLOAT:
		return PyFloat_CheckExact(object) &&
		       !memcmp(&((PyFloatObject *)object)->ob_fval, at, sizeof(double));
	case OPT_INT:
		if (!PyLong_CheckExact(object))
			return false;
		number = PyLong_AsLongAndOverflow(object, &overflow);
		return !overflow && !memcmp(&number, at, sizeof(number));
	default: return false;
	}
}

/* Locals that were assigned to each other hold one object, not two equal ones: `is` and a nan
 * in a list tell them apart. So does a local that still has the number it came with. `made`
 * has what the locals before this one get, or NULL. Owned; NULL: no such object. */
static PyObject *find_shared(_PyInterpreterFrame *frame, int local,
	const struct opt_value *values, PyObject *const *made, char *base)
{
	const struct opt_value *value = &values[local];

	if (is_same(frame->localsplus[local], value, base))
		return Py_NewRef(frame->localsplus[local]);
	for (int other = value->group; other >= 0; other = values[other].next) {
		if (other < local && made[other] && is_same(made[other], value, base))
			return Py_NewRef(made[other]);
		if (is_same(frame->localsplus[other], value, base))
			return Py_NewRef(frame->localsplus[other]);
	}
	return NULL;
}

/* What the locals get, or NULL where they stay as they are. */
static void make_locals(_PyInterpreterFrame *frame, int locals,
	const struct opt_value *values, PyObject **made, char *base)
{
	for (int i = 0; i < locals; i++) {
		made[i] = NULL;
		if (values[i].kind == OPT_FRAME ||
			(values[i].flag >= 0 && !*int_slot(base, values[i].flag)))
			continue;
		made[i] = find_shared(frame, i, values, made, base);
		if (!made[i])
			made[i] = box(&values[i], base);
	}
}

static void set_locals(_PyInterpreterFrame *frame, int locals, PyObject *const *made)
{
	for (int i = 0; i < locals; i++) {
		PyObject *old = frame->localsplus[i];

		if (!made[i])
			continue;
		frame->localsplus[i] = made[i];
		Py_XDECREF(old);
	}
}

/* The object of a local, old or new, that a number on the stack is; or NULL. Owned. */
static PyObject *find_origin(_PyInterpreterFrame *frame, const struct opt_value *value,
	const struct opt_value *values, PyObject *const *made, char *base)
{
	int local = value->group;

	if (local < 0)
		return NULL;
	if (is_same(frame->localsplus[local], value, base))
		return Py_NewRef(frame->localsplus[local]);
	if (is_same(made[local], value, base))
		return Py_NewRef(made[local]);
	for (local = values[local].group; local >= 0; local = values[local].next) {
		if (is_same(made[local], value, base))
			return Py_NewRef(made[local]);
		if (is_same(frame->localsplus[local], value, base))
			return Py_NewRef(frame->localsplus[local]);
	}
	return NULL;
}

static bool is_number(uint8_t kind)
{
	return kind == OPT_INT || kind == OPT_FLOAT || kind == OPT_BOOL;
}

static PyObject *rebuild_pair(PyObject **place, const struct opt_value *value, char *base)
{
	PyObject *first =
		value->slot >= 0 ? opt_box_int(*int_slot(base, value->slot)) : place[1];

	place[1] = NULL;
	return opt_pair(first, *place);
}

/* What is no number: those have been done. */
static void rebuild_entry(_PyInterpreterFrame *frame, PyObject **place,
	const struct opt_value *value, char *base)
{
	switch (value->kind) {
	case OPT_FRAME:
		if (value->borrowed)
			*place = Py_NewRef(frame->localsplus[value->slot]);
		return;
	case OPT_PAIR: *place = rebuild_pair(place, value, base); return;
	case OPT_NULL: *place = NULL; return;
	case OPT_CONST: *place = Py_NewRef(value->object); return;
	default: return; /* iterators are where they should be */
	}
}

/* The frame as the record has it. Numbers on the stack are looked for among the locals'
 * objects while these are still there. */
static void rebuild(_PyInterpreterFrame *frame, const struct opt_record *record,
	int locals, const struct opt_value *values, char *base)
{
	const struct opt_value *entries = values + locals;
	PyObject **bottom = _PyFrame_Stackbase(frame);
	PyObject *made[OPT_LOCALS];

	make_locals(frame, locals, values, made, base);
	for (int i = 0; i < record->depth; i++) {
		if (!is_number(entries[i].kind))
			continue;
		bottom[i] = find_origin(frame, &entries[i], values, made, base);
		if (!bottom[i])
			bottom[i] = box(&entries[i], base);
	}
	set_locals(frame, locals, made);
	for (int i = 0; i < record->depth; i++)
		rebuild_entry(frame, bottom + i, &entries[i], base);
}

/* An assumption failed. Where one does so too often the loop is compiled again without
 * it. */
static void fail(struct opt_fragment *fragment, struct opt_record *record)
{
	struct opt_loop *loop = fragment->loop;

	if (jit.stress_deopt || loop->native != fragment->start)
		return;
	fragment->failures++;
	if (++record->failures > MAX_FAILURES_HERE && loop->avoid_count < OPT_AVOID) {
		loop->avoid[loop->avoid_count++] = record->unit;
		give_up(fragment);
	} else if (fragment->failures > MAX_FAILURES) {
		give_up(fragment);
	}
}

/* The frame has the whole stack; the baseline's code wants some entries elsewhere. */
static void *absorb(_PyInterpreterFrame *frame, const struct compiled *compiled,
	const struct compiled_op *op, PyObject **top)
{
	const struct exit *exit = &compiled->exits[op->exit];
	const struct exit_entry *entry = &compiled->exit_entries[exit->entries];

	for (int i = 0; i < exit->entry_count; i++, entry++) {
		PyObject **place = frame_slot(frame, entry->slot);
		PyObject *object = *place;

		*place = NULL;
		if (entry->kind == EXIT_TOP) {
			*top = object;
		} else if (entry->kind == EXIT_LOCAL) {
			/* The local's slot may have what the next store puts there. */
			PyObject *old = frame->localsplus[entry->value];

			frame->localsplus[entry->value] = object;
			Py_XDECREF(old);
		} else {
			Py_XDECREF(object);
		}
	}
	return (void *)(uintptr_t)op->address;
}

void *opt_exit(PyThreadState *thread, _PyInterpreterFrame *frame,
	struct opt_fragment *fragment, uint32_t number, char *base)
{
	const struct opt_record *record = &fragment->records[number];
	const struct opt_value *value = &fragment->values[record->first];
	struct compiled *compiled = fragment->loop->compiled;
	int locals = compiled->code->co_nlocalsplus;

	rebuild(frame, record, locals, value, base);
	if (record->counts) {
		jit.timers.loops_failed++;
		fail(fragment, &fragment->records[number]);
	}
	/* Not through the head again: what failed there would fail again. */
	if (record->unit == fragment->loop->head)
		return fragment->loop->go_on;
	if (record->leader && compiled->entries[record->index])
		return (void *)(uintptr_t)compiled->entries[record->index];
	if (compiled->ops && compiled->ops[record->unit].address)
		return absorb(frame, compiled, &compiled->ops[record->unit],
			(PyObject **)(base + opt_slot_at(0)));
	frame->stacktop = locals + record->depth;
	frame->prev_instr = _PyCode_CODE(compiled->code) + record->index - 1;
	*(PyObject **)(base + opt_slot_at(0)) = frame_interpret(thread, frame);
	return NULL;
}

/* Compiles the loop for what the frame holds now. */
static void compile_loop(
	const struct ir *ir, int head, _PyInterpreterFrame *frame, struct opt_loop *loop)
{
	struct opt_fragment *fragment;

	loop->turns = NEVER;
	if (loop->native || loop->tries >= MAX_TRIES)
		return;
	loop->tries++;
	fragment = opt_compile(ir, head, frame, loop->compiled, loop);
	if (!fragment) {
		/* It may look better later: types that it has not met yet. */
		loop->tries++;
		loop->turns = loop->tries < MAX_TRIES
				      ? (int32_t)jit.tier2 << (2 * loop->tries)
				      : NEVER;
		return;
	}
	fragment->older = loop->fragment;
	loop->fragment = fragment;
	loop->native = fragment->start;
	jit.timers.loops_compiled++;
	jit.timers.code_bytes += fragment->size;
}

/* The last op that jumps back to a head. */
static int tail_of(const struct ir *ir, int head)
{
	int tail = head;

	for (int i = head; i < ir->op_count; i++) {
		if (ir->ops[i].target == head && ir->ops[i].flags & IR_BACKWARD)
			tail = i;
	}
	return tail;
}

/* Loops around the hot one first: the outermost that can be compiled saves most. */
static void compile_loops(_PyInterpreterFrame *frame, struct opt_loop *hot)
{
	struct compiled *compiled = hot->compiled;
	struct ir ir;
	const char *why;

	if (ir_build(&ir, compiled->code, &why) == 0) {
		int inner = ir.op_at[hot->head];

		for (uint32_t i = 0; i < compiled->loop_count; i++) {
			struct opt_loop *loop = &compiled->loops[i];
			int head = ir.op_at[loop->head];

			if (loop != hot && head < inner && tail_of(&ir, head) > inner)
				compile_loop(&ir, head, frame, loop);
		}
		compile_loop(&ir, inner, frame, hot);
	}
	ir_release(&ir);
}

void *opt_hot(PyThreadState *thread, _PyInterpreterFrame *frame, struct opt_loop *loop)
{
	uint64_t start = timers_now();
	PyObject *type, *value, *traceback;

	(void)thread;
	PyErr_Fetch(&type, &value, &traceback);
	loop->turns = NEVER;
	if (jit.tier2 > 0 && !jit.broken)
		compile_loops(frame, loop);
	PyErr_Restore(type, value, traceback);
	jit.timers.us_compiling += timers_now() - start;
	return loop->native ? loop->native : loop->go_on;
}

void opt_free(struct compiled *compiled)
{
	for (uint32_t i = 0; i < compiled->loop_count; i++) {
		struct opt_fragment *fragment = compiled->loops[i].fragment;

		while (fragment) {
			struct opt_fragment *older = fragment->older;

			opt_fragment_free(fragment);
			fragment = older;
		}
	}
	free(compiled->loops);
	compiled->loops = NULL;
	compiled->loop_count = 0;
}

/* Objects/rangeobject.c: what iter(range()) makes of longs. NULL without memory, and where
 * range() would raise or need more than longs; no exception is left. */
PyObject *opt_range_iterator(long start, long stop, long step)
{
	PyObject *range, *iterator = NULL;

	if (!step)
		return NULL;
	range = PyObject_CallFunction(
		(PyObject *)&PyRange_Type, "lll", start, stop, step);
	if (range) {
		iterator = PyObject_GetIter(range);
		Py_DECREF(range);
	}
	if (iterator && !Py_IS_TYPE(iterator, &PyRangeIter_Type))
		Py_CLEAR(iterator);
	if (!iterator)
		PyErr_Clear();
	return iterator;
}

/* Without a collection, which might run Python code. */
PyObject *opt_list_iterator(PyObject *list)
{
	int enabled = PyGC_Disable();
	PyObject *iterator = PyObject_GetIter(list);

	if (enabled)
		PyGC_Enable();
	if (!iterator)
		PyErr_Clear();
	return iterator;
}

void opt_work_drop(PyObject *object)
{
	if (Py_REFCNT(object) == 0)
		_Py_Dealloc(object);
	else
		Py_DECREF(object);
}

PyObject *opt_work_new_int(long value)
{
	PyObject *object = PyLong_FromLong(value);

	if (!object)
		PyErr_Clear();
	return object;
}

PyObject *opt_work_new_float(double value)
{
	PyObject *object = PyFloat_FromDouble(value);

	if (!object)
		PyErr_Clear();
	return object;
}

PyObject *opt_box_int(long value)
{
	PyObject *object = PyLong_FromLong(value);

	if (!object)
		Py_FatalError("out of memory where compiled code needs a number");
	return object;
}

PyObject *opt_box_float(double value)
{
	PyObject *object = PyFloat_FromDouble(value);

	if (!object)
		Py_FatalError("out of memory where compiled code needs a number");
	return object;
}

double opt_power(double a, double b)
{
	return pow(a, b);
}
