/* The profile as text: a table of functions, then listings, coloured by heat on a
 * terminal. */
#include "annotate/text.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	VERSIONS_SHOWN = 8, /* of one function */
	NAMES_SHOWN = 12,   /* of events and of commands, most samples first */
};

const char *text_paint(const struct writer *writer, const char *code)
{
	return writer->colour ? code : "";
}

/* Shares of a function at which a row counts as hot, warm, lukewarm. */
const char *text_heat(const struct writer *writer, uint64_t samples, uint64_t total)
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

double text_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

const char *text_kind(enum function_kind kind)
{
	static const char *const names[] = {"jit", "native", "kernel"};

	return names[kind];
}

const char *text_module(const struct function *function)
{
	const char *slash = strrchr(function->module_name, '/');

	return slash && slash[1] ? slash + 1 : function->module_name;
}

static void write_tally(
	struct writer *writer, const char *title, const struct tally *tally)
{
	const char *comma = "";

	fputs(title, writer->out);
	for (size_t i = 0; i < tally->count; i++) {
		if (!tally->list[i].count)
			continue;
		if (i >= NAMES_SHOWN && i + 1 < tally->count) {
			fprintf(writer->out, ", … %zu more", tally->count - i);
			break;
		}
		fprintf(writer->out, "%s %" PRIu64 " %s", comma, tally->list[i].count,
			tally->list[i].name);
		comma = ",";
	}
	fputc('\n', writer->out);
}

static void write_head(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	fprintf(writer->out, "%s%" PRIu64 " samples%s", text_paint(writer, TEXT_BOLD),
		profile->samples, text_paint(writer, TEXT_RESET));
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
		text_paint(writer, TEXT_BOLD), "function",
		text_paint(writer, TEXT_RESET));
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
			text_heat(writer, function->samples, total),
			text_share(function->samples, total), function->samples,
			text_paint(writer, TEXT_RESET), text_kind(function->kind),
			function->name, text_paint(writer, TEXT_DIM),
			text_module(function), text_paint(writer, TEXT_RESET));
	}
	if (more)
		fprintf(writer->out,
			"%6.2f%%  %8" PRIu64 "          … %zu more functions\n",
			text_share(rest, total), rest, more);
	for (size_t i = 0; i < profile->unresolved.count; i++)
		if (profile->unresolved.list[i].count)
			fprintf(writer->out, "%6.2f%%  %8" PRIu64 "  -       [%s]\n",
				text_share(profile->unresolved.list[i].count, total),
				profile->unresolved.list[i].count,
				profile->unresolved.list[i].name);
}

static void write_function(
	struct writer *writer, struct listing *listing, const struct function *function)
{
	size_t count = 0;
	uint32_t *epochs = listing_epochs(writer->lister, function, &count);

	for (size_t i = 0; i < count; i++) {
		if (i == VERSIONS_SHOWN && !writer->listings) {
			fprintf(writer->out, "\n%zu more versions were sampled (--all)\n",
				count - i);
			break;
		}
		listing_build(writer->lister, listing, function, epochs[i]);
		if (writer->wrote)
			fputc('\n', writer->out);
		writer->wrote = true;
		text_listing(writer, listing);
	}
	free(epochs);
}

void text_write(struct writer *writer)
{
	struct listing listing = {0};

	if (writer->table) {
		write_head(writer);
		writer->wrote = true;
		write_table(writer);
	}
	for (size_t i = 0; i < writer->chosen_count; i++) {
		write_function(writer, &listing, writer->chosen[i]);
	}
	listing_release(&listing);
}
