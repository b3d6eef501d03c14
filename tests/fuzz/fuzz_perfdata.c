/* perf.data, all the way: records, processes, samples, call stacks, the profile. */
#include "annotate/profile.h"
#include "annotate/stacks.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct warnings warnings = {0};
	struct modules modules = {.symfs = "/nonexistent"};
	struct profile profile = {.warnings = &warnings};
	struct input_options options = {.symfs = "/nonexistent"};
	struct input input;
	struct fault fault;

	if (input_open(&input, fuzz_file(data, size), &options, &modules, &warnings,
		    &fault) == 0) {
		profile.stacks = stacks_new(true);
		profile_add(&profile, &input, &fault);
		profile_finish(&profile);
		stacks_free(profile.stacks);
		profile_release(&profile);
		input_close(&input);
	}
	modules_release(&modules);
	warnings_release(&warnings);
	return 0;
}
