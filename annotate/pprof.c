/* The profile for pprof: the only file that knows protobuf-c. A location is a function: what
 * pprof shows by instruction it would take from the file, which JIT code has none of. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include "annotate/pprof.pb-c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pprof {
	Pprof__Profile *profile; /* owned, with all that is appended to it */
	struct tally strings, modules, frames;
	const struct stacks *stacks;
	uint64_t *locations; /* of each node's frame */
};

static int64_t string(struct pprof *pprof, const char *text)
{
	return (int64_t)tally_index(&pprof->strings, text);
}

/* Grows one of protobuf-c's arrays of pointers by `message`. */
static void append(void *array, size_t *count, void *message)
{
	void **list;

	memcpy(&list, array, sizeof(list));
	if ((*count & (*count - 1)) == 0)
		list = xreallocarray(list, *count ? *count * 2 : 1, sizeof(*list));
	list[(*count)++] = message;
	memcpy(array, &list, sizeof(list));
}

#define NEW(type, init)                                 \
	({                                              \
		type *message_ = xmalloc(sizeof(type)); \
		*message_ = (type)init;                 \
		message_;                               \
	})

static uint64_t mapping(struct pprof *pprof, const struct function *function)
{
	const char *name = function ? function->module_name : "[unknown]";
	size_t before = pprof->modules.count;
	uint64_t id = tally_index(&pprof->modules, name) + 1;

	if (pprof->modules.count == before)
		return id;
	Pprof__Mapping *mapping = NEW(Pprof__Mapping, PPROF__MAPPING__INIT);
	mapping->id = id;
	mapping->filename = string(pprof, name);
	mapping->has_functions = 1;
	append(&pprof->profile->mapping, &pprof->profile->n_mapping, mapping);
	return id;
}

/* A frame's location, function and line are made together and share their id. */
static uint64_t location(struct pprof *pprof, const struct stacks_node *node)
{
	const struct function *function = node->function;
	cleanup_free char *key = function ? xasprintf("%p", (const void *)function)
					  : xasprintf(" %s", node->name);
	size_t before = pprof->frames.count;
	uint64_t id = tally_index(&pprof->frames, key) + 1;

	if (pprof->frames.count == before)
		return id;
	Pprof__Function *made = NEW(Pprof__Function, PPROF__FUNCTION__INIT);
	made->id = id;
	made->name = string(pprof, node->name);
	made->system_name = string(pprof, function ? function->raw_name : node->name);
	append(&pprof->profile->function, &pprof->profile->n_function, made);
	Pprof__Line *line = NEW(Pprof__Line, PPROF__LINE__INIT);
	line->function_id = id;
	Pprof__Location *place = NEW(Pprof__Location, PPROF__LOCATION__INIT);
	place->id = id;
	place->mapping_id = mapping(pprof, function);
	place->address = function ? function->address : 0;
	append(&place->line, &place->n_line, line);
	append(&pprof->profile->location, &pprof->profile->n_location, place);
	return id;
}

static void add_sample(struct pprof *pprof, uint32_t index)
{
	const struct stacks *stacks = pprof->stacks;
	size_t depth = 0;

	for (uint32_t node = index; node; node = stacks->nodes[node].parent)
		depth++;
	Pprof__Sample *sample = NEW(Pprof__Sample, PPROF__SAMPLE__INIT);
	sample->location_id = xreallocarray(NULL, depth, sizeof(uint64_t));
	for (uint32_t node = index; node; node = stacks->nodes[node].parent)
		sample->location_id[sample->n_location_id++] = pprof->locations[node];
	sample->value = xmalloc(sizeof(int64_t));
	sample->value[0] = (int64_t)stacks->nodes[index].samples;
	sample->n_value = 1;
	append(&pprof->profile->sample, &pprof->profile->n_sample, sample);
}

static void add_type(struct pprof *pprof)
{
	Pprof__ValueType *type = NEW(Pprof__ValueType, PPROF__VALUE_TYPE__INIT);

	type->type = string(pprof, "samples");
	type->unit = string(pprof, "count");
	append(&pprof->profile->sample_type, &pprof->profile->n_sample_type, type);
}

static int save(const struct pprof *pprof, const char *path)
{
	size_t size = pprof__profile__get_packed_size(pprof->profile);
	cleanup_free uint8_t *packed = xmalloc(size);
	FILE *file = fopen(path, "we");

	if (!file)
		return -1;
	pprof__profile__pack(pprof->profile, packed);
	bool failed = fwrite(packed, 1, size, file) != size;
	return fclose(file) == 0 && !failed ? 0 : -1;
}

int pprof_write(struct writer *writer, const char *path)
{
	struct pprof pprof = {.profile = NEW(Pprof__Profile, PPROF__PROFILE__INIT),
		.stacks = writer->profile->stacks};
	const struct stacks *stacks = pprof.stacks;

	string(&pprof, ""); /* the first string has to be empty */
	add_type(&pprof);
	pprof.locations = xcalloc(stacks->count, sizeof(*pprof.locations));
	for (uint32_t i = 1; i < stacks->count; i++)
		pprof.locations[i] = location(&pprof, &stacks->nodes[i]);
	for (uint32_t i = 1; i < stacks->count; i++)
		if (stacks->nodes[i].samples)
			add_sample(&pprof, i);
	for (size_t i = 0; i < pprof.strings.count; i++)
		append(&pprof.profile->string_table, &pprof.profile->n_string_table,
			xstrdup(pprof.strings.list[i].name));
	int result = save(&pprof, path);
	int error = errno;
	pprof__profile__free_unpacked(pprof.profile, NULL);
	free(pprof.locations);
	tally_release(&pprof.strings);
	tally_release(&pprof.frames);
	tally_release(&pprof.modules);
	errno = error;
	return result;
}
