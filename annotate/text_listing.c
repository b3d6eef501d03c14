/* A listing as text: instructions with samples, jump arrows, source lines, patches. */
#include "annotate/pen.h"
#include "annotate/text.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	BYTES_SHOWN = 10,    /* of an instruction, with --raw */
	LONGEST_PATCH = 16,  /* bytes */
	PATCHES_SHOWN = 8,   /* of one instruction */
	NEAR = 6,	     /* rows around samples that are shown */
	FEWEST_LEFT_OUT = 6, /* rows */
	SHORT = 60,	     /* rows of a listing that is shown whole */
	MARGIN = 19,	     /* columns of share, samples and marks; … */
	RUNS = 5,	     /* … of the number of runs, where there are several */
	LABEL = 8,
	MNEMONIC = 8,
	ADDRESS = 12,
};

struct page {
	const struct writer *writer;
	const struct listing *listing;
	struct listing_arrows *arrows;
	struct pen *pen;
	bool runs; /* there are several */
};

static void put(const struct page *page, const char *text)
{
	pen_put(page->pen, text);
}

static void paint(const struct page *page, const char *code)
{
	if (page->writer->colour)
		pen_put(page->pen, code);
}

static const char *text_of(const struct page *page, size_t place)
{
	return listing_text(page->listing, place);
}

static size_t index_of(const struct page *page, const struct listing_row *row)
{
	return (size_t)(row - page->listing->rows);
}

/* Beside what is written before row `index`. */
static void put_between(const struct page *page, size_t index)
{
	char arrows[LISTING_ARROWS_ROOM];

	pen_blanks(page->pen, MARGIN + (page->runs ? RUNS : 0));
	listing_arrows_between(page->arrows, index, arrows);
	paint(page, TEXT_DIM);
	put(page, arrows);
	paint(page, TEXT_RESET);
}

/* A line of its own, in one colour. */
static void put_line(
	const struct page *page, size_t index, const char *code, const char *text)
{
	put_between(page, index);
	paint(page, code);
	put(page, text);
	paint(page, TEXT_RESET);
	put(page, "\n");
}

static void put_bytes(const struct page *page, const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++) {
		pen_number(page->pen, bytes[i] >> 4, 16, 1);
		pen_number(page->pen, bytes[i] & 15, 16, 1);
		put(page, " ");
	}
}

static void put_raw(const struct page *page, const struct listing_row *row)
{
	uint32_t shown = row->size < BYTES_SHOWN ? row->size : BYTES_SHOWN;

	put_bytes(page, page->listing->bytes + row->offset, shown);
	pen_blanks(page->pen, 3 * (BYTES_SHOWN - shown));
	put(page, row->size > BYTES_SHOWN ? "+" : " ");
}

static void put_patch(const struct page *page, const struct patch *patch)
{
	double begin = (double)page->listing->function->input->first_sample;
	cleanup_free char *when =
		xasprintf("patched at %+.6f s: ", ((double)patch->clock - begin) / 1e9);
	uint64_t shown = patch->size < LONGEST_PATCH ? patch->size : LONGEST_PATCH;

	put(page, when);
	put_bytes(page, patch->old, shown);
	put(page, shown < patch->size ? "… -> " : "-> ");
	put_bytes(page, patch->new, shown);
	put(page, shown < patch->size ? "…  " : " ");
	put(page, patch->why);
}

/* The history of a patchpoint, at the first instruction that it changed. */
static void put_patches(const struct page *page, const struct listing_row *row)
{
	for (size_t i = 0; i < row->patch_count; i++) {
		const struct patch *patch =
			page->listing->patches[row->first_patch + i].patch;
		if (patch->offset < row->offset)
			continue;
		put_between(page, index_of(page, row) + 1);
		pen_blanks(page->pen, ADDRESS + 2);
		paint(page, TEXT_DIM);
		bool last = i == PATCHES_SHOWN && row->patch_count > PATCHES_SHOWN + 1;
		if (last) {
			pen_number(page->pen, row->patch_count - i, 10, 1);
			put(page, " more patches");
		} else {
			put_patch(page, patch);
		}
		paint(page, TEXT_RESET);
		put(page, "\n");
		if (last)
			return;
	}
}

/* Where another function's code begins to be inlined, or ends to be. */
static void put_inlined(const struct page *page, const struct listing_row *row)
{
	const char *name = text_of(page, row->inlined);

	put_between(page, index_of(page, row));
	paint(page, TEXT_SOURCE);
	put(page, "in ");
	put(page, page->listing->function->name);
	while (*name) {
		size_t length = strcspn(name, "\n");
		put(page, " > ");
		pen_put_bytes(page->pen, name, length);
		name += length + (name[length] == '\n');
	}
	paint(page, TEXT_RESET);
	put(page, "\n");
}

static void put_label(const struct page *page, const struct listing_row *row, bool block)
{
	char label[LABEL + 8] = "";

	if (row->label)
		snprintf(label, sizeof(label), "L%d:", row->label);
	put(page, label);
	if (block) {
		size_t length = strlen(label);
		pen_blanks(page->pen, length < LABEL ? LABEL - length + 1 : 1);
		paint(page, TEXT_DIM);
		put(page, "block ");
		pen_percent(page->pen, row->block, page->listing->samples, 1);
		put(page, ", ");
		pen_number(page->pen, row->block, 10, 1);
		paint(page, TEXT_RESET);
	}
	put(page, "\n");
}

/* What stands above an instruction: the source line, the label with its block's total. */
static void put_above(const struct page *page, const struct listing_row *row)
{
	size_t index = index_of(page, row);
	size_t before = index ? row[-1].inlined : 0;

	if (row->inlined != before)
		put_inlined(page, row);
	if (row->source)
		put_line(page, index, TEXT_SOURCE, text_of(page, row->source));
	bool block = row->leader && row->block && (row->label || index);
	if (block || row->label) {
		put_between(page, index);
		put_label(page, row, block);
	}
	if (row->bytecode) {
		put_between(page, index);
		paint(page, TEXT_DIM);
		put(page, "  ");
		put(page, text_of(page, row->bytecode));
		paint(page, TEXT_RESET);
		put(page, "\n");
	}
}

static void put_margin(const struct page *page, const struct listing_row *row)
{
	const struct listing *listing = page->listing;
	char arrows[LISTING_ARROWS_ROOM];

	if (row->samples) {
		put(page, text_heat(page->writer, row->samples, listing->samples));
		pen_percent(page->pen, row->samples, listing->samples, 3);
		put(page, " ");
		pen_number(page->pen, row->samples, 10, 8);
		paint(page, TEXT_RESET);
		if (page->runs)
			pen_number(page->pen, row->runs, 10, RUNS);
	} else {
		pen_blanks(page->pen, MARGIN - 3 + (page->runs ? RUNS : 0));
	}
	put(page, row->culprit ? " >" : "  ");
	put(page, row->patched || row->patch_count ? "*" : " ");
	paint(page, TEXT_DIM);
	listing_arrows_at(page->arrows, index_of(page, row), arrows);
	put(page, arrows);
	pen_number(page->pen, listing->function->address + row->offset, 16, ADDRESS);
	paint(page, TEXT_RESET);
	put(page, "  ");
}

static void put_instruction(const struct page *page, const struct listing_row *row)
{
	const char *text = text_of(page, row->text);
	size_t word = strcspn(text, " ");

	if (!row->target) {
		put(page, text);
	} else { /* the label says it better than the number */
		pen_put_bytes(page->pen, text, word);
		pen_blanks(page->pen, word < MNEMONIC ? MNEMONIC - word : 1);
		put(page, "L");
		pen_number(page->pen, (uint64_t)row->target, 10, 1);
	}
	if (row->note) {
		put(page, "  ");
		paint(page, TEXT_NOTE);
		put(page, "; ");
		put(page, text_of(page, row->note));
		paint(page, TEXT_RESET);
	}
	if (row->was) {
		put(page, "  ");
		paint(page, TEXT_WAS);
		put(page, "; loaded as: ");
		put(page, text_of(page, row->was));
		paint(page, TEXT_RESET);
	}
}

static void put_row(const struct page *page, const struct listing_row *row)
{
	put_above(page, row);
	put_margin(page, row);
	if (page->writer->raw)
		put_raw(page, row);
	if (row->nops) {
		paint(page, TEXT_DIM);
		put(page, "nop     (");
		pen_number(page->pen, row->nops, 10, 1);
		put(page, " instructions, ");
		pen_number(page->pen, row->size, 10, 1);
		put(page, " bytes)");
		paint(page, TEXT_RESET);
	} else {
		put_instruction(page, row);
	}
	put(page, "\n");
	if (row->patch_count)
		put_patches(page, row);
}

static void put_legend(const struct page *page)
{
	const struct listing *listing = page->listing;
	bool culprits = false, patched = false;

	for (size_t i = 0; i < listing->count; i++) {
		culprits |= listing->rows[i].culprit;
		patched |= listing->rows[i].patched || listing->rows[i].patch_count;
	}
	if (culprits)
		put(page,
			"> the slow instruction that the samples behind it likely waited "
			"for\n");
	if (patched)
		put(page, "* patched after it was loaded\n");
	put(page, "\n");
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

/* Says how many rows are left out, and which source line holds behind them. */
static void put_left_out(
	const struct page *page, size_t from, size_t count, size_t source)
{
	const struct listing *listing = page->listing;
	size_t end = from + count;
	cleanup_free char *text = xasprintf("… %zu instructions without samples", count);

	put_line(page, end, TEXT_DIM, text);
	for (size_t i = from; i < end; i++)
		if (listing->rows[i].source)
			source = listing->rows[i].source;
	if (end < listing->count && source && !listing->rows[end].source)
		put_line(page, end, TEXT_SOURCE, text_of(page, source));
}

/* People look before they read: stretches where nothing was sampled are left out. */
static void put_rows(const struct page *page)
{
	const struct listing *listing = page->listing;
	bool whole = page->writer->full || !listing->samples || listing->count <= SHORT;
	size_t last = SIZE_MAX, source = 0; /* row with samples; source line that holds */

	for (size_t i = 0; i < listing->count;) {
		size_t skip = whole ? 0 : far_rows(listing, i, last);
		if (skip > FEWEST_LEFT_OUT) {
			put_left_out(page, i, skip, source);
			i += skip;
			continue;
		}
		if (listing->rows[i].samples)
			last = i;
		if (listing->rows[i].source)
			source = listing->rows[i].source;
		put_row(page, &listing->rows[i++]);
	}
}

static void write_heading(const struct writer *writer, const struct listing *listing)
{
	const struct function *function = listing->function;

	fprintf(writer->out,
		"%s%s%s  %s, %s\n%#" PRIx64 ", %" PRIu64 " bytes, %" PRIu64
		" samples, %.2f%% of all; %s",
		text_paint(writer, TEXT_BOLD), function->name,
		text_paint(writer, TEXT_RESET), text_kind(function->kind),
		text_module(function), function->address, function->size,
		listing->samples,
		text_share(listing->samples, writer->profile->event_samples),
		listing->bytes ? listing->what : listing->missing);
	if (listing->epoch != LISTING_EVERY_EPOCH) {
		struct function_version version =
			listing_version(function, listing->epoch);
		fprintf(writer->out, ", after %u of %zu patches", version.patched,
			version.code->patch_count);
	}
	fputc('\n', writer->out);
}

void text_listing(struct writer *writer, const struct listing *listing)
{
	static struct pen pen;
	const struct function *function = listing->function;
	struct page page = {writer, listing, listing_arrows_new(listing), &pen,
		writer->profile->input_count > 1};

	write_heading(writer, listing);
	pen.out = writer->out;
	put_legend(&page);
	for (struct hit *hit = listing->bytes ? NULL : function->hits; hit;
		hit = hit->next) {
		pen_percent(&pen, hit->count, function->samples, 3);
		pen_number(&pen, hit->count, 10, 9);
		put(&page, "   ");
		pen_number(&pen, function->address + hit->offset, 16, ADDRESS);
		put(&page, "\n");
	}
	put_rows(&page);
	pen_flush(&pen);
	listing_arrows_free(page.arrows);
	if (listing->outside && listing->bytes)
		fprintf(writer->out,
			"%6.2f%% %8" PRIu64 "   beyond the bytes that are known\n",
			text_share(listing->outside, function->samples),
			listing->outside);
}
