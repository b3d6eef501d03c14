/* The profile as one JSON object. The schema is described in annotate(1); fields are
 * added, never changed, within its number. Written as it goes: a listing of everything is
 * large. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	SCHEMA = 1,
};

static const char *const kinds[] = {"jit", "native", "kernel"};

/* Length of the valid UTF-8 sequence at `at`, or 0. */
static size_t utf8_length(const unsigned char *at)
{
	size_t more = at[0] >= 0xf0 && at[0] < 0xf5   ? 3
		      : at[0] >= 0xe0 && at[0] < 0xf0 ? 2
		      : at[0] >= 0xc2 && at[0] < 0xe0 ? 1
						      : 0;

	if (at[0] < 0x80)
		return 1;
	if (!more)
		return 0;
	for (size_t i = 1; i <= more; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and what is beyond Unicode. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) ||
		(at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90))
		return 0;
	return more + 1;
}

void json_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t length = utf8_length(at);
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f ||
			 *at == '<') /* '<': safe in a page */
			fprintf(out, "\\u%04x", *at);
		else if (!length)
			fputs("\\ufffd", out);
		else
			fwrite(at, 1, length, out);
		at += length ? length : 1;
	}
	fputc('"', out);
}

static void counts(FILE *out, const char *key, const struct tally *tally)
{
	const char *comma = "";

	fprintf(out, "\"%s\": {", key);
	for (size_t i = 0; i < tally->count; i++) {
		if (!tally->list[i].count)
			continue;
		fputs(comma, out);
		json_string(out, tally->list[i].name);
		fprintf(out, ": %" PRIu64, tally->list[i].count);
		comma = ", ";
	}
	fputs("},\n", out);
}

static void hex(FILE *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		fputc(digits[bytes[i] >> 4], out);
		fputc(digits[bytes[i] & 15], out);
	}
}

static void patches(
	FILE *out, const struct listing *listing, const struct listing_row *row)
{
	if (!row->patch_count)
		return;
	fputs(", \"patches\": [", out);
	for (size_t i = 0; i < row->patch_count; i++) {
		const struct patch *patch = listing->patches[row->first_patch + i].patch;
		fprintf(out,
			"%s{\"time\": %" PRIu64 ", \"address\": \"0x%" PRIx64
			"\", \"old\": \"",
			i ? ", " : "", patch->clock, patch->address);
		hex(out, patch->old, patch->size);
		fputs("\", \"new\": \"", out);
		hex(out, patch->new, patch->size);
		fputs("\", \"why\": ", out);
		json_string(out, patch->why);
		fputc('}', out);
	}
	fputc(']', out);
}

/* Names that stand one a line. */
static void inlined(FILE *out, const char *names)
{
	cleanup_free char *copy = xstrdup(names);
	const char *comma = ", \"inlined\": [";
	char *rest = copy;

	for (char *name; (name = strsep(&rest, "\n"));) {
		fputs(comma, out);
		json_string(out, name);
		comma = ", ";
	}
	fputc(']', out);
}

static void instructions(struct writer *writer, const struct listing *listing)
{
	FILE *out = writer->out;

	fprintf(out, ", \"%s\": ", listing->bytes ? "what" : "missing");
	json_string(out, listing->bytes ? listing->what : listing->missing);
	fputs(",\n  \"instructions\": [", out);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_row *row = &listing->rows[i];
		fprintf(out, "%s\n   {\"address\": \"0x%" PRIx64 "\", \"bytes\": \"",
			i ? "," : "", listing->function->address + row->offset);
		hex(out, listing->bytes + row->offset, row->size);
		fputs("\", \"text\": ", out);
		json_string(out, row->nops ? "nop" : listing_text(listing, row->text));
		fprintf(out, ", \"samples\": %" PRIu64, row->samples);
		if (row->note) {
			fputs(", \"constant\": ", out);
			json_string(out, listing_text(listing, row->note));
		}
		if (row->line) {
			fprintf(out, ", \"line\": %u, \"file\": ", row->line);
			json_string(out, listing_text(listing, row->file));
		}
		if (row->source) {
			fputs(", \"source\": ", out);
			json_string(out, listing_text(listing, row->source));
		}
		if (row->bytecode) {
			fputs(", \"bytecode\": ", out);
			json_string(out, listing_text(listing, row->bytecode));
		}
		if (row->inlined)
			inlined(out, listing_text(listing, row->inlined));
		if (row->label)
			fprintf(out, ", \"label\": %d", row->label);
		if (row->target)
			fprintf(out, ", \"target\": %d", row->target);
		if (row->leader)
			fprintf(out, ", \"block\": %" PRIu64, row->block);
		if (row->culprit)
			fputs(", \"culprit\": true", out);
		if (row->runs > 1)
			fprintf(out, ", \"runs\": %u", row->runs);
		patches(out, listing, row);
		if (row->was) {
			fputs(", \"loaded\": ", out);
			json_string(out, listing_text(listing, row->was));
		}
		fputc('}', out);
	}
	fputc(']', out);
}

/* One version of the bytes is "instructions"; several, with --bytes=sample, are
 * "versions", each with the number of patches made before it. */
static void versions(
	struct writer *writer, const struct function *function, struct listing *listing)
{
	FILE *out = writer->out;
	size_t count = 0;
	uint32_t *epochs = listing_epochs(writer->lister, function, &count);

	if (count > 1)
		fputs(",\n  \"versions\": [", out);
	for (size_t i = 0; i < count; i++) {
		listing_build(writer->lister, listing, function, epochs[i]);
		if (count > 1)
			fprintf(out, "%s{\"patched\": %u, \"samples\": %" PRIu64,
				i ? ",\n" : "",
				listing_version(function, epochs[i]).patched,
				listing->samples);
		instructions(writer, listing);
		if (count > 1)
			fputc('}', out);
	}
	if (count > 1)
		fputc(']', out);
	free(epochs);
}

/* Of several runs, how many samples each one has in the function. */
static void run_samples(struct writer *writer, const struct function *function)
{
	size_t count = writer->profile->input_count;

	if (count < 2)
		return;
	uint64_t *samples = xcalloc(count, sizeof(*samples));
	for (struct hit *hit = function->hits; hit; hit = hit->next)
		samples[hit->run] += hit->count;
	fputs(", \"run_samples\": [", writer->out);
	for (size_t i = 0; i < count; i++)
		fprintf(writer->out, "%s%" PRIu64, i ? ", " : "", samples[i]);
	fputc(']', writer->out);
	free(samples);
}

static void write_function(
	struct writer *writer, const struct function *function, struct listing *listing)
{
	FILE *out = writer->out;

	fputs("\n {\"name\": ", out);
	json_string(out, function->name);
	fprintf(out, ", \"kind\": \"%s\", \"module\": ", kinds[function->kind]);
	json_string(out, function->module_name);
	fprintf(out,
		", \"address\": \"0x%" PRIx64 "\", \"size\": %" PRIu64
		", \"samples\": %" PRIu64,
		function->address, function->size, function->samples);
	run_samples(writer, function);
	bool listed = false;
	for (size_t i = 0; i < writer->chosen_count && !listed && !writer->listings; i++)
		listed = writer->chosen[i] == function;
	if (listed || writer->listings)
		versions(writer, function, listing);
	fputc('}', out);
}

/* The tree of call stacks: [caller, name, samples with callees, function or -1, kind] a node,
 * callers first, the first being all; names and functions by their place in their lists. */
static void stacks(struct writer *writer)
{
	const struct stacks *from = writer->profile->stacks;
	struct tally names = {0};
	FILE *out = writer->out;

	fputs(",\n\"stacks\": [", out);
	for (size_t i = 0; i < from->count; i++) {
		const struct stacks_node *node = &from->nodes[i];
		int64_t index = node->function && node->function->samples
					? (int64_t)node->function->index
					: -1;
		fprintf(out, "%s[%u, %zu, %" PRIu64 ", %" PRId64 ", \"%s\"]",
			i ? "," : "", node->parent, tally_index(&names, node->name),
			node->total, index,
			node->function ? kinds[node->function->kind] : "");
	}
	fputs("],\n\"names\": [", out);
	for (size_t i = 0; i < names.count; i++) {
		fputs(i ? ", " : "", out);
		json_string(out, names.list[i].name);
	}
	fputc(']', out);
	tally_release(&names);
}

void json_write(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	struct listing listing = {0};
	FILE *out = writer->out;
	const char *comma = "";

	fprintf(out,
		"{\"schema\": %d,\n\"samples\": %" PRIu64 ",\n\"lost\": %" PRIu64 ",\n",
		SCHEMA, profile->samples, profile->lost);
	counts(out, "unresolved", &profile->unresolved);
	counts(out, "events", &profile->events);
	counts(out, "comms", &profile->comms);
	fputs("\"warnings\": [", out);
	for (size_t i = 0; i < profile->warnings->count; i++) {
		fputs(i ? ", " : "", out);
		json_string(out, profile->warnings->list[i]);
	}
	fputs("],\n\"runs\": [", out);
	for (size_t i = 0; i < profile->input_count; i++) {
		fputs(i ? ", {\"path\": " : "{\"path\": ", out);
		json_string(out, profile->inputs[i]->path);
		fprintf(out, ", \"samples\": %" PRIu64 ", \"lost\": %" PRIu64 "}",
			profile->inputs[i]->samples, profile->inputs[i]->lost);
	}
	fputs("],\n\"functions\": [", out);
	for (size_t i = 0; i < profile->function_count; i++) {
		if (!profile->functions[i]->samples)
			continue;
		fputs(comma, out);
		write_function(writer, profile->functions[i], &listing);
		comma = ",";
	}
	fputc(']', out);
	if (writer->profile->stacks)
		stacks(writer);
	fputs("}\n", out);
	listing_release(&listing);
}
