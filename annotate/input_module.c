/* From mappings to files: whose code is at an address of a process. */
#include "annotate/input.h"

#include <string.h>

/* perf lists build-ids by path where the mappings do not carry them. */
static void look_up_build_id(struct input *input, struct mapping *mapping)
{
	for (size_t i = 0; i < input->data.build_id_count; i++) {
		const struct perfdata_build_id *entry = &input->data.build_ids[i];
		if (strcmp(entry->path, mapping->path) != 0)
			continue;
		memcpy(mapping->build_id, entry->id, entry->size);
		mapping->build_id_size = entry->size;
		return;
	}
	for (size_t i = 0; i < input->build_id_count; i++) {
		const struct input_build_id *kept = &input->build_ids[i];
		if (strcmp(kept->path, mapping->path) != 0)
			continue;
		memcpy(mapping->build_id, kept->id, kept->size);
		mapping->build_id_size = kept->size;
		return;
	}
}

static struct module *get(struct input *input, struct mapping *mapping)
{
	if (mapping->module)
		return mapping->module;
	if (!mapping->build_id_size)
		look_up_build_id(input, mapping);
	return mapping->module = modules_get(input->modules, mapping->path,
		       mapping->build_id, mapping->build_id_size, false);
}

struct module *input_file(struct input *input, struct mapping *mapping)
{
	struct module *module = get(input, mapping);

	module_find(input->modules, module);
	return module;
}

struct module *input_module(struct input *input, struct mapping *mapping)
{
	struct module *module = get(input, mapping);

	if (!module->loaded)
		module_load(input->modules, module, input->data.release);
	return module;
}

int input_module_address(
	struct input *input, struct mapping *mapping, uint64_t address, uint64_t *own)
{
	struct module *module = input_module(input, mapping);
	uint64_t offset = address - mapping->start + mapping->offset;

	if (!module->file)
		return -1;
	/* The vdso is mapped whole from its beginning, and perf gives no offset for it.
	 */
	if (strcmp(mapping->path, "[vdso]") == 0)
		offset = address - mapping->start;
	return elffile_address(module->file, offset, own);
}

int input_data_address(
	struct input *input, struct mapping *mapping, uint64_t address, uint64_t *own)
{
	if (!mapping->placed) {
		uint64_t start;
		mapping->placed = true;
		struct module *module = input_module(input, mapping);
		if (module->file && input_module_address(input, mapping, mapping->start,
					    &start) == 0) {
			mapping->bias = mapping->start - start;
			elffile_extent(module->file, &mapping->low, &mapping->high);
			mapping->low += mapping->bias;
			mapping->high += mapping->bias;
		}
	}
	if (address < mapping->low || address >= mapping->high)
		return -1;
	*own = address - mapping->bias;
	return 0;
}
