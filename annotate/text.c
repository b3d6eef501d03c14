/* The profile as text: a table of functions, then listings, coloured by heat on a
 * terminal. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	BYTES_SHOWN = 10,    /* of an instruction, with --raw */
	MARGIN = 256,	     /* bytes left of an instruction, colours included */
	LONGEST_PATCH = 16,  /* bytes */
	PATCHES_SHOWN = 8,   /* of one instruction */
	VERSIONS_SHOWN = 8,  /* of one function */
	NEAR = 6,	     /* rows around samples that are shown */
	FEWEST_LEFT_OUT = 6, /* rows */
	SHORT = 60,	     /* rows of a listing that is shown whole */
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
	const char *comma = "";

	fputs(title, writer->out);
	for (size_t i = 0; i < tally->count; i++) {
		if (!tally->list[i].count)
			continue;
		fprintf(writer->out, "%s %" PRIu64 " %s", comma, tally->list[i].count,
			tally->list[i].name);
		comma = ",";
	}
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

static void write_notes(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	const char *cyan = paint(writer, "\033[36m"),
		   *magenta = paint(writer, "\033[35m");

	if (row->note)
		fprintf(writer->out, "  %s; %s%s", cyan, listing_text(listing, row->note),
			paint(writer, RESET));
	if (row->was)
		fprintf(writer->out, "  %s; loaded as: %s%s", magenta,
			listing_text(listing, row->was), paint(writer, RESET));
}

static void write_hex(struct writer *writer, const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size && i < LONGEST_PATCH; i++)
		fprintf(writer->out, " %02x", bytes[i]);
	if (size > LONGEST_PATCH)
		fputs(" …", writer->out);
}

/* Beside what is written before row `index`. */
static void write_between(struct writer *writer, size_t index)
{
	char text[LISTING_ARROWS_ROOM] = "";

	if (writer->arrows)
		listing_arrows_between(writer->arrows, index, text);
	fprintf(writer->out, "%19s%s%s%s", "", paint(writer, DIM), text,
		paint(writer, RESET));
}

/* The history of a patchpoint, at the first instruction that it changed. */
static void write_patches(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	uint64_t begin = listing->function->input->first_sample;
	size_t next = (size_t)(row - listing->rows) + 1;

	for (size_t i = 0; i < row->patch_count; i++) {
		const struct listing_patch *entry =
			&listing->patches[row->first_patch + i];
		const struct patch *patch = entry->patch;
		if (patch->offset < row->offset)
			continue;
		write_between(writer, next);
		if (i == PATCHES_SHOWN && row->patch_count > PATCHES_SHOWN + 1) {
			fprintf(writer->out, "%16s%s%zu more patches%s\n", "",
				paint(writer, DIM), row->patch_count - i,
				paint(writer, RESET));
			return;
		}
		fprintf(writer->out, "%16s%spatched at %+.6f s:", "", paint(writer, DIM),
			((double)patch->clock - (double)begin) / 1e9);
		write_hex(writer, patch->old, patch->size);
		fputs(" ->", writer->out);
		write_hex(writer, patch->new, patch->size);
		fprintf(writer->out, "  %s%s\n", patch->why, paint(writer, RESET));
	}
}

/* Where another function's code begins to be inlined, or ends to be. */
static void write_inlined(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	size_t before = row > listing->rows ? row[-1].inlined : 0;

	if (row->inlined == before)
		return;
	write_between(writer, (size_t)(row - listing->rows));
	const char *name = listing_text(listing, row->inlined);
	fprintf(writer->out, "%sin %s%s", paint(writer, "\033[34m"),
		listing->function->name, *name ? " > " : "");
	for (; *name; name++)
		if (*name == '\n')
			fputs(" > ", writer->out);
		else
			fputc(*name, writer->out);
	fprintf(writer->out, "%s\n", paint(writer, RESET));
}

/* What stands above an instruction: the source line, the label with its block's total. */
static void write_above(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	size_t index = (size_t)(row - listing->rows);

	if (row->inlined || index)
		write_inlined(writer, listing, row);
	if (row->source) {
		write_between(writer, index);
		fprintf(writer->out, "%s%s%s\n", paint(writer, "\033[34m"),
			listing_text(listing, row->source), paint(writer, RESET));
	}
	bool block = row->leader && row->block && (row->label || index);
	if (block || row->label)
		write_between(writer, index);
	if (block) {
		char label[16] = "";
		if (row->label)
			snprintf(label, sizeof(label), "L%d:", row->label);
		fprintf(writer->out, "%-8s %sblock %.2f%%, %" PRIu64 "%s\n", label,
			paint(writer, DIM), percent(row->block, listing->samples),
			row->block, paint(writer, RESET));
	} else if (row->label) {
		fprintf(writer->out, "L%d:\n", row->label);
	}
	if (row->bytecode) {
		write_between(writer, index);
		fprintf(writer->out, "  %s%s%s\n", paint(writer, DIM),
			listing_text(listing, row->bytecode), paint(writer, RESET));
	}
}

/* Rows are many: they are put together by hand, which is several times faster than by
 * printf(). */
struct line {
	char text[MARGIN];
	size_t used;
};

static void put(struct line *line, const char *text)
{
	size_t length = strlen(text);

	if (length > MARGIN - line->used)
		length = MARGIN - line->used;
	memcpy(line->text + line->used, text, length);
	line->used += length;
}

/* A number in `width` columns, right-aligned. */
static void put_number(struct line *line, uint64_t number, unsigned base, int width)
{
	char digits[24];
	int at = (int)sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[number % base];
	while ((number /= base) && at > 0);
	for (int i = (int)sizeof(digits) - at; i < width; i++)
		put(line, " ");
	if (line->used + sizeof(digits) < MARGIN) {
		memcpy(line->text + line->used, digits + at, sizeof(digits) - (size_t)at);
		line->used += sizeof(digits) - (size_t)at;
	}
}

/* As "%6.2f%%" has it. */
static void put_percent(struct line *line, uint64_t part, uint64_t whole)
{
	uint64_t hundredths = (part * 10000 + whole / 2) / whole;

	put_number(line, hundredths / 100, 10, 3);
	put(line, hundredths % 100 < 10 ? ".0" : ".");
	put_number(line, hundredths % 100, 10, 1);
	put(line, "%");
}

static void write_margin(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	struct line line = {.used = 0};
	bool runs = writer->profile->input_count > 1;

	if (row->samples) {
		put(&line, heat(writer, row->samples, listing->samples));
		put_percent(&line, row->samples, listing->samples);
		put(&line, " ");
		put_number(&line, row->samples, 10, 8);
		put(&line, paint(writer, RESET));
		if (runs)
			put_number(&line, row->runs, 10, 5);
	} else {
		put(&line, runs ? "                     " : "                ");
	}
	put(&line, row->culprit ? " >" : "  ");
	put(&line, row->patched || row->patch_count ? "*" : " ");
	put(&line, paint(writer, DIM));
	if (writer->arrows) {
		char text[LISTING_ARROWS_ROOM];
		listing_arrows_at(writer->arrows, (size_t)(row - listing->rows), text);
		put(&line, text);
	}
	put_number(&line, listing->function->address + row->offset, 16, 12);
	put(&line, paint(writer, RESET));
	put(&line, "  ");
	fwrite(line.text, 1, line.used, writer->out);
}

static void write_row(struct writer *writer, const struct listing *listing,
	const struct listing_row *row)
{
	const char *text = listing_text(listing, row->text);

	write_above(writer, listing, row);
	write_margin(writer, listing, row);
	if (writer->raw)
		write_bytes(writer, listing, row);
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
	if (row->note || row->was)
		write_notes(writer, listing, row);
	putc('\n', writer->out);
	if (row->patch_count)
		write_patches(writer, listing, row);
}

static void write_legend(struct writer *writer, const struct listing *listing)
{
	bool culprits = false, patched = false;

	for (size_t i = 0; i < listing->count; i++) {
		culprits |= listing->rows[i].culprit;
		patched |= listing->rows[i].patched || listing->rows[i].patch_count;
	}
	if (culprits)
		fputs("> the slow instruction that the samples behind it likely waited "
		      "for\n",
			writer->out);
	if (patched)
		fputs("* patched after it was loaded\n", writer->out);
	fputc('\n', writer->out);
}

/* How many rows from `from` on are far from every sampled one. */
static size_t far_rows(const struct listing *listing, size_t from, size_t last)
{
	size_t end = from;

	if (last < listing->count && from - last <= NEAR)
		return 0;
	while (end < listing->count && !listing->rows[end].samples)
		end++;
	if (end < listing->count)
		end = end - from > NEAR ? end - NEAR : from;
	return end - from;
}

/* People look before they read: stretches where nothing was sampled are left out. */
static void write_rows(struct writer *writer, const struct listing *listing)
{
	bool whole = writer->full || !listing->samples || listing->count <= SHORT;
	size_t last = SIZE_MAX, source = 0; /* row with samples; source line that holds */

	for (size_t i = 0; i < listing->count;) {
		size_t skip = whole ? 0 : far_rows(listing, i, last);
		if (skip > FEWEST_LEFT_OUT) {
			write_between(writer, i + skip);
			fprintf(writer->out, "%s… %zu instructions without samples%s\n",
				paint(writer, DIM), skip, paint(writer, RESET));
			for (size_t end = i + skip; i < end; i++)
				source = listing->rows[i].source ? listing->rows[i].source
								 : source;
			if (i < listing->count && source && !listing->rows[i].source) {
				write_between(writer, i);
				fprintf(writer->out, "%s%s%s\n",
					paint(writer, "\033[34m"),
					listing_text(listing, source),
					paint(writer, RESET));
			}
			continue;
		}
		if (listing->rows[i].samples)
			last = i;
		if (listing->rows[i].source)
			source = listing->rows[i].source;
		write_row(writer, listing, &listing->rows[i++]);
	}
}

static void write_listing(struct writer *writer, const struct listing *listing)
{
	const struct function *function = listing->function;

	if (writer->wrote)
		fputc('\n', writer->out);
	writer->wrote = true;
	fprintf(writer->out,
		"%s%s%s  %s, %s\n%#" PRIx64 ", %" PRIu64 " bytes, %" PRIu64
		" samples, %.2f%% of all; %s",
		paint(writer, BOLD), function->name, paint(writer, RESET),
		kind_name(function->kind), short_module(function), function->address,
		function->size, listing->samples,
		percent(listing->samples, writer->profile->event_samples),
		listing->bytes ? listing->what : listing->missing);
	if (listing->epoch != LISTING_EVERY_EPOCH)
		fprintf(writer->out, ", after %u of %zu patches", listing->epoch,
			function->code->patch_count);
	fputc('\n', writer->out);
	write_legend(writer, listing);
	for (struct hit *hit = listing->bytes ? NULL : function->hits; hit;
		hit = hit->next)
		fprintf(writer->out, "%6.2f%% %8" PRIu64 "   %12" PRIx64 "\n",
			percent(hit->count, function->samples), hit->count,
			function->address + hit->offset);
	writer->arrows = listing_arrows_new(listing);
	write_rows(writer, listing);
	listing_arrows_free(writer->arrows);
	writer->arrows = NULL;
	if (listing->outside && listing->bytes)
		fprintf(writer->out,
			"%6.2f%% %8" PRIu64 "   beyond the bytes that are known\n",
			percent(listing->outside, function->samples), listing->outside);
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
		write_listing(writer, listing);
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
