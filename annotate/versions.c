/* Telling versions of patched code apart by their bytes. */
#include "annotate/versions.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

/* The code object of a run that was merged into the function. */
static struct code *code_in(const struct input *input, const struct function *function)
{
	for (size_t i = 0; i < input->set_count; i++)
		for (size_t k = 0; k < input->sets[i]->count; k++)
			if (input->sets[i]->list[k]->function == function)
				return input->sets[i]->list[k];
	return NULL;
}

static bool same_bytes(const struct function_version *version, const struct code *code,
	uint32_t patched, uint8_t *scratch)
{
	uint64_t size = code->size;

	return version->code->size == size &&
	       code_bytes_at(version->code, version->patched, scratch) &&
	       code_bytes_at(code, patched, scratch + size) &&
	       memcmp(scratch, scratch + size, size) == 0;
}

/* The place of a version in the list, to which it is added where it is new. Versions of one run
 * stay apart even where a patch was undone. */
static uint32_t find(
	struct function *function, struct code *code, uint32_t patched, uint8_t *scratch)
{
	for (size_t i = 0; i < function->version_count; i++) {
		const struct function_version *version = &function->versions[i];
		if (version->code == code ? version->patched == patched
					  : same_bytes(version, code, patched, scratch))
			return (uint32_t)i;
	}
	function->versions = xreallocarray(function->versions,
		function->version_count + 1, sizeof(*function->versions));
	function->versions[function->version_count] =
		(struct function_version){code, patched};
	return (uint32_t)function->version_count++;
}

void versions_find(const struct profile *profile, struct function *function)
{
	if (!function->code || function->versions || !function->hits)
		return;
	uint64_t largest = function->code->size;
	struct code **codes = xcalloc(profile->input_count, sizeof(*codes));
	for (size_t i = 0; i < profile->input_count; i++) {
		codes[i] = code_in(profile->inputs[i], function);
		if (!codes[i])
			codes[i] = function->code;
		largest = codes[i]->size > largest ? codes[i]->size : largest;
	}
	cleanup_free uint8_t *scratch = xmalloc(2 * largest + 1);
	for (struct hit *hit = function->hits; hit; hit = hit->next) {
		struct code *code = codes[hit->run];
		uint32_t last = (uint32_t)code->patch_count;
		hit->epoch = find(
			function, code, hit->epoch < last ? hit->epoch : last, scratch);
	}
	free(codes);
}
