/* Emission of a code object: copying stencils, filling holes, committing to code memory.
 */
#include "jit/emit.h"

#include "jit/codemem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	HOT,
	COLD,
	JUMP_REL32 = 0xe9,
	INT3 = 0xcc,
	PART_ALIGN = CODEMEM_ALIGN,
	BORDER = 8, /* a processor stores aligned 8 bytes at once */
};

enum label_state {
	UNBOUND,
	BOUND,
	FIXED,
};

struct emit_label {
	enum label_state state;
	int part;
	uintptr_t at; /* offset in the part, or the fixed address */
};

enum target {
	TO_LABEL,
	TO_PART,    /* `value` is an offset in part `target_part` */
	TO_ADDRESS, /* `value` is an address */
};

/* A hole that can be filled only when the final addresses are known. */
struct emit_fixup {
	uint32_t offset;
	uint8_t part;
	uint8_t store;
	uint8_t target;
	uint8_t target_part;
	int32_t addend;
	int label;
	uintptr_t value;
	const char *name; /* of the stencil */
};

static bool fail(struct emit *e, enum emit_failure failure, const char *name)
{
	if (e->failure == EMIT_OK) {
		e->failure = failure;
		e->failed_at = name;
	}
	return false;
}

/* Makes room for `more` elements behind `count`. */
static bool reserve(struct emit *e, void *array, size_t *room, size_t count, size_t more,
	size_t element)
{
	size_t wanted = *room ? *room : 64;
	void *memory, *grown;

	if (count + more <= *room)
		return true;
	while (wanted < count + more)
		wanted *= 2;
	if (e->fail_in > 0 && --e->fail_in == 0)
		return fail(e, EMIT_NO_MEMORY, NULL);
	memcpy(&memory, array, sizeof(memory));
	grown = reallocarray(memory, wanted, element);
	if (!grown)
		return fail(e, EMIT_NO_MEMORY, NULL);
	memcpy(array, &grown, sizeof(grown));
	*room = wanted;
	return true;
}

void emit_begin(struct emit *e, struct codemem *memory)
{
	e->memory = memory;
	emit_end(e);
}

void emit_end(struct emit *e)
{
	e->failure = EMIT_OK;
	e->failed_at = NULL;
	e->code = NULL;
	e->size = e->hot_size = 0;
	e->lines = NULL;
	e->line_count = e->patch_count = 0;
	e->part = HOT;
	memset(&e->line, 0, sizeof(e->line));
	/* Label 0 is nobody's. */
	e->label_count = 1;
	e->fixup_count = 0;
	for (int i = 0; i < EMIT_PARTS; i++)
		e->parts[i].size = e->parts[i].line_count = 0;
}

void emit_release(struct emit *e)
{
	for (int i = 0; i < EMIT_PARTS; i++) {
		free(e->parts[i].bytes);
		free(e->parts[i].lines);
	}
	free(e->labels);
	free(e->fixups);
	free(e->patchpoints);
	memset(e, 0, sizeof(*e));
}

int emit_label(struct emit *e)
{
	if (e->failure != EMIT_OK ||
		!reserve(e, &e->labels, &e->label_room, e->label_count, 1,
			sizeof(struct emit_label)))
		return 0;
	e->labels[e->label_count] = (struct emit_label){.state = UNBOUND};
	return (int)e->label_count++;
}

int emit_label_at(struct emit *e, const void *address)
{
	int label = emit_label(e);

	if (label) {
		e->labels[label].state = FIXED;
		e->labels[label].at = (uintptr_t)address;
	}
	return label;
}

void emit_bind(struct emit *e, int label)
{
	if (e->failure != EMIT_OK)
		return;
	assert(label > 0 && (size_t)label < e->label_count);
	assert(e->labels[label].state == UNBOUND);
	e->labels[label].state = BOUND;
	e->labels[label].part = e->part;
	e->labels[label].at = e->parts[e->part].size;
}

static bool add_fixup(struct emit *e, struct emit_fixup fixup)
{
	if (!reserve(e, &e->fixups, &e->fixup_room, e->fixup_count, 1,
		    sizeof(struct emit_fixup)))
		return false;
	e->fixups[e->fixup_count++] = fixup;
	return true;
}

/* Notes that the next byte of a part comes from the current line. */
static bool note_line(struct emit *e, int part)
{
	struct emit_part *p = e->parts + part;

	if (p->line_count > 0) {
		const struct symbols_line *last = p->lines + p->line_count - 1;

		if (last->line == e->line.line && last->bytecode == e->line.bytecode &&
			last->opcode == e->line.opcode)
			return true;
		/* Nothing was emitted for it. */
		if (last->offset == p->size)
			p->line_count--;
	}
	if (!reserve(e, &p->lines, &p->line_room, p->line_count, 1,
		    sizeof(struct symbols_line)))
		return false;
	p->lines[p->line_count] = e->line;
	p->lines[p->line_count++].offset = (uint32_t)p->size;
	return true;
}

static uint8_t *append(struct emit *e, int part, const void *bytes, size_t size)
{
	struct emit_part *p = e->parts + part;
	uint8_t *place;

	if (!note_line(e, part) || !reserve(e, &p->bytes, &p->room, p->size, size, 1))
		return NULL;
	place = p->bytes + p->size;
	memcpy(place, bytes, size);
	p->size += size;
	return place;
}

/* Stores a value that needs no final address. False where it does not fit. */
static bool store_value(uint8_t *place, uint8_t store, uint64_t value)
{
	switch (store) {
	case STENCIL_U64: memcpy(place, &value, 8); return true;
	case STENCIL_U32: memcpy(place, &value, 4); return value <= UINT32_MAX;
	default: memcpy(place, &value, 4); return (int64_t)value == (int32_t)value;
	}
}

static const uint64_t *data_values(const struct emit_holes *holes)
{
	return &holes->a;
}

static const int *label_values(const struct emit_holes *holes)
{
	return &holes->cont;
}

/* The fields stand in the order of enum holes, without padding between them. */
#define CHECK_DATA_(symbol, field)                                        \
	_Static_assert(offsetof(struct emit_holes, field) ==              \
			       offsetof(struct emit_holes, a) +           \
				       sizeof(uint64_t) * HOLES_##symbol, \
		#field " is out of order");
#define CHECK_LABEL_(symbol, field)                                                 \
	_Static_assert(offsetof(struct emit_holes, field) ==                        \
			       offsetof(struct emit_holes, cont) +                  \
				       sizeof(int) * (HOLES_##symbol - HOLES_CONT), \
		#field " is out of order");
HOLES_DATA(CHECK_DATA_)
HOLES_JUMP(CHECK_LABEL_)
HOLES_CALL(CHECK_LABEL_)

static bool add_patch(struct emit *e, const struct stencil_hole *hole, uint32_t tag,
	int part, size_t offset)
{
	if (!reserve(e, &e->patchpoints, &e->patch_room, e->patch_count, 1,
		    sizeof(struct emit_patch)))
		return false;
	e->patchpoints[e->patch_count++] = (struct emit_patch){
		.point = {.addend = hole->addend, .store = hole->store},
		.tag = tag,
		.hole = hole->index,
		.offset = (uint32_t)offset,
		.part = part,
	};
	return true;
}

/* One copy of a stencil: where its parts begin, and where it goes on. */
struct copy {
	const struct stencil *stencil;
	const struct emit_holes *holes;
	int part;
	size_t starts[2]; /* of its hot and its cold bytes */
	size_t next;	  /* end of its hot bytes */
};

static bool fill_hole(
	struct emit *e, const struct copy *copy, const struct stencil_hole *hole)
{
	const struct emit_holes *holes = copy->holes;
	int part = copy->part + hole->cold;
	size_t offset = copy->starts[hole->cold] + hole->offset;
	struct emit_fixup fixup = {
		.offset = (uint32_t)offset,
		.part = (uint8_t)part,
		.store = hole->store,
		.addend = hole->addend,
		.name = copy->stencil->name,
	};
	uint64_t value = 0;

	switch (hole->class) {
	case STENCIL_SYMBOL: value = stencil_symbols[hole->index]; break;
	case STENCIL_HOT:
	case STENCIL_COLD:
		fixup.target = TO_PART;
		fixup.target_part = (uint8_t)(copy->part + (hole->class == STENCIL_COLD));
		fixup.value = copy->starts[hole->class == STENCIL_COLD];
		return add_fixup(e, fixup);
	default:
		if (holes->patches >> hole->index & 1 &&
			!add_patch(e, hole, holes->tag, part, offset))
			return false;
		if (hole->index >= HOLES_DATA_COUNT) {
			fixup.label = label_values(holes)[hole->index - HOLES_DATA_COUNT];
			if (fixup.label)
				return add_fixup(e, fixup);
			if (hole->index != HOLES_CONT)
				return fail(e, EMIT_UNBOUND, copy->stencil->name);
			fixup.target = TO_PART;
			fixup.target_part = (uint8_t)copy->part;
			fixup.value = copy->next;
			return add_fixup(e, fixup);
		}
		value = data_values(holes)[hole->index];
		if (holes->labels >> hole->index & 1) {
			fixup.label = (int)value;
			return add_fixup(e, fixup);
		}
	}
	if (hole->store == STENCIL_REL32) {
		fixup.target = TO_ADDRESS;
		fixup.value = value;
		return add_fixup(e, fixup);
	}
	if (!store_value(e->parts[part].bytes + offset, hole->store,
		    value + (uint64_t)(int64_t)hole->addend))
		return fail(e, EMIT_RANGE, copy->stencil->name);
	return true;
}

static bool crosses_border(size_t offset, uint8_t store)
{
	return offset % BORDER + (store == STENCIL_U64 ? 8 : 4) > BORDER;
}

static const uint8_t *nops(size_t size)
{
	/* Intel's recommended multi-byte nops (SDM volume 2, NOP). */
	static const uint8_t table[][8] = {
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	return table[size - 1];
}

static bool pad(struct emit *e, int part, size_t size)
{
	while (size > 0) {
		size_t length = size < 8 ? size : 8;

		if (!append(e, part, nops(length), length))
			return false;
		size -= length;
	}
	return true;
}

/* Pads both parts so that the fewest patchpoints cross a border: none, for what fits. */
static bool align_patches(struct emit *e, const struct copy *copy)
{
	for (int cold = 0; cold < 2; cold++) {
		size_t start = e->parts[copy->part + cold].size;
		unsigned best = 0, fewest = ~0U;

		for (unsigned shift = 0; shift < BORDER && fewest > 0; shift++) {
			unsigned crossing = 0;

			for (size_t i = 0; i < copy->stencil->hole_count; i++) {
				const struct stencil_hole *hole =
					copy->stencil->holes + i;

				if (hole->cold == cold && hole->class == STENCIL_HOLE &&
					copy->holes->patches >> hole->index & 1)
					crossing += crosses_border(
						start + shift + hole->offset,
						hole->store);
			}
			if (crossing < fewest) {
				fewest = crossing;
				best = shift;
			}
		}
		if (!pad(e, copy->part + cold, best))
			return false;
	}
	return true;
}

void emit_stencil(struct emit *e, enum stencils id, const struct emit_holes *holes)
{
	static const struct emit_holes none;
	const struct stencil *stencil = stencil_table + id;
	struct copy copy = {.stencil = stencil, .holes = holes ? holes : &none};
	size_t size;

	if (e->failure != EMIT_OK)
		return;
	copy.part = e->part;
	size = copy.holes->cont || copy.holes->patches >> HOLES_CONT & 1
		       ? stencil->hot_size
		       : stencil->drop_size;
	if (copy.holes->patches && !align_patches(e, &copy))
		return;
	copy.starts[0] = e->parts[copy.part].size;
	copy.starts[1] = e->parts[copy.part + 1].size;
	copy.next = copy.starts[0] + size;
	if (!append(e, copy.part, stencil->bytes, size))
		return;
	if (stencil->cold_size &&
		!append(e, copy.part + 1, stencil->bytes + stencil->hot_size,
			stencil->cold_size))
		return;
	for (size_t i = 0; i < stencil->hole_count; i++) {
		const struct stencil_hole *hole = stencil->holes + i;

		if ((hole->cold || hole->offset < size) && !fill_hole(e, &copy, hole))
			return;
	}
}

void emit_bytes(struct emit *e, const void *bytes, size_t size)
{
	if (e->failure == EMIT_OK)
		append(e, e->part, bytes, size);
}

/* Appends an instruction that ends in the distance to a label. */
static void append_jump(
	struct emit *e, const uint8_t *instruction, size_t size, int label)
{
	if (e->failure != EMIT_OK || !append(e, e->part, instruction, size))
		return;
	add_fixup(e, (struct emit_fixup){
			     .offset = (uint32_t)e->parts[e->part].size - 4,
			     .part = (uint8_t)e->part,
			     .store = STENCIL_REL32,
			     .addend = -4,
			     .label = label,
		     });
}

void emit_jump(struct emit *e, int label)
{
	static const uint8_t jump[5] = {JUMP_REL32};

	append_jump(e, jump, sizeof(jump), label);
}

void emit_branch(struct emit *e, int condition, int label)
{
	const uint8_t branch[6] = {0x0f, (uint8_t)(0x80 | condition)};

	append_jump(e, branch, sizeof(branch), label);
}

void emit_align(struct emit *e, size_t alignment)
{
	assert(alignment <= PART_ALIGN && (alignment & (alignment - 1)) == 0);
	if (e->failure == EMIT_OK)
		pad(e, e->part, -e->parts[e->part].size & (alignment - 1));
}

void emit_cold(struct emit *e, bool cold)
{
	e->part = cold ? COLD : HOT;
}

void emit_line(struct emit *e, int line, uint32_t bytecode, uint8_t opcode)
{
	e->line = (struct symbols_line){
		.line = line, .bytecode = bytecode, .opcode = opcode};
}

size_t emit_size(const struct emit *e)
{
	size_t size = 0;

	for (int i = 0; i < EMIT_PARTS; i++)
		size += e->parts[i].size;
	return size;
}

/* Appends all parts to the first; `starts` becomes their offsets there. */
static bool join_parts(struct emit *e, size_t starts[EMIT_PARTS])
{
	struct emit_part *all = e->parts;

	starts[0] = 0;
	e->hot_size = all->size;
	for (int i = 1; i < EMIT_PARTS; i++) {
		struct emit_part *p = e->parts + i;
		size_t padding = p->size ? -all->size & (PART_ALIGN - 1) : 0;

		if (!reserve(e, &all->bytes, &all->room, all->size, padding + p->size,
			    1) ||
			!reserve(e, &all->lines, &all->line_room, all->line_count,
				p->line_count, sizeof(struct symbols_line)))
			return false;
		memset(all->bytes + all->size, INT3, padding);
		starts[i] = all->size += padding;
		if (p->size)
			memcpy(all->bytes + all->size, p->bytes, p->size);
		all->size += p->size;
		for (size_t k = 0; k < p->line_count; k++) {
			struct symbols_line line = p->lines[k];

			line.offset += (uint32_t)starts[i];
			all->lines[all->line_count++] = line;
		}
	}
	return true;
}

static bool apply_fixup(
	struct emit *e, const struct emit_fixup *fixup, const size_t starts[EMIT_PARTS])
{
	size_t offset = starts[fixup->part] + fixup->offset;
	uintptr_t value = fixup->value;

	if (fixup->target == TO_PART) {
		value += (uintptr_t)e->code + starts[fixup->target_part];
	} else if (fixup->target == TO_LABEL) {
		if (fixup->label <= 0 || (size_t)fixup->label >= e->label_count ||
			e->labels[fixup->label].state == UNBOUND)
			return fail(e, EMIT_UNBOUND, fixup->name);
		value = (uintptr_t)emit_address(e, fixup->label);
	}
	value += (uintptr_t)(intptr_t)fixup->addend;
	if (fixup->store == STENCIL_REL32)
		value -= (uintptr_t)e->code + offset;
	if (!store_value(e->parts[HOT].bytes + offset, fixup->store, value))
		return fail(e, EMIT_RANGE, fixup->name);
	return true;
}

/* Labels and patchpoints get their final places. */
static void settle(struct emit *e, const size_t starts[EMIT_PARTS])
{
	for (size_t i = 1; i < e->label_count; i++) {
		struct emit_label *label = e->labels + i;

		if (label->state == BOUND) {
			label->at += starts[label->part];
			label->part = HOT;
		}
	}
	for (size_t i = 0; i < e->patch_count; i++) {
		struct emit_patch *patch = e->patchpoints + i;

		patch->point.address = e->code + starts[patch->part] + patch->offset;
	}
}

void *emit_commit(struct emit *e)
{
	size_t starts[EMIT_PARTS];
	struct emit_part *all = e->parts;

	if (e->failure != EMIT_OK || !join_parts(e, starts))
		return NULL;
	e->code = codemem_reserve(e->memory, all->size);
	if (!e->code) {
		fail(e, EMIT_NO_CODE, NULL);
		return NULL;
	}
	settle(e, starts);
	for (size_t i = 0; i < e->fixup_count && e->failure == EMIT_OK; i++)
		apply_fixup(e, e->fixups + i, starts);
	if (e->failure == EMIT_OK &&
		codemem_fill(e->memory, e->code, all->bytes, all->size) != 0)
		fail(e, EMIT_NO_CODE, NULL);
	if (e->failure != EMIT_OK) {
		codemem_release(e->memory, e->code);
		e->code = NULL;
		return NULL;
	}
	e->size = all->size;
	e->lines = all->lines;
	e->line_count = all->line_count;
	return e->code;
}

void *emit_address(const struct emit *e, int label)
{
	const struct emit_label *l = e->labels + label;

	assert(label > 0 && (size_t)label < e->label_count && l->state != UNBOUND);
	return (void *)(l->state == FIXED ? l->at : (uintptr_t)e->code + l->at);
}

const char *emit_failure_text(enum emit_failure failure)
{
	switch (failure) {
	case EMIT_OK: return "no failure";
	case EMIT_NO_MEMORY: return "out of memory";
	case EMIT_NO_CODE: return "no code memory";
	case EMIT_UNBOUND: return "a label is not bound";
	case EMIT_RANGE: return "a value does not fit its hole";
	}
	return "unknown failure";
}

void emit_fail(struct emit *e, unsigned count)
{
	e->fail_in = count;
}
