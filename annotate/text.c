/* The profile as text: a table of functions, then listings, coloured by heat on a
 * terminal. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <string.h>

enum {
	BYTES_SHOWN = 10, /* of an instruction, with --raw */
};

static const char RESET[] = "\033[0m", BOLD[] = "\033[1m", DIM[] = "\033[2m";

static const char *paint(const struct writer *writer, const char *code)
{
	return writer->colour ? code : "";
}

/* Shares of a function at which a row counts as hot, warm, lukewarm. */
static const char *heat(const struct writer *writer, uint64_t samples, uint64_t total)
{
	static const struct {
		unsigned percent;
		const char *code;
	} steps[] = {{10, "\033[1;31m"}, {3, "\033[33m"}, {1, "\033[32m"}};

	for (size_t i = 0; writer->colour && samples && i < ARRAY_SIZE(steps); i++)
		if (samples * 100 >= total * steps[i].percent)
			return steps[i].code;
	return "";
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static const char *kind_name(enum function_kind kind)
{
	static const char *const names[] = {"jit", "native", "kernel"};

	return names[kind];
}

static const char *short_module(const struct function *function)
{
	const char *slash = strrchr(function->module_name, '/');

	return slash && slash[1] ? slash + 1 : function->module_name;
}

static void write_tally(
	struct writer *writer, const char *title, const struct tally *tally)
{
	fputs(title, writer->out);
	for (size_t i = 0; i < tally->count; i++)
		fprintf(writer->out, "%s%" PRIu64 " %s", i ? ", " : " ",
			tally->list[i].count, tally->list[i].name);
	fputc('\n', writer->out);
}

static void write_head(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	fprintf(writer->out, "%s%" PRIu64 " samples%s", paint(writer, BOLD),
		profile->samples, paint(writer, RESET));
	if (profile->input_count > 1)
		fprintf(writer->out, " of %zu runs", profile->input_count);
	fprintf(writer->out, ", %" PRIu64 " lost\n", profile->lost);
	write_tally(writer, "events:", &profile->events);
	if (profile->comms.count)
		write_tally(writer, "commands:", &profile->comms);
	fputc('\n', writer->out);
}

static void write_table(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	uint64_t total = profile->event_samples, rest = 0;
	size_t shown = 0, more = 0;

	fprintf(writer->out, "%s  share   samples  kind    %-48s  module%s\n",
		paint(writer, BOLD), "function", paint(writer, RESET));
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct function *function = profile->functions[i];
		if (!function->samples)
			continue;
		if (writer->top && shown >= writer->top) {
			more++;
			rest += function->samples;
			continue;
		}
		shown++;
		fprintf(writer->out, "%s%6.2f%%  %8" PRIu64 "%s  %-6s  %-48s  %s%s%s\n",
			heat(writer, function->samples, total),
			percent(function->samples, total), function->samples,
			paint(writer, RESET), kind_name(function->kind), function->name,
			paint(writer, DIM), short_module(function), paint(writer, RESET));
	}
	if (more)
		fprintf(writer->out,
			"%6.2f%%  %8" PRIu64 "          … %zu more functions\n",
			percent(rest, total), rest, more);
	for (size_t i = 0; i < profile->unresolved.count; i++)
		if (profile->unresolved.list[i].count)
			fprintf(writer->out, "%6.2f%%  %8" PRIu64 "  -       [%s]\n",
				percent(profile->unresolved.list[i].count, total),
				profile->unresolved.list[i].count,
				profile->unresolved.list[i].name);
}

static void write_bytes(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	uint32_t shown = row->size < BYTES_SHOWN ? row->size : BYTES_SHOWN;

	for (uint32_t i = 0; i < shown; i++)
		fprintf(writer->out, "%02x ", listing->bytes[row->offset + i]);
	for (uint32_t i = shown; i < BYTES_SHOWN; i++)
		fputs("   ", writer->out);
	fputc(row->size > BYTES_SHOWN ? '+' : ' ', writer->out);
}

static void write_row(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	const struct function *function = listing->function;
	uint64_t address = function->address + row->offset;

	if (row->label)
		fprintf(writer->out, "%21sL%d:\n", "", row->label);
	if (row->samples)
		fprintf(writer->out, "%s%6.2f%% %8" PRIu64 "%s",
			heat(writer, row->samples, function->samples),
			percent(row->samples, function->samples), row->samples,
			paint(writer, RESET));
	else
		fprintf(writer->out, "%16s", "");
	fprintf(writer->out, " %c %s%12" PRIx64 "%s  ", row->patched ? '*' : ' ',
		paint(writer, DIM), address, paint(writer, RESET));
	if (writer->raw)
		write_bytes(writer, listing, row);
	const char *text = listing_text(listing, row->text);
	if (row->nops) {
		fprintf(writer->out, "%snop     (%u instructions, %u bytes)%s\n",
			paint(writer, DIM), row->nops, row->size, paint(writer, RESET));
		return;
	}
	if (row->target) /* the label says it better than the number */
		fprintf(writer->out, "%-7.*s L%d", (int)strcspn(text, " "), text,
			row->target);
	else
		fputs(text, writer->out);
	if (row->note)
		fprintf(writer->out, "  %s; %s%s", paint(writer, "\033[36m"),
			listing_text(listing, row->note), paint(writer, RESET));
	if (row->was)
		fprintf(writer->out, "  %s; loaded as: %s%s", paint(writer, "\033[35m"),
			listing_text(listing, row->was), paint(writer, RESET));
	fputc('\n', writer->out);
}

static void write_listing(struct writer *writer, const struct listing *listing)
{
	const struct function *function = listing->function;
	const struct profile *profile = writer->profile;

	fprintf(writer->out,
		"\n%s%s%s  %s, %s\n%#" PRIx64 ", %" PRIu64 " bytes, %" PRIu64
		" samples, %.2f%% of all; %s\n\n",
		paint(writer, BOLD), function->name, paint(writer, RESET),
		kind_name(function->kind), short_module(function), function->address,
		function->size, function->samples,
		percent(function->samples, profile->event_samples),
		listing->bytes ? listing->what : listing->missing);
	if (!listing->bytes) {
		for (struct hit *hit = function->hits; hit; hit = hit->next)
			fprintf(writer->out, "%6.2f%% %8" PRIu64 "   %12" PRIx64 "\n",
				percent(hit->count, function->samples), hit->count,
				function->address + hit->offset);
		return;
	}
	for (size_t i = 0; i < listing->count; i++)
		write_row(writer, listing, &listing->rows[i]);
	if (listing->outside)
		fprintf(writer->out,
			"%6.2f%% %8" PRIu64 "   beyond the bytes that are known\n",
			percent(listing->outside, function->samples), listing->outside);
}

void text_write(struct writer *writer)
{
	struct listing listing = {0};

	if (writer->table) {
		write_head(writer);
		write_table(writer);
	}
	for (size_t i = 0; i < writer->chosen_count; i++) {
		listing_build(writer->lister, &listing, writer->chosen[i]);
		write_listing(writer, &listing);
	}
	listing_release(&listing);
}
