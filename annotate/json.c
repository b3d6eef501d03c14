/* The profile as one JSON object. The schema is described in annotate(1); fields are
 * added, never changed, within its number. Written as it goes: a listing of everything is
 * large. */
#include "annotate/writer.h"

#include <inttypes.h>
#include <string.h>

enum {
	SCHEMA = 1,
};

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

static void string(FILE *out, const char *text)
{
	fputc('"', out);
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t length = utf8_length(at);
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
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
		string(out, tally->list[i].name);
		fprintf(out, ": %" PRIu64, tally->list[i].count);
		comma = ", ";
	}
	fputs("},\n", out);
}

static void instructions(struct writer *writer, const struct listing *listing)
{
	FILE *out = writer->out;

	fputs(",\n  \"instructions\": [", out);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_row *row = &listing->rows[i];
		fprintf(out, "%s\n   {\"address\": \"0x%" PRIx64 "\", \"bytes\": \"",
			i ? "," : "", listing->function->address + row->offset);
		for (uint32_t k = 0; k < row->size; k++) {
			static const char digits[] = "0123456789abcdef";
			uint8_t byte = listing->bytes[row->offset + k];
			fputc(digits[byte >> 4], out);
			fputc(digits[byte & 15], out);
		}
		fputs("\", \"text\": ", out);
		string(out, row->nops ? "nop" : listing_text(listing, row->text));
		fprintf(out, ", \"samples\": %" PRIu64, row->samples);
		if (row->note) {
			fputs(", \"constant\": ", out);
			string(out, listing_text(listing, row->note));
		}
		if (row->was) {
			fputs(", \"loaded\": ", out);
			string(out, listing_text(listing, row->was));
		}
		fputc('}', out);
	}
	fputc(']', out);
}

static void write_function(
	struct writer *writer, const struct function *function, struct listing *listing)
{
	static const char *const kinds[] = {"jit", "native", "kernel"};
	FILE *out = writer->out;

	fputs("\n {\"name\": ", out);
	string(out, function->name);
	fprintf(out, ", \"kind\": \"%s\", \"module\": ", kinds[function->kind]);
	string(out, function->module_name);
	fprintf(out,
		", \"address\": \"0x%" PRIx64 "\", \"size\": %" PRIu64
		", \"samples\": %" PRIu64,
		function->address, function->size, function->samples);
	bool listed = false;
	for (size_t i = 0; i < writer->chosen_count && !listed; i++)
		listed = writer->chosen[i] == function;
	if (listed || writer->listings) {
		listing_build(writer->lister, listing, function);
		instructions(writer, listing);
	}
	fputc('}', out);
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
		string(out, profile->warnings->list[i]);
	}
	fputs("],\n\"runs\": [", out);
	for (size_t i = 0; i < profile->input_count; i++) {
		fputs(i ? ", {\"path\": " : "{\"path\": ", out);
		string(out, profile->inputs[i]->path);
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
	fputs("]}\n", out);
	listing_release(&listing);
}
