/* ELF files: symbols, build-id, code, unwind table; as code.elf and as a native file. */
#include "annotate/code.h"
#include "annotate/elffile.h"
#include "launcher/base.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void read_native(const char *path)
{
	struct symbols symbols = {0};
	struct fault fault;
	struct elffile *file = elffile_open(path, &fault);
	uint8_t id[ELFFILE_BUILD_ID_ROOM];
	uint64_t address;
	size_t count, available;

	if (!file)
		return;
	elffile_symbols(file, &symbols);
	symbols_index(&symbols);
	for (size_t i = 0; i < symbols.count && i < 64; i++) {
		symbols_find(&symbols, symbols.list[i].address);
		elffile_slot(file, symbols.list[i].address);
		elffile_bytes(
			file, symbols.list[i].address, symbols.list[i].size, &available);
	}
	elffile_build_id(file, id);
	elffile_debug_link(file);
	free(elffile_frames(file, &count));
	elffile_address(file, 4096, &address);
	elffile_close(file);
	symbols_release(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	struct code_set *set = code_set_new(1);
	struct fault fault;
	volatile uint8_t sum = 0;

	read_native(path);
	code_set_add_final(set, xstrdup(path), &fault);
	code_set_index(set);
	for (size_t i = 0; i < set->count; i++)
		for (uint64_t k = 0; set->list[i]->final && k < set->list[i]->size; k++)
			sum = (uint8_t)(sum + set->list[i]->final[k]);
	code_set_free(set);
	return 0;
}
