/* patches.log beside a jitdump's one code object. */
#include "annotate/code.h"
#include "launcher/base.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[4096], made[4096];
	struct code_set *set = code_set_new(1);
	struct code code = {.name = "f",
		.address = 0x1000,
		.size = sizeof(bytes),
		.bytes = bytes,
		.source = CODE_DUMP,
		.set = set};
	struct code_place place = {&code, code.address, 0, UINT64_MAX};
	struct fault fault;

	code_set_add_patches(set, xstrdup(fuzz_file(data, size)), &fault);
	set->places = xmalloc(sizeof(*set->places));
	set->places[0] = &place;
	set->place_count = 1;
	code_set_index(set);
	for (uint32_t epoch = 0; epoch <= code.patch_count; epoch++)
		code_bytes_at(&code, epoch, made);
	for (size_t i = 0; set->patches && i < set->patches->object_count; i++)
		if (!patches_object(set->patches, set->patches->objects[i].address))
			__builtin_trap();
	free(code.patches);
	set->place_count = 0;
	code_set_free(set);
	return 0;
}
