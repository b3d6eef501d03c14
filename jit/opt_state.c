/* The state of locals and stack while a loop is compiled, and the exits that record it. */
#include "jit/opt_state.h"

#include <stdlib.h>
#include <string.h>

#include "jit/jit.h"

static uint64_t at(int slot)
{
	return (uint64_t)(int64_t)opt_slot_at(slot);
}

static uint64_t local_at(int local)
{
	return offsetof(_PyInterpreterFrame, localsplus) +
	       (uint64_t)local * sizeof(PyObject *);
}

bool opt_refuse(struct opt *opt, const char *why)
{
	if (!opt->refusal)
		opt->refusal = why;
	return false;
}

bool opt_is_number(const struct opt_item *item)
{
	return item->kind == OPT_INT || item->kind == OPT_FLOAT || item->kind == OPT_BOOL;
}

void opt_stencil(struct opt *opt, enum stencils id, struct emit_holes holes)
{
	if (!opt->emitting)
		return;
	/* Every guard fails in turn, and so does every instruction (opt_compile.c). */
	if (jit.stress_deopt && holes.deopt && id != STENCIL_STRESS)
		emit_stencil(&opt->emit, STENCIL_STRESS,
			&(struct emit_holes){.deopt = holes.deopt});
	emit_stencil(&opt->emit, id, &holes);
}

int opt_new_slot(struct opt *opt)
{
	if (opt->slots >= OPT_SLOTS - opt->constants) {
		opt_refuse(opt, "too many values");
		return 0;
	}
	return opt->slots++;
}

/* Locals come first, then the stack. */
int opt_stack_slot(const struct opt *opt, int depth)
{
	return opt->compiled->code->co_nlocalsplus + depth;
}

uint64_t opt_frame_at(const struct opt *opt, int depth)
{
	return local_at(opt->compiled->code->co_nlocalsplus + depth);
}

static bool grow(struct opt *opt, void *array, size_t *room, size_t count, size_t size)
{
	size_t wanted = *room ? *room * 2 : 16;
	void *memory, *grown;

	if (count < *room)
		return true;
	memcpy(&memory, array, sizeof(memory));
	grown = reallocarray(memory, wanted, size);
	if (!grown)
		return opt_refuse(opt, "out of memory");
	memcpy(array, &grown, sizeof(grown));
	*room = wanted;
	return true;
}

static int constant(struct opt *opt, uint64_t bits)
{
	struct opt_fragment *f = opt->fragment;

	for (size_t i = 0; i < f->constant_count; i++) {
		if (f->constants[i].bits == bits)
			return f->constants[i].slot;
	}
	if (!grow(opt, &f->constants, &f->constant_room, f->constant_count,
		    sizeof(*f->constants)))
		return 0;
	if (opt->slots >= OPT_SLOTS - opt->constants - 1) {
		opt_refuse(opt, "too many constants");
		return 0;
	}
	opt->constants++;
	f->constants[f->constant_count] =
		(struct opt_constant){OPT_SLOTS - opt->constants, bits};
	return f->constants[f->constant_count++].slot;
}

int opt_int_constant(struct opt *opt, long value)
{
	return constant(opt, (uint64_t)value);
}

int opt_float_constant(struct opt *opt, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return constant(opt, bits);
}

bool opt_need(struct opt *opt, struct opt_need need)
{
	struct opt_fragment *f = opt->fragment;

	for (size_t i = 0; i < f->need_count; i++) {
		if (f->needs[i].what == need.what && f->needs[i].number == need.number &&
			f->needs[i].object == need.object)
			return true;
	}
	if (!grow(opt, &f->needs, &f->need_room, f->need_count, sizeof(*f->needs)))
		return false;
	Py_XINCREF(need.object);
	Py_XINCREF(need.code);
	f->needs[f->need_count++] = need;
	return true;
}

bool opt_push(struct opt *opt, struct opt_item item)
{
	if (opt->state.depth >= OPT_STACK)
		return opt_refuse(opt, "stack");
	opt->state.stack[opt->state.depth++] = item;
	return true;
}

struct opt_item opt_pop(struct opt *opt)
{
	return opt->state.stack[--opt->state.depth];
}

static void move(struct opt *opt, int from, int to)
{
	if (from != to)
		opt_stencil(opt, STENCIL_OPT_MOVE,
			(struct emit_holes){.a = at(from), .b = at(to)});
}

/* Entries that are where a local is get a place of their own before it changes. */
static void save_local(struct opt *opt, int local)
{
	for (int i = 0; i < opt->state.depth; i++) {
		struct opt_item *item = &opt->state.stack[i];

		if (opt_is_number(item) && item->slot == local) {
			item->slot = (int16_t)opt_new_slot(opt);
			move(opt, local, item->slot);
		} else if (item->kind == OPT_FRAME && item->local &&
			   item->slot == local) {
			opt_stencil(opt, STENCIL_OPT_COPY,
				(struct emit_holes){
					.a = local_at(local), .b = opt_frame_at(opt, i)});
			item->local = false;
		}
	}
}

static bool next_is_store(const struct opt *opt, uint32_t *local)
{
	const struct ir_op *next = &opt->ir->ops[opt->number + 1 + opt->skip];

	if (opt->inlined || next >= opt->ir->ops + opt->ir->op_count ||
		next->opcode != STORE_FAST || next->flags & IR_LEADER)
		return false;
	*local = next->oparg;
	return true;
}

int opt_result_slot(struct opt *opt, int kind)
{
	uint32_t local;
	int slot;

	if (opt->inlined) {
		slot = opt_new_slot(opt);
	} else if (next_is_store(opt, &local)) {
		save_local(opt, (int)local);
		slot = (int)local;
	} else {
		slot = opt_stack_slot(opt, opt->state.depth);
	}
	opt_push(opt,
		(struct opt_item){
			.kind = (uint8_t)kind, .slot = (int16_t)slot, .id = ++opt->ids});
	return slot;
}

static void set_flag(struct opt *opt, uint32_t local, int value)
{
	if (opt->flagged >> local & 1)
		opt_stencil(opt, STENCIL_OPT_FLAG,
			(struct emit_holes){
				.a = at(opt->flag_slot[local]), .b = (uint64_t)value});
}

/* The number that a local gets is the one that other locals have. */
static void share(struct opt *opt, uint32_t local, const struct opt_item *item)
{
	for (uint32_t i = 0; item->id && i < OPT_LOCALS; i++) {
		if (i == local || opt->state.locals[i].id != item->id ||
			!opt_is_number(&opt->state.locals[i]))
			continue;
		opt->shares[i] |= 1ull << local;
		opt->shares[local] |= 1ull << i;
	}
}

/* A number instead of an object in a local: the object goes now, not at the exit. */
static void empty_local(struct opt *opt, uint32_t local)
{
	struct emit_holes holes = {.a = local_at((int)local)};

	opt->state.depth++;
	holes.deopt = opt_exit_here(opt);
	opt->state.depth--;
	opt_stencil(opt, STENCIL_OPT_EMPTY, holes);
}

bool opt_store_local(struct opt *opt, uint32_t local, struct opt_item item)
{
	if (opt_is_number(&item)) {
		share(opt, local, &item);
		if (opt->objected >> local & 1)
			empty_local(opt, local);
		if (item.slot != (int)local)
			save_local(opt, (int)local);
		move(opt, item.slot, (int)local);
		item.slot = (int16_t)local;
		opt->numbered |= 1ull << local;
		set_flag(opt, local, 1);
	} else if (item.kind == OPT_FRAME) {
		struct emit_holes holes = {.b = local_at((int)local), .deopt = 0};

		opt->objected |= 1ull << local;
		/* On the stack again, for the exit. */
		opt->state.depth++;
		holes.deopt = opt_exit_here(opt);
		opt->state.depth--;
		save_local(opt, (int)local);
		holes.a = item.local ? local_at(item.slot)
				     : opt_frame_at(opt, opt->state.depth);
		opt_stencil(opt, item.local ? STENCIL_OPT_STORE_COPY : STENCIL_OPT_STORE,
			holes);
		item = (struct opt_item){.kind = OPT_FRAME, .object = item.object};
		set_flag(opt, local, 0);
	} else {
		return opt_refuse(opt, "store of a constant");
	}
	opt->state.locals[local] = item;
	return true;
}

/* Numbers below `limit` that lie in a place which another entry wants get out of the way
 * first; then each goes to its own. */
bool opt_flush_below(struct opt *opt, int limit)
{
	int first = opt_stack_slot(opt, 0);

	for (int i = 0; i < opt->state.depth; i++) {
		struct opt_item *item = &opt->state.stack[i];

		if (opt_is_number(item) && item->slot >= first &&
			item->slot < first + OPT_STACK && item->slot != first + i) {
			int slot = opt_new_slot(opt);

			move(opt, item->slot, slot);
			item->slot = (int16_t)slot;
		}
	}
	for (int i = 0; i < limit; i++) {
		struct opt_item *item = &opt->state.stack[i];

		if (opt_is_number(item)) {
			move(opt, item->slot, first + i);
			item->slot = (int16_t)(first + i);
		} else if (item->kind == OPT_FRAME && item->local) {
			opt_stencil(opt, STENCIL_OPT_COPY,
				(struct emit_holes){.a = local_at(item->slot),
					.b = opt_frame_at(opt, i)});
			item->local = false;
		} else if (item->kind == OPT_CONST || item->kind == OPT_NULL) {
			return opt_refuse(opt, "constant on the stack at a jump");
		}
	}
	return true;
}

bool opt_flush(struct opt *opt)
{
	return opt_flush_below(opt, opt->state.depth);
}

static bool add_value(struct opt *opt, struct opt_value value)
{
	struct opt_fragment *f = opt->fragment;

	if (!grow(opt, &f->values, &f->value_room, f->value_count, sizeof(*f->values)))
		return false;
	f->values[f->value_count++] = value;
	return true;
}

void opt_close_shares(struct opt *opt)
{
	for (int via = 0; via < OPT_LOCALS; via++) {
		for (int i = 0; opt->shares[via] && i < OPT_LOCALS; i++) {
			if (opt->shares[i] >> via & 1)
				opt->shares[i] |= opt->shares[via];
		}
	}
}

static int16_t next_of(uint64_t group, int after)
{
	for (int i = after + 1; i < OPT_LOCALS; i++) {
		if (group >> i & 1)
			return (int16_t)i;
	}
	return -1;
}

static int add_record(struct opt *opt, uint32_t index, bool leader, bool counts,
	const struct opt_state *state)
{
	struct opt_fragment *f = opt->fragment;
	int locals = opt->compiled->code->co_nlocalsplus;

	if (!grow(opt, &f->records, &f->record_room, f->record_count,
		    sizeof(*f->records)))
		return -1;
	f->records[f->record_count] = (struct opt_record){
		.index = index,
		.leader = leader,
		.counts = counts,
		.depth = (uint16_t)state->depth,
		.first = (uint32_t)f->value_count,
	};
	for (int i = 0; i < locals; i++) {
		const struct opt_item *item = &state->locals[i];
		bool keeps = !(opt->written >> i & 1) || !opt_is_number(item);

		if (!add_value(opt, (struct opt_value){
					    .kind = keeps ? OPT_FRAME : item->kind,
					    .slot = item->slot,
					    .flag = opt->flagged >> i & 1
							    ? (int16_t)opt->flag_slot[i]
							    : (int16_t)-1,
					    .group = next_of(opt->shares[i], -1),
					    .next = next_of(opt->shares[i], i),
				    }))
			return -1;
	}
	for (int i = 0; i < state->depth; i++) {
		const struct opt_item *item = &state->stack[i];

		if (!add_value(
			    opt, (struct opt_value){
					 .kind = item->kind,
					 .borrowed = item->local,
					 .slot = item->slot,
					 .flag = -1,
					 .object = item->kind == OPT_CONST ? item->object
									   : NULL,
				 }))
			return -1;
	}
	return (int)f->record_count++;
}

static int exit_label(struct opt *opt, int record)
{
	int label = emit_label(&opt->emit);

	emit_cold(&opt->emit, true);
	emit_bind(&opt->emit, label);
	emit_stencil(&opt->emit, STENCIL_EXIT_NUMBER,
		&(struct emit_holes){.a = (uint64_t)record, .cont = opt->exit_common});
	emit_cold(&opt->emit, false);
	return label;
}

/* The code unit where the interpreter goes on at an op: its first prefix. */
static uint32_t unit_of(const struct ir *ir, int number)
{
	uint32_t index = ir->ops[number].index;

	while (index > 0 && ir->op_at[index - 1] == number)
		index--;
	return index;
}

int opt_exit_here(struct opt *opt)
{
	const struct opt_state *state = opt->call_state ? opt->call_state : &opt->state;
	int number = opt->call_state ? opt->call_number : opt->number;
	const struct ir *ir = opt->outer;

	if (!opt->emitting)
		return 0;
	return exit_label(opt, add_record(opt, unit_of(ir, number),
				       ir->ops[number].flags & IR_LEADER, true, state));
}

int opt_exit_to(struct opt *opt, int number, const struct opt_state *state)
{
	if (!opt->emitting)
		return 0;
	return exit_label(
		opt, add_record(opt, unit_of(opt->outer, number), true, false, state));
}
