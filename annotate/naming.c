/* Names for addresses. A function's constants are looked up in its own process as that
 * stood at its end, since that is when the bytes shown were kept. */
#include "annotate/naming.h"
#include "annotate/demangle.h"
#include "launcher/base.h"

#include <stdio.h>

static const uint64_t LEAST_ADDRESS = 0x10000; /* below, a number is only a number */

static void put(char *text, size_t room, const char *name, uint64_t distance)
{
	cleanup_free char *plain = demangle(name);

	if (distance)
		snprintf(text, room, "%s+0x%llx", plain ? plain : name,
			(unsigned long long)distance);
	else
		snprintf(text, room, "%s", plain ? plain : name);
}

static uint64_t end_of(const struct function *function)
{
	const struct process *process = function->process;

	return process->exec && function->time < process->exec ? function->time
							       : UINT64_MAX - 1;
}

static bool name_in_file(const struct function *function, struct mapping *mapping,
	uint64_t address, bool code_only, char *text, size_t room)
{
	struct module *module = input_module(function->input, mapping);
	uint64_t own;

	if (!module->file ||
		input_module_address(function->input, mapping, address, &own) < 0)
		return false;
	struct symbol *symbol = symbols_find(&module->symbols, own);
	if (!symbol || (code_only && symbol->data))
		return false;
	put(text, room, symbol->name, own - symbol->address);
	return true;
}

/* perf records executable mappings only: a file's data lies at the same distance from its
 * code as in the file. */
static bool name_data(
	const struct function *function, uint64_t address, char *text, size_t room)
{
	for (struct process *process = function->process; process;
		process = process->parent) {
		for (size_t i = 0; i < process->maps.count; i++) {
			struct mapping *mapping = process->maps.list[i].value;
			uint64_t own;
			if (!mapping->file || input_data_address(function->input, mapping,
						      address, &own) < 0)
				continue;
			struct symbol *symbol =
				symbols_find(&mapping->module->symbols, own);
			if (symbol)
				put(text, room, symbol->name, own - symbol->address);
			return symbol != NULL;
		}
	}
	return false;
}

/* What the runtime said of the object at an address. */
static bool name_object(
	const struct function *function, uint64_t address, char *text, size_t room)
{
	for (struct process *process = function->process; process;
		process = process->parent) {
		const char *object =
			process->code && process->code->patches
				? patches_object(process->code->patches, address)
				: NULL;
		if (object)
			snprintf(text, room, "%s", object);
		if (object || process->exec)
			return object != NULL;
	}
	return false;
}

bool naming_address(const struct function *function, uint64_t address, bool code_only,
	char *text, size_t room)
{
	bool late;

	if (address < LEAST_ADDRESS || !function->process)
		return false;
	uint64_t time = end_of(function);
	if (!code_only && name_object(function, address, text, room))
		return true;
	struct code_place *place =
		input_code(function->process, address, time, NULL, &late);
	if (place && place->code->source != CODE_REGION) {
		put(text, room, place->code->name, address - place->address);
		return true;
	}
	struct mapping *mapping = machine_mapping(function->process, address, time, NULL);
	if (mapping && mapping->file &&
		name_in_file(function, mapping, address, code_only, text, room))
		return true;
	return !code_only && name_data(function, address, text, room);
}

bool naming_slot(
	const struct function *function, uint64_t address, char *text, size_t room)
{
	if (!function->symbol || !function->module->file)
		return false;
	const char *name = elffile_slot(function->module->file,
		address - function->address + function->symbol->address);
	if (name)
		put(text, room, name, 0);
	return name != NULL;
}
