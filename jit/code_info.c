/* The table of live code. */
#include "jit/code_info.h"

#include "jit/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOL_MAX = 4096 };

/* Writes the symbol's name; what a name may not hold in a perf map (a line's end) and
 * other control characters become '?'. Returns its length. */
static size_t make_symbol(const struct symbols_code *code, char *text, size_t size)
{
	const char *base = strrchr(code->file, '/');
	bool plain = !code->kind || strcmp(code->kind, "baseline") == 0;
	int length;

	base = base ? base + 1 : code->file;
	if (*code->file)
		length = snprintf(text, size, "%s (%s:%d)%s%s%s", code->name, base,
			code->first_line, plain ? "" : " [", plain ? "" : code->kind,
			plain ? "" : "]");
	else
		length = snprintf(text, size, "%s%s%s%s", code->name, plain ? "" : " [",
			plain ? "" : code->kind, plain ? "" : "]");
	if (length < 0)
		length = 0;
	if ((size_t)length >= size)
		length = (int)size - 1;
	for (int i = 0; i < length; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			text[i] = '?';
	}
	return (size_t)length;
}

static size_t count_rows(const struct symbols_code *code)
{
	size_t count = 1;

	for (size_t i = 1; i < code->line_count; i++)
		count += code->lines[i].line != code->lines[i - 1].line;
	return code->line_count ? count + 1 : 0;
}

/* Code without a line of its own (the prologue) counts as the function's first. */
static void fill_rows(struct code_info *info, const struct symbols_code *code)
{
	size_t count = 0;

	if (code->line_count == 0)
		return;
	if (code->lines[0].offset > 0)
		info->rows[count++] = (struct code_row){0, code->first_line};
	for (size_t i = 0; i < code->line_count; i++) {
		int line =
			code->lines[i].line > 0 ? code->lines[i].line : code->first_line;

		if (code->lines[i].offset >= code->size)
			break;
		if (count == 0 || info->rows[count - 1].line != line)
			info->rows[count++] =
				(struct code_row){code->lines[i].offset, line};
	}
	info->row_count = count;
}

struct code_info *code_info_new(const struct symbols_code *given, uint64_t index)
{
	char symbol[SYMBOL_MAX];
	struct symbols_code code = *given;
	size_t rows, name_size, file_size, symbol_size;
	struct code_info *info;
	char *text;

	code.name = code.name ? code.name : "?";
	code.file = code.file ? code.file : "";
	rows = count_rows(&code);
	name_size = strlen(code.name) + 1;
	file_size = strlen(code.file) + 1;
	symbol_size = make_symbol(&code, symbol, sizeof(symbol)) + 1;
	info = malloc(sizeof(*info) + rows * sizeof(info->rows[0]) + name_size +
		      file_size + symbol_size);
	if (!info)
		return NULL;
	*info = (struct code_info){
		.address = (uintptr_t)code.address,
		.size = code.size,
		.index = index,
		.first_line = code.first_line,
	};
	fill_rows(info, &code);
	text = (char *)(info->rows + rows);
	info->name = memcpy(text, code.name, name_size);
	info->file = memcpy(text + name_size, code.file, file_size);
	info->symbol = memcpy(text + name_size + file_size, symbol, symbol_size);
	return info;
}

void code_info_free(struct code_info *code)
{
	if (code)
		free(code->saved);
	free(code);
}

const void *code_info_bytes(const struct code_info *code)
{
	return code->saved ? code->saved : (const void *)code->address;
}

size_t code_table_find(const struct code_table *table, uintptr_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct code_info *code = table->codes[middle];

		if (code->address + code->size <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Closes the gap that `count` code objects leave. */
static void shrink(struct code_table *table, size_t index, size_t count)
{
	if (!count)
		return;
	table->count -= count;
	memmove(table->codes + index, table->codes + index + count,
		(table->count - index) * sizeof(struct code_info *));
}

void code_table_drop(struct code_table *table, uintptr_t address, size_t size)
{
	size_t index = code_table_find(table, address), count = 0;

	while (index + count < table->count &&
		table->codes[index + count]->address < address + size)
		code_info_free(table->codes[index + count++]);
	shrink(table, index, count);
}

bool code_table_add(struct code_table *table, struct code_info *code)
{
	size_t index;

	if (table->count == table->room) {
		size_t room = table->room ? table->room * 2 : 64;
		struct code_info **grown =
			reallocarray(table->codes, room, sizeof(struct code_info *));

		if (!grown) {
			code_info_free(code);
			return false;
		}
		table->codes = grown;
		table->room = room;
	}
	code_table_drop(table, code->address, code->size);
	index = code_table_find(table, code->address);
	memmove(table->codes + index + 1, table->codes + index,
		(table->count - index) * sizeof(struct code_info *));
	table->codes[index] = code;
	table->count++;
	return true;
}

struct code_info *code_table_take(struct code_table *table, uintptr_t address)
{
	size_t index = code_table_find(table, address);
	struct code_info *code;

	if (index == table->count || table->codes[index]->address != address)
		return NULL;
	code = table->codes[index];
	shrink(table, index, 1);
	return code;
}

void code_table_release(struct code_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		code_info_free(table->codes[i]);
	free(table->codes);
	*table = (struct code_table){0};
}
