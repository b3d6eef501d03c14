/* Perf maps. */
#include "annotate/code.h"
#include "launcher/base.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_set *set = code_set_new(1);
	struct fault fault;
	bool late;

	code_set_add_map(set, xstrdup(fuzz_file(data, size)), &fault);
	code_set_index(set);
	for (size_t i = 0; i < set->count; i++)
		if (set->list[i]->size &&
			!code_set_find(set, set->list[i]->address, 1, NULL, &late))
			__builtin_trap();
	code_set_free(set);
	return 0;
}
