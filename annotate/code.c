/* Gathering code objects from what a runtime left behind. */
#include "annotate/code.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	ELF_HEADER = 64,   /* what V8 adds to the addresses of its line entries */
	LATEST = 10000000, /* ns by which a report of code may follow its first run */
};

struct code_set *code_set_new(uint32_t pid)
{
	struct code_set *set = xcalloc(1, sizeof(*set));

	set->pid = pid;
	return set;
}

void code_set_free(struct code_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		free(set->list[i]->patches);
		free(set->list[i]);
	}
	for (size_t i = 0; i < set->place_count; i++)
		free(set->places[i]);
	for (size_t i = 0; i < set->name_count; i++)
		free(set->names[i]);
	if (set->dump)
		jitdump_close(set->dump);
	if (set->map)
		perfmap_close(set->map);
	if (set->patches)
		patches_close(set->patches);
	elffile_close(set->final);
	symbols_release(&set->final_symbols);
	spans_release(&set->spans);
	free(set->dump);
	free(set->map);
	free(set->patches);
	free(set->patches_path);
	free(set->list);
	free(set->places);
	free(set->names);
	free(set->dump_path);
	free(set->map_path);
	free(set->final_path);
	free(set);
}

static struct code *add(struct code_set *set, enum code_source source, const char *name,
	uint64_t address, uint64_t size)
{
	struct code *code = xcalloc(1, sizeof(*code));

	code->name = name;
	code->address = address;
	code->size = size;
	code->source = source;
	code->set = set;
	if (set->count == set->room) {
		set->room = set->room ? set->room * 2 : 64;
		set->list = xreallocarray(set->list, set->room, sizeof(*set->list));
	}
	return set->list[set->count++] = code;
}

static struct code_place *add_place(
	struct code_set *set, struct code *code, uint64_t address, uint64_t from)
{
	struct code_place *place = xcalloc(1, sizeof(*place));

	*place = (struct code_place){code, address, from, UINT64_MAX};
	if ((set->place_count & (set->place_count - 1)) == 0)
		set->places = xreallocarray(set->places,
			set->place_count ? set->place_count * 2 : 1,
			sizeof(*set->places));
	return set->places[set->place_count++] = place;
}

static void move(struct code_set *set, const struct jitdump_record *record)
{
	for (size_t i = set->place_count; i-- > 0;) {
		struct code_place *place = set->places[i];
		struct code *code = place->code;
		if (place->address != record->old_address || place->to != UINT64_MAX ||
			code->source != CODE_DUMP)
			continue;
		place->to = record->time;
		add_place(set, code, record->address, record->time);
		code->address = record->address;
		return;
	}
}

/* Whether the writer counts line addresses from behind an ELF header that only perf would
 * put in front of the code, as V8 does: then no entry is below it and some pass the end.
 */
static bool lines_shifted(const struct code_set *set)
{
	bool passes = false;

	for (size_t i = 0; i < set->count; i++) {
		struct code *code = set->list[i];
		struct jitdump_record lines = code->lines;
		uint64_t address;
		uint32_t line, discriminator;
		const char *file = NULL;

		while (jitdump_line(&lines, &address, &line, &discriminator, &file)) {
			if (address - code->lines.address < ELF_HEADER)
				return false;
			passes |= address - code->lines.address >= code->size;
		}
	}
	return passes;
}

static void read_dump(struct code_set *set)
{
	struct jitdump_record record, lines = {0};
	struct bytes unwind = {0};

	while (jitdump_next(set->dump, &record)) {
		switch (record.kind) {
		case JITDUMP_LOAD: {
			struct code *code = add(
				set, CODE_DUMP, record.name, record.address, record.size);
			code->bytes = record.code;
			code->from = record.time;
			code->origin = set->dump_path;
			code->machine = set->dump->machine;
			if (lines.line_count && lines.address == record.address)
				code->lines = lines;
			code->unwind = unwind;
			add_place(set, code, record.address, record.time);
			if (!set->dump_count++ || record.time < set->first_stamp)
				set->first_stamp = record.time;
			if (record.time > set->last_stamp)
				set->last_stamp = record.time;
			lines = (struct jitdump_record){0};
			unwind = (struct bytes){0};
			break;
		}
		case JITDUMP_MOVE: move(set, &record); break;
		case JITDUMP_DEBUG_INFO: lines = record; break;
		case JITDUMP_UNWINDING_INFO: unwind = record.unwind; break;
		}
	}
}

int code_set_add_dump(struct code_set *set, char *path, struct fault *fault)
{
	struct jitdump *dump = xcalloc(1, sizeof(*dump));

	if (set->dump || jitdump_open(dump, path, fault) < 0) {
		free(dump);
		free(path);
		return -1;
	}
	set->dump = dump;
	set->dump_path = path;
	read_dump(set);
	if (lines_shifted(set))
		for (size_t i = 0; i < set->count; i++)
			set->list[i]->line_shift = ELF_HEADER;
	return 0;
}

static const char *own(struct code_set *set, char *name)
{
	if ((set->name_count & (set->name_count - 1)) == 0)
		set->names = xreallocarray(set->names,
			set->name_count ? set->name_count * 2 : 1, sizeof(*set->names));
	return set->names[set->name_count++] = name;
}

int code_set_add_map(struct code_set *set, char *path, struct fault *fault)
{
	struct perfmap *map = xcalloc(1, sizeof(*map));
	struct perfmap_entry entry;

	if (set->map || perfmap_open(map, path, fault) < 0) {
		free(map);
		free(path);
		return -1;
	}
	set->map = map;
	set->map_path = path;
	while (perfmap_next(map, &entry)) {
		if (!entry.size)
			continue;
		char *name = xmalloc(entry.length + 1);
		memcpy(name, entry.name, entry.length);
		name[entry.length] = '\0';
		struct code *code =
			add(set, CODE_MAP, own(set, name), entry.address, entry.size);
		code->origin = path;
		add_place(set, code, entry.address, 0);
		set->map_count++;
	}
	return 0;
}

/* What nothing names is listed by its region. */
static void add_regions(struct code_set *set)
{
	uint64_t address, size;
	const uint8_t *bytes;

	for (size_t i = 0; (bytes = elffile_code(set->final, i, &address, &size)); i++) {
		char *name =
			xasprintf("[code 0x%llx-0x%llx]", (unsigned long long)address,
				(unsigned long long)(address + size));
		struct code *code = add(set, CODE_REGION, own(set, name), address, size);
		code->origin = set->final_path;
		code->machine = elffile_machine(set->final);
		code->final = bytes;
		add_place(set, code, address, 0);
	}
}

int code_set_add_final(struct code_set *set, char *path, struct fault *fault)
{
	if (set->final || !(set->final = elffile_open(path, fault))) {
		free(path);
		return -1;
	}
	set->final_path = path;
	elffile_symbols(set->final, &set->final_symbols);
	symbols_index(&set->final_symbols);
	for (size_t i = 0; i < set->final_symbols.count; i++) {
		struct symbol *symbol = &set->final_symbols.list[i];
		if (symbol->data)
			continue;
		struct code *code =
			add(set, CODE_ELF, symbol->name, symbol->address, symbol->size);
		code->origin = path;
		code->machine = elffile_machine(set->final);
		add_place(set, code, symbol->address, 0);
	}
	add_regions(set);
	return 0;
}

/* As the kernel documents it for the fields of struct perf_event_mmap_page. */
static uint64_t convert(uint64_t stamp, uint64_t zero, uint64_t mult, uint64_t shift)
{
	uint64_t whole = shift < 64 ? stamp >> shift : 0;
	uint64_t rest = shift < 64 ? stamp & (((uint64_t)1 << shift) - 1) : stamp;

	return zero + whole * mult + (shift < 64 ? (rest * mult) >> shift : 0);
}

void code_set_convert_stamps(
	struct code_set *set, uint64_t zero, uint64_t mult, uint64_t shift)
{
	for (size_t i = 0; i < set->place_count; i++) {
		struct code_place *place = set->places[i];
		if (place->code->source != CODE_DUMP)
			continue;
		place->from = convert(place->from, zero, mult, shift);
		if (place->to != UINT64_MAX)
			place->to = convert(place->to, zero, mult, shift);
	}
	for (size_t i = 0; i < set->count; i++)
		if (set->list[i]->source == CODE_DUMP)
			set->list[i]->from =
				convert(set->list[i]->from, zero, mult, shift);
	set->first_stamp = convert(set->first_stamp, zero, mult, shift);
	set->last_stamp = convert(set->last_stamp, zero, mult, shift);
}

void code_set_ignore_stamps(struct code_set *set)
{
	for (size_t i = 0; i < set->place_count; i++) {
		set->places[i]->from = 0;
		set->places[i]->to = UINT64_MAX;
	}
	for (size_t i = 0; i < set->count; i++)
		set->list[i]->from = 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct code_place *left = *(struct code_place *const *)a;
	const struct code_place *right = *(struct code_place *const *)b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return 0;
}

/* A perf map takes nothing back, so ranges that overlap tell of addresses used again; so
 * do those of a jitdump where samples have no time. */
static void count_overlaps(struct code_set *set)
{
	struct code_place **sorted =
		xreallocarray(NULL, set->place_count, sizeof(*sorted));
	size_t count = 0;
	uint64_t reach = 0;
	enum code_source source = set->dump_count ? CODE_DUMP : CODE_MAP;

	for (size_t i = 0; i < set->place_count; i++)
		if (set->places[i]->code->source == source)
			sorted[count++] = set->places[i];
	qsort(sorted, count, sizeof(*sorted), compare_places);
	for (size_t i = 0; i < count; i++) {
		const struct code *code = sorted[i]->code;
		bool same = i && sorted[i - 1]->address == code->address &&
			    sorted[i - 1]->code->size == code->size &&
			    strcmp(sorted[i - 1]->code->name, code->name) == 0;
		if (i && code->address < reach && !same)
			set->overlaps++;
		if (code->address + code->size > reach)
			reach = code->address + code->size;
	}
	free(sorted);
}

int code_set_add_patches(struct code_set *set, char *path, struct fault *fault)
{
	struct patches *patches = xcalloc(1, sizeof(*patches));

	if (set->patches || patches_open(patches, path, fault) < 0) {
		free(patches);
		free(path);
		return -1;
	}
	set->patches = patches;
	set->patches_path = path;
	return 0;
}

/* What was at an address when the process ended is the bytes of the object that was put
 * there last. */
static void find_final(struct code_set *set, struct code *code)
{
	size_t available = 0;
	const uint8_t *bytes =
		elffile_bytes(set->final, code->address, code->size, &available);

	if (!bytes || available < code->size ||
		spans_any_later(&set->spans, code->address, code->address + code->size,
			code->from))
		return;
	/* Maps give no times: there the last line for an address counts. */
	struct code_place *last =
		spans_find(&set->spans, code->address, UINT64_MAX - 1, NULL);
	if (code->source == CODE_REGION ||
		(code->source != CODE_DUMP && (!last || last->code != code)))
		return;
	code->final = bytes;
}

void code_set_index(struct code_set *set)
{
	if (set->patches && !set->at_exit)
		code_apply_unloads(set);
	for (size_t i = 0; i < set->place_count; i++) {
		struct code_place *place = set->places[i];
		uint64_t end = place->address + place->code->size;
		if (end > place->address)
			spans_add(&set->spans, (struct span){.start = place->address,
						       .end = end,
						       .from = place->from,
						       .to = place->to,
						       .rank = place->code->source,
						       .value = place});
	}
	spans_index(&set->spans);
	if (set->map_count || set->at_exit)
		count_overlaps(set);
	if (set->patches)
		code_spread_patches(set);
	for (size_t i = 0; set->final && i < set->count; i++)
		find_final(set, set->list[i]);
}

struct code_place *code_set_find(const struct code_set *set, uint64_t address,
	uint64_t time, struct spans_validity *validity, bool *late)
{
	struct code_place *place = spans_find(&set->spans, address, time, validity);

	*late = false;
	if (!place) {
		place = spans_find_later(&set->spans, address, time);
		if (place && place->from - time > LATEST)
			place = NULL;
		*late = place != NULL;
	}
	return place;
}
