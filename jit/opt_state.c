/* The state of locals and stack while a loop is compiled, and the exits that record it. */
#include "jit/opt_asm.h"

#include "jit/cache.h"
#include "jit/cache_shape.h"

#include <stdlib.h>
#include <string.h>

#include "jit/jit.h"

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

/* Whether a stencil calls C functions that do not keep the registers of doubles. */
static bool calls_out(enum stencils id)
{
	static const void *const keeping[] = {(void *)(uintptr_t)opt_drop,
		(void *)(uintptr_t)opt_new_int, (void *)(uintptr_t)opt_new_float};
	const struct stencil *stencil = &stencil_table[id];

	for (int i = 0; i < stencil->hole_count; i++) {
		const struct stencil_hole *hole = &stencil->holes[i];
		bool keeps =
			hole->class != STENCIL_SYMBOL || hole->store != STENCIL_REL32;

		for (size_t k = 0; k < sizeof(keeping) / sizeof(keeping[0]); k++)
			keeps |= stencil_symbols[hole->index] == (uintptr_t)keeping[k];
		if (!keeps)
			return true;
	}
	return false;
}

void opt_stencil(struct opt *opt, enum stencils id, struct emit_holes holes)
{
	bool saves;

	if (!opt->emitting)
		return;
	/* Every guard fails in turn, and so does every instruction (opt_compile.c). */
	if (jit.stress_deopt && holes.deopt && id != STENCIL_STRESS)
		emit_stencil(&opt->emit, STENCIL_STRESS,
			&(struct emit_holes){.deopt = holes.deopt});
	saves = calls_out(id);
	opt->plain_stencils |= !saves && id != STENCIL_OPT_RANGE_END;
	if (saves)
		opt_asm_save(opt);
	emit_stencil(&opt->emit, id, &holes);
	if (saves)
		opt_asm_restore(opt);
	for (int i = 0; i < opt->reload_count; i++)
		opt_asm_reload(opt, opt->reloads[i] / 2, opt->reloads[i] & 1);
	opt->reload_count = 0;
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

/* Where Python code may run meanwhile, what holds on entry is looked at again where it
 * counts. */
static bool check_here(struct opt *opt, struct opt_need *need)
{
	struct emit_holes holes = {.a = (uintptr_t)need->object};
	struct cache name = {0};
	struct cache_seed seed;

	switch (need->what) {
	case OPT_NEED_FUNCTION:
		holes.b = need->number;
		holes.deopt = opt_exit_here(opt);
		opt_stencil(opt, STENCIL_OPT_FUNCTION_VERSION, holes);
		break;
	case OPT_NEED_GLOBAL:
		name.name = PyTuple_GET_ITEM(opt->ir->code->co_names, need->number);
		if (!shape_global(
			    opt->frame->f_globals, opt->frame->f_builtins, &name, &seed))
			return opt_refuse(opt, "global");
		seed.holes.d = (uintptr_t)need->object;
		seed.holes.deopt = opt_exit_here(opt);
		opt_stencil(opt,
			seed.stencil == STENCIL_GLOBAL_MODULE
				? STENCIL_OPT_GLOBAL_MODULE
				: STENCIL_OPT_GLOBAL_BUILTIN,
			seed.holes);
		break;
	default: return true;
	}
	need->what = OPT_NEED_KEEP;
	need->number = 0;
	return true;
}

bool opt_need(struct opt *opt, struct opt_need need)
{
	struct opt_fragment *f = opt->fragment;

	if (opt->hybrid && !check_here(opt, &need))
		return false;
	for (size_t i = 0; i < f->need_count; i++) {
		if (f->needs[i].what == need.what && f->needs[i].number == need.number &&
			f->needs[i].object == need.object)
			return true;
	}
	if (!grow(opt, &f->needs, &f->need_room, f->need_count, sizeof(*f->needs)))
		return false;
	need.owns = opt_owns(need.object);
	if (need.owns)
		Py_INCREF(need.object);
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

static void move(struct opt *opt, const struct opt_item *item, int to)
{
	if (item->slot != to)
		opt_asm_move(opt, item->slot, to, item->kind == OPT_FLOAT);
}

/* Entries that are where a local is get a place of their own before it changes. */
void opt_save_local(struct opt *opt, int local)
{
	for (int i = 0; i < opt->state.depth; i++) {
		struct opt_item *item = &opt->state.stack[i];

		if (opt_is_number(item) && item->slot == local) {
			int slot = opt_new_slot(opt);

			move(opt, item, slot);
			item->slot = (int16_t)slot;
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

/* Whether an entry that was swapped or copied still is where a result would go. */
static bool is_taken(const struct opt *opt, int slot)
{
	for (int i = 0; i < opt->state.depth; i++) {
		if (opt_is_number(&opt->state.stack[i]) &&
			opt->state.stack[i].slot == slot)
			return true;
	}
	return false;
}

int opt_result_slot(struct opt *opt, int kind)
{
	uint32_t local;
	int slot;

	if (opt->inlined) {
		slot = opt_new_slot(opt);
	} else if (next_is_store(opt, &local)) {
		opt_save_local(opt, (int)local);
		slot = (int)local;
	} else {
		slot = opt_stack_slot(opt, opt->state.depth);
		if (is_taken(opt, slot))
			slot = opt_new_slot(opt);
	}
	opt_push(opt,
		(struct opt_item){
			.kind = (uint8_t)kind, .slot = (int16_t)slot, .id = ++opt->ids});
	return slot;
}

static void set_flag(struct opt *opt, uint32_t local, int value)
{
	if (opt->flagged >> local & 1)
		opt_asm_put(opt, opt->flag_slot[local], value);
}

/* A number is stored to a local that may be an object in the frame. */
static bool empty_local(struct opt *opt, uint32_t local, struct opt_item item)
{
	const struct opt_item *old = &opt->state.locals[local];

	if (opt_is_number(old) && !old->maybe)
		return true;
	opt_push(opt, item);
	opt_stencil(opt, STENCIL_OPT_EMPTY,
		(struct emit_holes){
			.a = local_at((int)local), .deopt = opt_exit_here(opt)});
	opt_pop(opt);
	return !opt->refusal;
}

/* An object is stored to a local; it has been popped, and is still in its place. */
static bool store_object(struct opt *opt, uint32_t local, struct opt_item item)
{
	int depth = opt->state.depth;

	opt_save_local(opt, (int)local);
	if (item.kind != OPT_FRAME) {
		opt->state.stack[depth] = item;
		opt_own(opt, depth);
		item = opt->state.stack[depth];
	}
	if (item.kind == OPT_NULL)
		return opt_refuse(opt, "store of nothing");
	/* A number that is in the slot only is over; nobody has seen it. */
	opt_set_local(opt, local, item, depth);
	set_flag(opt, local, 0);
	opt->state.locals[local] =
		(struct opt_item){.kind = OPT_FRAME, .object = item.object};
	return true;
}

void opt_mark_object(struct opt *opt, uint32_t local)
{
	set_flag(opt, local, 0);
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
static void empty_object(struct opt *opt, uint32_t local)
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
		if (opt->hybrid && opt_store_shared(opt, local, item))
			return !opt->refusal;
		if (!opt->hybrid && opt->objected >> local & 1)
			empty_object(opt, local);
		if (item.slot != (int)local)
			opt_save_local(opt, (int)local);
		if (opt->hybrid && !empty_local(opt, local, item))
			return false;
		move(opt, &item, (int)local);
		item.slot = (int16_t)local;
		item.constant = 0;
		item.synced = item.maybe = false;
		opt->numbered |= 1ull << local;
		set_flag(opt, local, 1);
	} else if (opt->hybrid) {
		return store_object(opt, local, item);
	} else if (item.kind == OPT_FRAME) {
		struct emit_holes holes = {.b = local_at((int)local), .deopt = 0};

		opt->objected |= 1ull << local;
		/* On the stack again, for the exit. */
		opt->state.depth++;
		holes.deopt = opt_exit_here(opt);
		opt->state.depth--;
		opt_save_local(opt, (int)local);
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

			move(opt, item, slot);
			item->slot = (int16_t)slot;
		}
	}
	for (int i = 0; i < limit; i++) {
		struct opt_item *item = &opt->state.stack[i];

		if (opt_is_number(item)) {
			move(opt, item, first + i);
			item->slot = (int16_t)(first + i);
			item->constant = 0;
		} else if (item->kind == OPT_FRAME && item->local) {
			opt_stencil(opt, STENCIL_OPT_COPY,
				(struct emit_holes){.a = local_at(item->slot),
					.b = opt_frame_at(opt, i)});
			item->local = false;
		} else if (opt->hybrid && item->kind != OPT_PAIR) {
			opt_own(opt, i);
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

/* The code unit where the interpreter goes on at an op: its first prefix. */
static uint32_t unit_of(const struct ir *ir, int number)
{
	uint32_t index = ir->ops[number].index;

	while (index > 0 && ir->op_at[index - 1] == number)
		index--;
	return index;
}

static int add_record(struct opt *opt, int number, bool leader, bool counts,
	const struct opt_state *state)
{
	uint32_t unit = opt->outer->ops[number].index,
		 index = unit_of(opt->outer, number);
	struct opt_fragment *f = opt->fragment;
	int locals = opt->compiled->code->co_nlocalsplus;

	if (!grow(opt, &f->records, &f->record_room, f->record_count,
		    sizeof(*f->records)))
		return -1;
	f->records[f->record_count] = (struct opt_record){
		.index = index,
		.unit = unit,
		.leader = leader,
		.counts = counts,
		.depth = (uint16_t)state->depth,
		.first = (uint32_t)f->value_count,
	};
	for (int i = 0; i < locals; i++) {
		const struct opt_item *item = &state->locals[i];
		bool keeps =
			!(opt->written >> i & 1) || !opt_is_number(item) || item->synced;

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
					 .group = (int16_t)(item->origin - 1),
					 .object = item->kind == OPT_CONST ? item->object
									   : NULL,
				 }))
			return -1;
	}
	return (int)f->record_count++;
}

static int exit_label(struct opt *opt, int record, bool saved)
{
	const struct opt_fragment *f = opt->fragment;
	int label = emit_label(&opt->emit);
	int part = opt->emit.part;

	emit_cold(&opt->emit, true);
	emit_bind(&opt->emit, label);
	if (record >= 0 && !saved && opt->homes) {
		for (size_t i = f->records[record].first; i < f->value_count; i++)
			opt_asm_save_value(opt, &f->values[i]);
	}
	emit_stencil(&opt->emit, STENCIL_EXIT_NUMBER,
		&(struct emit_holes){.a = (uint64_t)record, .cont = opt->exit_common});
	emit_cold(&opt->emit, part);
	return label;
}

static int exit_here(struct opt *opt, bool saved)
{
	const struct opt_state *state = opt->call_state ? opt->call_state : &opt->state;
	int number = opt->call_state ? opt->call_number : opt->number;

	if (!opt->emitting)
		return 0;
	return exit_label(opt,
		add_record(opt, number, opt->outer->ops[number].flags & IR_LEADER, true,
			state),
		saved);
}

int opt_exit_here(struct opt *opt)
{
	return exit_here(opt, false);
}

int opt_exit_saved(struct opt *opt)
{
	return exit_here(opt, true);
}

int opt_exit_to(struct opt *opt, int number, const struct opt_state *state)
{
	if (!opt->emitting)
		return 0;
	return exit_label(opt, add_record(opt, number, true, false, state), false);
}
