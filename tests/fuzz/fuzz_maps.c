/* Kept maps, the launcher's look at perf maps, at perf.data and at ELF files. */
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/codes.h"
#include "launcher/elf_file.h"
#include "launcher/maps.h"
#include "launcher/perfdata.h"
#include "tests/fuzz/fuzz.h"

static char *copy(const uint8_t *data, size_t size)
{
	char *text = xmalloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void read_maps(const uint8_t *data, size_t size)
{
	struct maps maps;

	if (maps_parse(&maps, copy(data, size), size) > 0)
		return;
	for (size_t i = 0; i < maps.count; i++) {
		if (maps.items[i].end < maps.items[i].start || !maps.items[i].name)
			__builtin_trap();
	}
	maps_release(&maps);
}

static void ignore(void *context, const char *name, uint64_t address, uint64_t size)
{
	*(uint64_t *)context += strlen(name) + address + size;
}

static void read_elf(const uint8_t *data, size_t size)
{
	struct elf_file file;
	char hex[ELF_BUILD_ID_TEXT];
	uint64_t sum = 0;
	const char *path = fuzz_file(data, size);

	elf_file_build_id(path, hex);
	if (elf_file_open(&file, path) < 0)
		return;
	elf_file_needs(&file, "lib*");
	elf_file_has_section(&file, ".tex?");
	elf_file_has_note(&file, "GNU");
	elf_file_exports(&file, "main");
	elf_file_each_function(&file, ignore, &sum);
	elf_file_each_code(&file, ignore, &sum);
	elf_file_code_bytes(&file);
	elf_file_at(&file, 0x1000, 16);
	elf_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata perfdata = {0};
	struct codes codes = {0};

	read_maps(data, size);
	perfdata_scan(&perfdata, data, size);
	codes_parse_map(&codes, copy(data, size), size);
	codes_release(&codes);
	if (size > 4 && memcmp(data, "\177ELF", 4) == 0)
		read_elf(data, size);
	return 0;
}
