/* jitdump: records, lines, moves; every code object is found again and listed. */
#include "annotate/code.h"
#include "annotate/listing.h"
#include "launcher/base.h"
#include "tests/fuzz/fuzz.h"

static void list(struct lister *lister, struct listing *listing, struct code *code)
{
	static struct input input;
	struct process process = {.code = code->set};
	struct function function = {.name = code->name,
		.raw_name = code->name,
		.module_name = "",
		.address = code->address,
		.size = code->size,
		.code = code,
		.input = &input,
		.process = &process};

	listing_build(lister, listing, &function, LISTING_EVERY_EPOCH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_set *set = code_set_new(1);
	struct listing_options options = {.symfs = "/nonexistent"};
	struct lister *lister = lister_new(&options);
	struct listing listing = {0};
	struct fault fault;
	bool late;

	code_set_add_dump(set, xstrdup(fuzz_file(data, size)), &fault);
	code_set_index(set);
	for (size_t i = 0; i < set->count && i < 8; i++) {
		code_set_find(
			set, set->list[i]->address, set->list[i]->from, NULL, &late);
		list(lister, &listing, set->list[i]);
	}
	listing_release(&listing);
	lister_free(lister);
	code_set_free(set);
	return 0;
}
