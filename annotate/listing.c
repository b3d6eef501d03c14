/* Building listings: bytes -> instructions -> labels and meanings. */
#include "annotate/listing.h"
#include "annotate/naming.h"
#include "launcher/base.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	LARGEST = 64 << 20, /* bytes of a function that are listed */
	NAME_ROOM = 512,
	FEWEST_NOPS = 2, /* that are collapsed */
	MACHINES = 4,
};

struct lister {
	struct listing_options options;
	struct listing_sources *sources;
	struct {
		unsigned machine;
		struct disasm *disasm;
	} machines[MACHINES];
	size_t machine_count;
	int *labels; /* by offset: scratch for one listing */
	size_t label_room;
};

struct lister *lister_new(const struct listing_options *options)
{
	struct lister *lister = xcalloc(1, sizeof(*lister));

	lister->options = *options;
	lister->sources = listing_sources_new(options->symfs);
	return lister;
}

void lister_free(struct lister *lister)
{
	for (size_t i = 0; i < lister->machine_count; i++)
		disasm_free(lister->machines[i].disasm);
	listing_sources_free(lister->sources);
	free(lister->labels);
	free(lister);
}

static struct disasm *disasm_for(struct lister *lister, unsigned machine)
{
	for (size_t i = 0; i < lister->machine_count; i++)
		if (lister->machines[i].machine == machine)
			return lister->machines[i].disasm;
	if (lister->machine_count == MACHINES)
		return NULL;
	struct disasm *disasm = disasm_new(machine, lister->options.att);
	lister->machines[lister->machine_count].machine = machine;
	lister->machines[lister->machine_count++].disasm = disasm;
	return disasm;
}

/* perf names machines as uname does. */
static unsigned recorded_machine(const struct function *function)
{
	static const struct {
		const char *arch;
		unsigned machine;
	} names[] = {{"x86_64", EM_X86_64}, {"i686", EM_386}, {"aarch64", EM_AARCH64},
		{"armv7l", EM_ARM}, {"s390x", EM_S390}, {"ppc64", EM_PPC64}};
	const char *arch = function->input->data.arch;

	for (size_t i = 0; arch && i < ARRAY_SIZE(names); i++)
		if (strcmp(arch, names[i].arch) == 0)
			return names[i].machine;
	return EM_X86_64;
}

struct function_version listing_version(const struct function *function, uint32_t epoch)
{
	if (function->versions && epoch < function->version_count)
		return function->versions[epoch];
	return (struct function_version){function->code, epoch};
}

static void find_code_bytes(
	struct lister *lister, struct listing *listing, const struct code *code)
{
	bool final = lister->options.bytes != LISTING_LOAD && code->final;

	listing->loaded = code->bytes;
	listing->size = code->size;
	if (listing->epoch != LISTING_EVERY_EPOCH) {
		struct function_version version =
			listing_version(listing->function, listing->epoch);
		listing->made = xrealloc(listing->made, code->size);
		if (version.code->size == code->size &&
			code_bytes_at(version.code, version.patched, listing->made))
			listing->bytes = listing->made;
		listing->what = "bytes as they were then";
	} else {
		listing->bytes = final ? code->final : code->bytes;
		listing->what = final ? "bytes at exit"
				: lister->options.bytes == LISTING_LOAD
					? "bytes as loaded"
					: "bytes as loaded (those at exit were not kept)";
	}
	if (!listing->bytes && code->final) {
		listing->bytes = code->final;
		listing->what = "bytes at exit (those loaded were not kept)";
	}
	if (!listing->bytes)
		listing->missing =
			"only its address is known: record a jitdump or keep the run "
			"to see the bytes";
}

static void find_file_bytes(struct listing *listing, const struct function *function)
{
	size_t available = 0;

	listing->what = "bytes of the file";
	if (function->kind == FUNCTION_KERNEL) {
		listing->missing = "the kernel's code is not readable here";
		return;
	}
	listing->bytes = elffile_bytes(function->module->file, function->symbol->address,
		function->size, &available);
	listing->size = available;
	if (!listing->bytes)
		listing->missing = "the file does not hold these addresses";
}

size_t listing_keep(struct listing *listing, const char *text, size_t length)
{
	size_t place = listing->text_size;

	if (place + length + 1 > listing->text_room) {
		listing->text_room = listing->text_room * 2 + length + 4096;
		listing->text = xrealloc(listing->text, listing->text_room);
	}
	memcpy(listing->text + place, text, length);
	listing->text[place + length] = '\0';
	listing->text_size += length + 1;
	return place;
}

static struct listing_row *add_row(struct listing *listing)
{
	if (listing->count == listing->room) {
		listing->room = listing->room ? listing->room * 2 : 256;
		listing->rows = xreallocarray(
			listing->rows, listing->room, sizeof(*listing->rows));
	}
	struct listing_row *row = &listing->rows[listing->count++];
	*row = (struct listing_row){0};
	return row;
}

/* What the instruction's number means: where a jump leads, what a constant names. */
static void explain(struct listing *listing, struct listing_row *row,
	const struct disasm_instruction *instruction)
{
	const struct function *function = listing->function;
	uint64_t value =
		instruction->has_target ? instruction->target : instruction->constant;
	char name[NAME_ROOM];
	bool known = !instruction->has_target && instruction->memory &&
		     naming_slot(function, value, name, sizeof(name));

	if (!known)
		known = naming_address(function, value, false, name, sizeof(name));
	if (known)
		row->note = listing_keep(listing, name, strlen(name));
}

static void show_loaded(struct listing *listing, struct listing_row *row,
	struct disasm *disasm, const uint8_t *loaded)
{
	struct disasm_instruction was;

	row->patched = true;
	disasm_decode(disasm, loaded + row->offset, (size_t)(listing->size - row->offset),
		listing->function->address + row->offset, &was);
	row->was = listing_keep(listing, was.text, strlen(was.text));
}

static void decode(struct lister *lister, struct listing *listing, struct disasm *disasm)
{
	const struct function *function = listing->function;
	struct disasm_instruction instruction;
	size_t at = 0;

	while (at < listing->size) {
		disasm_decode(disasm, listing->bytes + at, (size_t)listing->size - at,
			function->address + at, &instruction);
		struct listing_row *row = add_row(listing);
		row->offset = at;
		row->size = instruction.size;
		row->flow = instruction.flow;
		row->nops = instruction.nop;
		row->slow = instruction.slow;
		row->text =
			listing_keep(listing, instruction.text, strlen(instruction.text));
		uint64_t within = instruction.target - function->address;
		bool inside = instruction.has_target && within < listing->size &&
			      instruction.flow != DISASM_CALL;
		if (inside) {
			lister->labels[within] = 1;
			row->target = (int)within + 1;
		} else if (instruction.has_target || instruction.has_constant) {
			explain(listing, row, &instruction);
		}
		if (listing->loaded && listing->loaded != listing->bytes &&
			memcmp(listing->loaded + at, listing->bytes + at,
				instruction.size) != 0)
			show_loaded(listing, row, disasm, listing->loaded);
		at += instruction.size;
	}
}

/* Labels are numbered in order of address; a target within an instruction has none. */
static void number_labels(struct lister *lister, struct listing *listing)
{
	int next = 1;

	for (size_t i = 0; i < listing->count; i++) {
		struct listing_row *row = &listing->rows[i];
		if (lister->labels[row->offset])
			row->label = lister->labels[row->offset] = next++;
		for (size_t k = 1; k < row->size; k++)
			lister->labels[row->offset + k] = 0;
	}
	for (size_t i = 0; i < listing->count; i++) {
		struct listing_row *row = &listing->rows[i];
		if (row->target)
			row->target = lister->labels[row->target - 1];
		bool after_jump = i && listing->rows[i - 1].flow != DISASM_PLAIN &&
				  listing->rows[i - 1].flow != DISASM_CALL;
		row->leader = i == 0 || row->label || after_jump;
	}
}

static bool joins(const struct listing_row *row, bool first)
{
	return row->nops && !row->samples && !row->patched && (first || !row->label);
}

/* Runs of nops nobody was seen in become one row. */
static void collapse_nops(struct listing *listing)
{
	size_t kept = 0;

	for (size_t i = 0; i < listing->count;) {
		size_t end = i;
		while (end < listing->count && joins(&listing->rows[end], end == i))
			end++;
		struct listing_row row = listing->rows[i];
		if (end < i + FEWEST_NOPS) {
			row.nops = 0;
			listing->rows[kept++] = row;
			i++;
			continue;
		}
		row.nops = (uint32_t)(end - i);
		row.size = (uint32_t)(listing->rows[end - 1].offset +
				      listing->rows[end - 1].size - row.offset);
		listing->rows[kept++] = row;
		i = end;
	}
	listing->count = kept;
}

static void reset(
	struct listing *listing, const struct function *function, uint32_t epoch)
{
	listing->function = function;
	listing->epoch = epoch;
	listing->bytes = listing->loaded = NULL;
	listing->what = listing->missing = NULL;
	listing->size = listing->outside = listing->samples = 0;
	listing->count = listing->text_size = listing->patch_count = 0;
	listing_keep(listing, "", 0);
}

void listing_build(struct lister *lister, struct listing *listing,
	const struct function *function, uint32_t epoch)
{
	reset(listing, function, epoch);
	if (function->code)
		find_code_bytes(lister, listing, function->code);
	else
		find_file_bytes(listing, function);
	unsigned machine = function->code && function->code->machine
				   ? function->code->machine
				   : recorded_machine(function);
	if (function->module && function->module->file)
		machine = elffile_machine(function->module->file);
	struct disasm *disasm = disasm_for(lister, machine);
	if (listing->bytes && !disasm)
		listing->missing = "code of this machine cannot be disassembled";
	if (listing->size > LARGEST)
		listing->size = LARGEST;
	if (!listing->bytes || !disasm) {
		listing->bytes = NULL;
		listing_count(listing, lister->options.inputs);
		return;
	}
	if (listing->size > lister->label_room) {
		lister->label_room = listing->size * 2;
		lister->labels = xreallocarray(
			lister->labels, lister->label_room, sizeof(*lister->labels));
	}
	if (listing->size)
		memset(lister->labels, 0, listing->size * sizeof(*lister->labels));
	decode(lister, listing, disasm);
	number_labels(lister, listing);
	listing_count(listing, lister->options.inputs);
	if (!lister->options.precise)
		listing_mark_culprits(listing);
	collapse_nops(listing);
	listing_add_lines(lister->sources, listing);
	listing_add_patches(listing);
}

void listing_release(struct listing *listing)
{
	free(listing->rows);
	free(listing->text);
	free(listing->made);
	free(listing->patches);
	*listing = (struct listing){0};
}

struct version {
	uint32_t epoch;
	uint64_t samples;
};

static int compare_versions(const void *a, const void *b)
{
	const struct version *left = a, *right = b;

	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	return left->epoch < right->epoch ? -1 : left->epoch > right->epoch;
}

static uint32_t *every(size_t *count)
{
	uint32_t *list = xmalloc(sizeof(*list));

	*list = LISTING_EVERY_EPOCH;
	*count = 1;
	return list;
}

uint32_t *listing_epochs(
	struct lister *lister, const struct function *function, size_t *count)
{
	const struct code *code = function->code;

	size_t most = !code		   ? 0
		      : function->versions ? function->version_count
					   : code->patch_count + 1;

	if (lister->options.bytes != LISTING_SAMPLE || most < 2)
		return every(count);
	struct version *versions = xcalloc(most, sizeof(*versions));
	for (size_t i = 0; i < most; i++)
		versions[i].epoch = (uint32_t)i;
	for (struct hit *hit = function->hits; hit; hit = hit->next)
		if (hit->epoch < most)
			versions[hit->epoch].samples += hit->count;
	qsort(versions, most, sizeof(*versions), compare_versions);
	uint32_t *list = xreallocarray(NULL, most, sizeof(*list));
	*count = 0;
	for (size_t i = 0; i < most && versions[i].samples; i++)
		list[(*count)++] = versions[i].epoch;
	free(versions);
	return list;
}
