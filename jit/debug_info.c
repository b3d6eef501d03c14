/* The sections of DWARF 4 (dwarfstd.org): .debug_abbrev, .debug_info, .debug_line,
 * .debug_ranges, .debug_aranges, .debug_frame. Version 4, because every tool reads it. */
#include "jit/debug_info.h"

#include "jit/code_info.h"
#include "jit/frame_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
	ABBREV_UNIT = 1,
	ABBREV_FUNCTION = 2,
	ADDRESS_SIZE = 8,
	/* The special opcodes of the line program: what gcc chooses too. */
	LINE_BASE = -5,
	LINE_RANGE = 14,
	OPCODE_BASE = 13,
};

/* The files of a unit, each once; the last used is found first. */
struct files {
	struct buffer *names; /* borrowed: an array of borrowed strings */
	size_t count, last;
};

static void put_abbrev(struct buffer *out)
{
	static const uint16_t unit[] = {DW_AT_producer, DW_FORM_string, DW_AT_language,
		DW_FORM_data1, DW_AT_name, DW_FORM_string, DW_AT_comp_dir, DW_FORM_string,
		DW_AT_low_pc, DW_FORM_addr, DW_AT_ranges, DW_FORM_sec_offset,
		DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0};
	static const uint16_t function[] = {DW_AT_name, DW_FORM_string, DW_AT_external,
		DW_FORM_flag_present, DW_AT_decl_file, DW_FORM_udata, DW_AT_decl_line,
		DW_FORM_udata, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8,
		0, 0};

	buffer_uleb(out, ABBREV_UNIT);
	buffer_uleb(out, DW_TAG_compile_unit);
	buffer_u8(out, DW_CHILDREN_yes);
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		buffer_uleb(out, unit[i]);
	buffer_uleb(out, ABBREV_FUNCTION);
	buffer_uleb(out, DW_TAG_subprogram);
	buffer_u8(out, DW_CHILDREN_no);
	for (size_t i = 0; i < sizeof(function) / sizeof(function[0]); i++)
		buffer_uleb(out, function[i]);
	buffer_u8(out, 0);
}

static const char *file_name(const struct files *files, size_t index)
{
	const char *name;

	memcpy(&name, files->names->bytes + index * sizeof(name), sizeof(name));
	return name;
}

/* The number of a file in the line program's table, from 1; 0: no memory, or no name. */
static size_t file_number(struct files *files, const char *name)
{
	if (!*name)
		return 0;
	if (files->last && strcmp(file_name(files, files->last - 1), name) == 0)
		return files->last;
	for (size_t i = 0; i < files->count; i++) {
		if (strcmp(file_name(files, i), name) == 0)
			return files->last = i + 1;
	}
	buffer_put(files->names, &name, sizeof(name));
	if (files->names->failed)
		return 0;
	files->count++;
	return files->last = files->count;
}

static void put_functions(struct buffer *out, struct files *files,
	struct code_info *const *codes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct code_info *code = codes[i];

		buffer_uleb(out, ABBREV_FUNCTION);
		buffer_string(out, code->name);
		buffer_uleb(out, file_number(files, code->file));
		buffer_uleb(out, code->first_line > 0 ? (uint64_t)code->first_line : 0);
		buffer_u64(out, code->address);
		buffer_u64(out, code->size);
	}
}

static void put_unit(struct buffer *out, struct files *files,
	struct code_info *const *codes, size_t count, const char *directory)
{
	size_t start = out->size;

	buffer_u32(out, 0);
	buffer_u16(out, 4); /* version */
	buffer_u32(out, 0); /* .debug_abbrev */
	buffer_u8(out, ADDRESS_SIZE);
	buffer_uleb(out, ABBREV_UNIT);
	buffer_string(out, "stablerun jit");
	buffer_u8(out, DW_LANG_Python);
	buffer_string(out, count && *codes[0]->file ? codes[0]->file : "jit");
	buffer_string(out, directory);
	buffer_u64(out, 0);
	buffer_u32(out, 0); /* .debug_ranges */
	buffer_u32(out, 0); /* .debug_line */
	put_functions(out, files, codes, count);
	buffer_u8(out, 0);
	buffer_set_u32(out, start, (uint32_t)(out->size - start - 4));
}

/* The address and line registers of the line program. */
struct line_state {
	uint64_t address;
	int line;
	size_t file;
};

static void set_address(struct buffer *out, uint64_t address)
{
	buffer_u8(out, 0);
	buffer_uleb(out, 1 + ADDRESS_SIZE);
	buffer_u8(out, DW_LNE_set_address);
	buffer_u64(out, address);
}

/* Moves on, and adds a row: by a special opcode where one says both. */
static void put_row(
	struct buffer *out, struct line_state *state, uint64_t address, int line)
{
	int64_t advance = (int64_t)line - state->line;
	uint64_t delta = address - state->address;
	uint64_t special;

	if (advance < LINE_BASE || advance >= LINE_BASE + LINE_RANGE) {
		buffer_u8(out, DW_LNS_advance_line);
		buffer_sleb(out, advance);
		advance = 0;
	}
	special = (uint64_t)(advance - LINE_BASE) + LINE_RANGE * delta + OPCODE_BASE;
	if (special > 255) {
		buffer_u8(out, DW_LNS_advance_pc);
		buffer_uleb(out, delta);
		special = (uint64_t)(advance - LINE_BASE) + OPCODE_BASE;
	}
	buffer_u8(out, (uint8_t)special);
	state->address = address;
	state->line = line;
}

/* The rows of one code object: a sequence of its own. */
static void put_sequence(
	struct buffer *out, struct files *files, const struct code_info *code)
{
	struct line_state state = {.address = code->address, .line = 1, .file = 1};
	size_t file = file_number(files, code->file);

	if (file == 0 || code->row_count == 0)
		return;
	set_address(out, code->address);
	if (file != state.file) {
		buffer_u8(out, DW_LNS_set_file);
		buffer_uleb(out, file);
	}
	for (size_t i = 0; i < code->row_count; i++)
		put_row(out, &state, code->address + code->rows[i].offset,
			code->rows[i].line);
	buffer_u8(out, DW_LNS_advance_pc);
	buffer_uleb(out, code->address + code->size - state.address);
	buffer_u8(out, 0);
	buffer_uleb(out, 1);
	buffer_u8(out, DW_LNE_end_sequence);
}

static void put_lines(struct buffer *out, struct files *files,
	struct code_info *const *codes, size_t count)
{
	/* Operands of the standard opcodes 1 to 12. */
	static const uint8_t operands[OPCODE_BASE - 1] = {
		0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	size_t start = out->size, header;

	buffer_u32(out, 0);
	buffer_u16(out, 4); /* version */
	header = out->size;
	buffer_u32(out, 0);
	buffer_u8(out, 1); /* minimum instruction length */
	buffer_u8(out, 1); /* operations per instruction */
	buffer_u8(out, 1); /* rows are statements */
	buffer_u8(out, (uint8_t)LINE_BASE);
	buffer_u8(out, LINE_RANGE);
	buffer_u8(out, OPCODE_BASE);
	buffer_put(out, operands, sizeof(operands));
	buffer_u8(out, 0); /* directories */
	for (size_t i = 0; i < files->count; i++) {
		buffer_string(out, file_name(files, i));
		buffer_uleb(out, 0); /* directory */
		buffer_uleb(out, 0); /* time */
		buffer_uleb(out, 0); /* size */
	}
	buffer_u8(out, 0);
	buffer_set_u32(out, header, (uint32_t)(out->size - header - 4));
	for (size_t i = 0; i < count; i++)
		put_sequence(out, files, codes[i]);
	buffer_set_u32(out, start, (uint32_t)(out->size - start - 4));
}

static void put_ranges(struct buffer *out, struct code_info *const *codes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		buffer_u64(out, codes[i]->address);
		buffer_u64(out, codes[i]->address + codes[i]->size);
	}
	buffer_u64(out, 0);
	buffer_u64(out, 0);
}

static void put_aranges(struct buffer *out, struct code_info *const *codes, size_t count)
{
	size_t start = out->size;

	buffer_u32(out, 0);
	buffer_u16(out, 2); /* version */
	buffer_u32(out, 0); /* .debug_info */
	buffer_u8(out, ADDRESS_SIZE);
	buffer_u8(out, 0); /* segment size */
	buffer_align(out, 2 * ADDRESS_SIZE, 0);
	for (size_t i = 0; i < count; i++) {
		buffer_u64(out, codes[i]->address);
		buffer_u64(out, codes[i]->size);
	}
	buffer_u64(out, 0);
	buffer_u64(out, 0);
	buffer_set_u32(out, start, (uint32_t)(out->size - start - 4));
}

void debug_info_build(struct debug_info *debug, struct code_info *const *codes,
	size_t count, const char *directory)
{
	struct files files = {.names = &debug->files};

	buffer_clear(&debug->files);
	put_abbrev(&debug->abbrev);
	put_unit(&debug->info, &files, codes, count, directory);
	put_lines(&debug->line, &files, codes, count);
	put_ranges(&debug->ranges, codes, count);
	put_aranges(&debug->aranges, codes, count);
	frame_info_cie(&debug->frame);
	for (size_t i = 0; i < count; i++)
		frame_info_fde(&debug->frame, codes[i]->address,
			code_info_bytes(codes[i]), codes[i]->size);
}

bool debug_info_failed(const struct debug_info *debug)
{
	return debug->abbrev.failed || debug->info.failed || debug->line.failed ||
	       debug->ranges.failed || debug->aranges.failed || debug->frame.failed;
}

void debug_info_clear(struct debug_info *debug)
{
	buffer_clear(&debug->abbrev);
	buffer_clear(&debug->info);
	buffer_clear(&debug->line);
	buffer_clear(&debug->ranges);
	buffer_clear(&debug->aranges);
	buffer_clear(&debug->frame);
}

void debug_info_release(struct debug_info *debug)
{
	buffer_release(&debug->abbrev);
	buffer_release(&debug->info);
	buffer_release(&debug->line);
	buffer_release(&debug->ranges);
	buffer_release(&debug->aranges);
	buffer_release(&debug->frame);
	buffer_release(&debug->files);
}
