/* Assertions of --check-stack: what compiled code has on the stack at each instruction. */
#include "jit/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "jit/frame.h"
#include "jit/ir.h"

/* No canonical address, so that whoever follows it faults. */
#define POISON ((PyObject *)0x5aaaaaaaaaaaaaaa)

void check_failed(PyCodeObject *code, uint32_t index, const char *what)
{
	fprintf(stderr, "jit: stack check failed in '%s' (%s:%d) at instruction %u: %s\n",
		PyUnicode_AsUTF8(code->co_qualname), PyUnicode_AsUTF8(code->co_filename),
		PyCode_Addr2Line(code, (int)(index * sizeof(_Py_CODEUNIT))), index, what);
	abort();
}

/* By Python's own table, which is its compiler's. */
static void check_way(uint8_t opcode, uint32_t oparg, bool jumps)
{
	int expected = PyCompile_OpcodeStackEffectWithJump(opcode, (int)oparg, jumps);

	/* Python's compiler takes the arguments off at PRECALL, the interpreter at CALL. */
	if (opcode == PRECALL)
		return;
	/* What is sent first, which the compiler does not count. */
	if (opcode == RETURN_GENERATOR)
		expected++;
	if (opcode == CALL)
		expected += PyCompile_OpcodeStackEffect(PRECALL, (int)oparg);
	if (expected == PY_INVALID_STACK_EFFECT ||
		expected == ir_stack_effect(opcode, oparg, jumps))
		return;
	fprintf(stderr, "jit: %s %u %s: stack effect %d, not Python's %d\n",
		ir_opcode_name(opcode), oparg, jumps ? "jumping" : "going on",
		ir_stack_effect(opcode, oparg, jumps), expected);
	abort();
}

void check_effect(uint8_t opcode, uint32_t oparg)
{
	if (!ir_ends(opcode))
		check_way(opcode, oparg, false);
	if (ir_jump_target(opcode, oparg, 0) != IR_NONE)
		check_way(opcode, oparg, true);
}

/* Alive, as far as that can be seen. */
static bool is_object(const PyObject *object)
{
	return object && object != POISON && ((uintptr_t)object & 7) == 0 &&
	       object->ob_refcnt > 0 && object->ob_type &&
	       Py_TYPE(object->ob_type)->tp_flags & Py_TPFLAGS_TYPE_SUBCLASS;
}

static void check_entry(_PyInterpreterFrame *frame, const struct compiled *compiled,
	const struct exit *exit, const struct exit_entry *entry, PyObject *top)
{
	PyCodeObject *code = compiled->code;

	switch ((enum exit_kind)entry->kind) {
	case EXIT_LOCAL:
		if (!is_object(frame->localsplus[entry->value]))
			check_failed(code, exit->index, "no object in a local");
		return;
	case EXIT_TOP:
		if (!is_object(top))
			check_failed(code, exit->index, "no object on top");
		return;
	case EXIT_CONST:
		if (entry->value >= (uint32_t)PyTuple_GET_SIZE(code->co_consts))
			check_failed(code, exit->index, "no such constant");
		return;
	case EXIT_NULL: return;
	}
	check_failed(code, exit->index, "an entry of no kind");
}

void check_stack(PyThreadState *thread, _PyInterpreterFrame *frame,
	const struct compiled *compiled, uint32_t number, PyObject *top)
{
	const struct exit *exit = &compiled->exits[number];
	const struct exit_entry *entry = compiled->exit_entries + exit->entries;
	const struct exit_entry *last = entry + exit->entry_count;
	PyObject **stack = frame_slot(frame, 0);

	if (thread != _PyThreadState_GET() || thread->cframe->current_frame != frame ||
		frame->f_code != compiled->code)
		check_failed(compiled->code, exit->index, "another frame is running");
	if (exit->depth > compiled->code->co_stacksize)
		check_failed(compiled->code, exit->index, "deeper than the frame");
	for (int i = 0; i < exit->depth; i++) {
		if (entry < last && entry->slot == i)
			check_entry(frame, compiled, exit, entry++, top);
		else if (stack[i] && !is_object(stack[i]))
			check_failed(compiled->code, exit->index, "no object in a slot");
	}
	for (int i = exit->depth; i < compiled->code->co_stacksize; i++)
		stack[i] = POISON;
}
