/* From an address at a moment to a function: mappings, JIT code and symbols put together.
 */
#include "annotate/demangle.h"
#include "annotate/merge.h"
#include "annotate/profile.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t VSYSCALL = 0xffffffffff600000; /* the page's address on x86-64 */

static struct function *add_function(struct profile *profile, struct input *input,
	struct process *process, uint64_t time)
{
	struct function *function = xcalloc(1, sizeof(*function));

	function->input = input;
	function->process = process;
	function->time = time;
	if ((profile->function_count & (profile->function_count - 1)) == 0)
		profile->functions = xreallocarray(profile->functions,
			profile->function_count ? profile->function_count * 2 : 1,
			sizeof(*profile->functions));
	return profile->functions[profile->function_count++] = function;
}

static struct function *code_function(struct profile *profile, struct input *input,
	struct process *process, struct code_place *place, uint64_t time)
{
	struct code *code = place->code;

	if (code->function)
		return code->function;
	struct warnings *warnings = profile->compare ? NULL : profile->warnings;
	struct function *same =
		!profile->merge ? NULL
				: merge_find(profile->merge, input, code, warnings);
	if (same) {
		code->function = same;
		return same;
	}
	struct function *function = add_function(profile, input, process, time);
	function->kind = FUNCTION_JIT;
	function->name = function->raw_name = code->name;
	function->module_name = code->origin;
	function->address = code->address;
	function->size = code->size;
	function->code = code;
	code->function = function;
	if (profile->merge)
		merge_add(profile->merge, function);
	return function;
}

static struct function *symbol_function(struct profile *profile, struct input *input,
	struct process *process, struct module *module, struct symbol *symbol,
	uint64_t address, uint64_t time)
{
	if (symbol->function)
		return symbol->function;
	struct function *function = add_function(profile, input, process, time);
	/* perf inject makes one file a code object, so named. */
	bool injected = strncmp(module->name, "jitted-", 7) == 0;
	function->kind = module->kernel ? FUNCTION_KERNEL
			 : injected	? FUNCTION_JIT
					: FUNCTION_NATIVE;
	function->raw_name = symbol->name;
	function->owned_name = demangle(symbol->name);
	function->name = function->owned_name ? function->owned_name : symbol->name;
	function->module_name = module->path;
	function->address = address;
	function->size = symbol->size;
	function->module = module;
	function->symbol = symbol;
	symbol->function = function;
	return function;
}

static struct place unresolved(const char *reason)
{
	return (struct place){.reason = reason};
}

static struct place locate_kernel(
	struct profile *profile, struct input *input, uint64_t address, uint64_t time)
{
	struct module *module = modules_get(input->modules, "[kernel]", NULL, 0, true);

	if (!module->loaded) {
		for (size_t i = 0; i < input->machine.kernel_symbol_count; i++) {
			struct kernel_symbol *from = &input->machine.kernel_symbols[i];
			symbols_add(&module->symbols,
				(struct symbol){from->start, from->size, from->name,
					SYMBOLS_GLOBAL, false, NULL});
		}
		module_load(input->modules, module, input->data.release);
		symbols_index(&module->symbols);
	}
	struct symbol *symbol = symbols_find(&module->symbols, address);
	if (!symbol)
		return unresolved(module->trouble ? "kernel, whose symbols are hidden"
						  : "kernel, no symbol there");
	struct function *function = symbol_function(
		profile, input, NULL, module, symbol, symbol->address, time);
	return (struct place){function, address - symbol->address, 0, NULL};
}

/* In a mapped file, or NULL with the reason why not. */
static struct place locate_file(struct profile *profile, struct input *input,
	struct process *process, struct mapping *mapping, uint64_t address, uint64_t time)
{
	struct module *module = input_module(input, mapping);
	uint64_t own;

	if (!module->file)
		return unresolved("native code whose file is missing or was replaced");
	if (input_module_address(input, mapping, address, &own) < 0)
		return unresolved("native code outside its file's segments");
	struct symbol *symbol = symbols_find(&module->symbols, own);
	if (!symbol || symbol->data)
		return unresolved("native code without a symbol");
	struct function *function = symbol_function(profile, input, process, module,
		symbol, address - (own - symbol->address), time);
	return (struct place){function, own - symbol->address, 0, NULL};
}

static struct place locate_user(struct profile *profile, struct input *input,
	struct process *process, uint64_t address, uint64_t time,
	struct spans_validity *validity)
{
	struct mapping *mapping = machine_mapping(process, address, time, validity);
	bool late = false,
	     native = mapping && (mapping->file || strcmp(mapping->path, "[vdso]") == 0);
	struct code_place *place = input_code(process, address, time, validity, &late);
	struct place found = unresolved(
		mapping ? "memory that no file names code in" : "no mapping there");

	/* A mapped file hides older JIT code; code that came after it was put where the
	 * file had been unmapped, which perf does not record. */
	bool code_newer = place && !late && place->from > (mapping ? mapping->from : 0);
	if (native && !code_newer)
		found = locate_file(profile, input, process, mapping, address, time);
	if (!found.reason)
		return found;
	if (place) {
		profile->late += late;
		place->code->sampled = true;
		return (struct place){code_function(profile, input, process, place, time),
			address - place->address, code_epoch(place->code, time, validity),
			NULL};
	}
	if (address >> 12 == VSYSCALL >> 12)
		return unresolved("vsyscall page");
	return found;
}

struct place profile_locate(struct profile *profile, struct input *input,
	struct process *process, uint64_t address, uint64_t time, unsigned mode,
	struct spans_validity *validity)
{
	switch (mode) {
	case PERFDATA_MISC_KERNEL: return locate_kernel(profile, input, address, time);
	case PERFDATA_MISC_HYPERVISOR: return unresolved("hypervisor");
	case PERFDATA_MISC_GUEST_KERNEL:
	case PERFDATA_MISC_GUEST_USER: return unresolved("guest of a virtual machine");
	}
	if (!process || (!process->maps.count && !process->parent))
		return unresolved("process that the recording does not describe");
	return locate_user(profile, input, process, address, time, validity);
}
