/* `stablerun diff --json`; jansson stays inside this file.
 *
 * Keys: schema, runs [A, B], moved, mappings {file, compared, moved, groups [{first, count,
 * program, from, to}], only [{file, run}]}, stack and heap {from, to} or null, code {compared,
 * moved, only_a, only_b, resized, reordered, first {name, index, from, to}}, bytes {compared,
 * different, first {name, index, from, to: the offset}}, causes [{name, text, likely, explains [part]}].
 * Addresses are hex strings. */
#include "launcher/diff.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "launcher/base.h"

enum { SCHEMA = 1 };

static json_t *text(const char *string)
{
	json_t *value = string ? json_string(string) : json_null();

	if (value)
		return value;
	/* No UTF-8: bytes that make it none stand as '?'. */
	cleanup_free char *plain = xstrdup(string);
	for (char *c = plain; *c; c++)
		*c = (unsigned char)*c < 0x80 ? *c : '?';
	return json_string(plain);
}

static json_t *hex(uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%#" PRIx64, number);
	return json_string(digits);
}

static json_t *groups(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->mappings.group_count; i++) {
		const struct diff_group *group = &diff->mappings.groups[i];
		json_array_append_new(array,
			json_pack("{s:o,s:I,s:b,s:o,s:o}", "first", text(group->first),
				"count", (json_int_t)group->count, "program",
				group->program, "from", hex(group->from), "to",
				hex(group->to)));
	}
	return array;
}

static json_t *only(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->mappings.only_count; i++) {
		const struct diff_group *group = &diff->mappings.only[i];
		json_array_append_new(
			array, json_pack("{s:o,s:s}", "file", text(group->first), "run",
				       group->from ? "A" : "B"));
	}
	return array;
}

static json_t *mark(bool known, uint64_t from, uint64_t to)
{
	return known ? json_pack("{s:o,s:o}", "from", hex(from), "to", hex(to))
		     : json_null();
}

static json_t *first(const struct diff_first *found)
{
	if (!found->name)
		return json_null();
	return json_pack("{s:o,s:I,s:o,s:o}", "name", text(found->name), "index",
		(json_int_t)found->index, "from", hex(found->from), "to", hex(found->to));
}

static json_t *parts(unsigned explains)
{
	static const struct {
		unsigned part;
		const char *name;
	} names[] = {
		{DIFF_STACK, "stack"},
		{DIFF_HEAP, "heap"},
		{DIFF_PROGRAM, "program"},
		{DIFF_MAPPINGS, "mappings"},
		{DIFF_CODE, "code"},
		{DIFF_BYTES, "bytes"},
	};
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (explains & names[i].part)
			json_array_append_new(array, json_string(names[i].name));
	}
	return array;
}

static json_t *causes(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->cause_count; i++) {
		const struct diff_cause *cause = &diff->causes[i];
		json_array_append_new(
			array, json_pack("{s:s,s:o,s:b,s:o}", "name", cause->name, "text",
				       text(cause->text), "likely", cause->likely,
				       "explains", parts(cause->explains)));
	}
	return array;
}

int diff_print_json(const struct diff *diff, const char *a, const char *b, FILE *stream)
{
	json_t *root = json_pack("{s:i,s:[o,o],s:o}", "schema", SCHEMA, "runs", text(a),
		text(b), "moved", parts(diff->moved));

	json_object_set_new(root, "mappings",
		json_pack("{s:o,s:I,s:I,s:o,s:o}", "file", text(diff->mappings.file),
			"compared", (json_int_t)diff->mappings.compared, "moved",
			(json_int_t)diff->mappings.moved, "groups", groups(diff), "only",
			only(diff)));
	json_object_set_new(
		root, "stack", mark(diff->stack.known, diff->stack.from, diff->stack.to));
	json_object_set_new(
		root, "heap", mark(diff->heap.known, diff->heap.from, diff->heap.to));
	json_object_set_new(root, "code",
		json_pack("{s:I,s:I,s:I,s:I,s:b,s:b,s:o}", "compared",
			(json_int_t)diff->code.compared, "moved",
			(json_int_t)diff->code.moved, "only_a",
			(json_int_t)diff->code.only_a, "only_b",
			(json_int_t)diff->code.only_b, "resized", diff->code.resized,
			"reordered", diff->code.reordered, "first",
			first(&diff->code.first)));
	json_object_set_new(root, "bytes",
		json_pack("{s:I,s:I,s:o}", "compared", (json_int_t)diff->bytes.compared,
			"different", (json_int_t)diff->bytes.different, "first",
			first(&diff->bytes.first)));
	json_object_set_new(root, "causes", causes(diff));
	int result = json_dumpf(root, stream, JSON_INDENT(1));
	if (result == 0 && fputc('\n', stream) == EOF)
		result = -1;
	json_decref(root);
	return result;
}
