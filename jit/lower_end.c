/* Lowering by the baseline: where a frame begins and how it is left. */
#include "jit/lower_ops.h"

#include "jit/except.h"
#include "jit/jit.h"

/* `mov %rdi, %rax; leave; ret` */
static void leave(struct lower *lower)
{
	static const uint8_t bytes[] = {0x48, 0x89, 0xf8, 0xc9, 0xc3};

	emit_bytes(lower->emit, bytes, sizeof(bytes));
	lower->dead = true;
}

enum { DROP_ONE_BY_ONE = 10 }; /* locals; more are dropped by a C function */

void lower_return_value(struct lower *lower)
{
	uint32_t locals = (uint32_t)lower->ir->code->co_nlocalsplus;
	int over = emit_label(lower->emit);
	int other = emit_label(lower->emit);

	lower_take_owned(lower);
	lower_stencil(lower, STENCIL_RETURN, (struct emit_holes){.target = other});
	if (locals > DROP_ONE_BY_ONE) {
		lower_stencil(
			lower, STENCIL_RETURN_DROP_ALL, (struct emit_holes){.a = locals});
	} else {
		for (uint32_t i = 0; i < locals; i++)
			lower_stencil(lower, STENCIL_RETURN_DROP,
				(struct emit_holes){.a = lower_local_at(i)});
	}
	lower_stencil(lower, STENCIL_RETURN_END, (struct emit_holes){0});
	emit_bind(lower->emit, over);
	leave(lower);
	emit_cold(lower->emit, true);
	emit_bind(lower->emit, other);
	lower_stencil(lower, STENCIL_RETURN_OTHER,
		(struct emit_holes){.a = locals, .cont = over});
	emit_cold(lower->emit, false);
}

void lower_yield_value(struct lower *lower)
{
	lower_take_owned(lower);
	lower_stencil(lower, STENCIL_YIELD,
		(struct emit_holes){
			.a = (uint64_t)(lower->ir->code->co_nlocalsplus + lower->depth)});
	leave(lower);
}

void lower_return_generator(struct lower *lower)
{
	lower_flush(lower, 0);
	lower_stencil(lower, STENCIL_GENERIC_LEAVE,
		(struct emit_holes){
			.a = lower_slot_at(lower, lower->depth),
			.callee = lower_function(
				lower, (const void *)(uintptr_t)runtime_return_generator),
			.error = lower_error(lower),
		});
	leave(lower);
}

/* Instructions that raise: 1 means that the exception has its traceback already. */
static void lower_raise(struct lower *lower, bool ends)
{
	lower_flush(lower, 0);
	lower_call_helper(lower, STENCIL_GENERIC_JUMP,
		runtime_find(lower_op(lower)->opcode), lower_reraise(lower));
	if (ends)
		lower->dead = true;
	else
		lower_set_depth(lower, lower->depth - 2);
}

/* Code with a loop is compiled before it is quickened; other code that is compiled after
 * CPython's QUICKENING_WARMUP_DELAY was quickened by the interpreter. */
static void count_calls(struct lower *lower)
{
	if (lower->ir->has_loop || jit.threshold <= EXCEPT_WARM)
		lower_stencil(lower, STENCIL_COUNT_BLOCK,
			(struct emit_holes){
				.a = 1, .b = (uintptr_t)&lower->compiled->calls});
}

void lower_resume(struct lower *lower)
{
	count_calls(lower);
	if (lower_op(lower)->oparg < 2)
		lower_poll(lower, lower->number + 1);
	else
		lower_stencil(lower, STENCIL_POLL_TRACING,
			(struct emit_holes){
				.deopt = lower_deopt(lower, lower->number + 1)});
}

void lower_reraise_op(struct lower *lower)
{
	lower_raise(lower, true);
}

void lower_end_async_for(struct lower *lower)
{
	lower_raise(lower, false);
}
