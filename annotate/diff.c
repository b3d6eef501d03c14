/* Two profiles side by side: functions by how much their share changed, and the instructions
 * of one of them, lined up where the code of both differs. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ROWS = 3000, /* of each side that are lined up; longer ones stand apart */
};

struct pair {
	const char *name;
	enum function_kind kind;
	uint64_t samples[2];
	struct function *functions[2]; /* the hottest of the name in each; may be one */
	double change;		       /* points */
};

struct diff {
	struct writer *writer;
	struct pair *pairs;
	size_t count;
	uint64_t totals[2];
};

static void count_sides(
	const struct profile *profile, const struct function *function, uint64_t sides[2])
{
	sides[0] = sides[1] = 0;
	for (struct hit *hit = function->hits; hit; hit = hit->next)
		sides[profile->inputs[hit->run]->side] += hit->count;
}

static int compare_names(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int compare_changes(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;
	double x = left->change < 0 ? -left->change : left->change;
	double y = right->change < 0 ? -right->change : right->change;

	if (x != y)
		return x > y ? -1 : 1;
	return compare_names(a, b);
}

/* Functions of one name and kind are one line: other code of it is what is compared. */
static void make_pairs(struct diff *diff)
{
	const struct profile *profile = diff->writer->profile;
	size_t kept = 0;

	diff->pairs = xcalloc(profile->function_count, sizeof(*diff->pairs));
	for (size_t i = 0; i < profile->function_count; i++) {
		struct function *function = profile->functions[i];
		struct pair *pair = &diff->pairs[diff->count];
		if (!function->samples)
			continue;
		pair->name = function->name;
		pair->kind = function->kind;
		count_sides(profile, function, pair->samples);
		for (int side = 0; side < 2; side++)
			if (pair->samples[side])
				pair->functions[side] = function;
		diff->count++;
	}
	qsort(diff->pairs, diff->count, sizeof(*diff->pairs), compare_names);
	for (size_t i = 0; i < diff->count; i++) {
		struct pair *from = &diff->pairs[i];
		struct pair *to = kept ? &diff->pairs[kept - 1] : NULL;
		if (!to || compare_names(to, from) != 0) {
			diff->pairs[kept++] = *from;
			continue;
		}
		for (int side = 0; side < 2; side++) {
			struct function *function = from->functions[side];
			if (function &&
				(!to->functions[side] ||
					function->samples > to->functions[side]->samples))
				to->functions[side] = function;
			to->samples[side] += from->samples[side];
		}
	}
	diff->count = kept;
}

static double share(const struct diff *diff, const struct pair *pair, int side)
{
	return diff->totals[side]
		       ? 100.0 * (double)pair->samples[side] / (double)diff->totals[side]
		       : 0;
}

static const char *paint(const struct diff *diff, double change)
{
	if (!diff->writer->colour || (change < 0.5 && change > -0.5))
		return "";
	return change > 0 ? "\033[31m" : "\033[32m";
}

static void write_table(struct diff *diff)
{
	FILE *out = diff->writer->out;
	const char *reset = diff->writer->colour ? "\033[0m" : "";
	size_t top = diff->writer->top;

	fprintf(out, "A: %" PRIu64 " samples of %s\nB: %" PRIu64 " samples of %s\n\n",
		diff->totals[0], diff->writer->sides[0], diff->totals[1],
		diff->writer->sides[1]);
	fputs("      A        B     B - A  samples A  samples B  kind    function\n",
		out);
	for (size_t i = 0; i < diff->count && (!top || i < top); i++) {
		const struct pair *pair = &diff->pairs[i];
		static const char *const kinds[] = {"jit", "native", "kernel"};
		bool other = pair->functions[0] && pair->functions[1] &&
			     pair->functions[0] != pair->functions[1];
		fprintf(out,
			"%6.2f%%  %6.2f%%  %s%+7.2f%s  %9" PRIu64 "  %9" PRIu64
			"  %-6s  %s%s\n",
			share(diff, pair, 0), share(diff, pair, 1),
			paint(diff, pair->change), pair->change, reset, pair->samples[0],
			pair->samples[1], kinds[pair->kind], pair->name,
			other ? "  (other code)" : "");
	}
	if (top && diff->count > top)
		fprintf(out, "%36s… %zu more functions\n", "", diff->count - top);
}

static void write_counts(FILE *out, uint64_t samples, uint64_t total)
{
	if (samples)
		fprintf(out, "%6.2f%% %7" PRIu64 " ",
			100.0 * (double)samples / (double)total, samples);
	else
		fprintf(out, "%16s", "");
}

static void write_row(struct diff *diff, const struct pair *pair,
	const struct listing *listing, const struct listing_row *row, uint64_t left,
	uint64_t right, char mark)
{
	FILE *out = diff->writer->out;
	const char *text = listing_text(listing, row->text);

	write_counts(out, left, pair->samples[0]);
	write_counts(out, right, pair->samples[1]);
	fprintf(out, " %c %12" PRIx64 "  ", mark,
		listing->function->address + row->offset);
	if (row->target)
		fprintf(out, "%-7.*s L%d", (int)strcspn(text, " "), text, row->target);
	else
		fputs(row->nops ? "nop" : text, out);
	if (row->note)
		fprintf(out, "  ; %s", listing_text(listing, row->note));
	fputc('\n', out);
}

/* Whether two rows do the same: numbers that are labels or have names count as those. */
static bool same(const struct listing *a, const struct listing_row *left,
	const struct listing *b, const struct listing_row *right)
{
	const char *text = listing_text(a, left->text),
		   *other = listing_text(b, right->text);
	size_t word = strcspn(text, " ");

	if (strncmp(text, other, word + 1) != 0)
		return false;
	if (left->note && right->note &&
		strcmp(listing_text(a, left->note), listing_text(b, right->note)) == 0)
		return true;
	if (left->target && right->target)
		return true;
	return strcmp(text, other) == 0;
}

/* The longest common sequence, by its table of lengths from the end. */
static void line_up(struct diff *diff, const struct pair *pair, const struct listing *a,
	const struct listing *b)
{
	size_t width = b->count + 1;
	uint16_t *lengths = xcalloc((a->count + 1) * width, sizeof(*lengths));

	for (size_t i = a->count; i-- > 0;)
		for (size_t k = b->count; k-- > 0;) {
			uint16_t down = lengths[(i + 1) * width + k];
			uint16_t right = lengths[i * width + k + 1];
			lengths[i * width + k] =
				same(a, &a->rows[i], b, &b->rows[k])
					? (uint16_t)(lengths[(i + 1) * width + k + 1] + 1)
				: down > right ? down
					       : right;
		}
	for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
		const struct listing_row *left = &a->rows[i], *right = &b->rows[k];
		if (i < a->count && k < b->count && same(a, left, b, right)) {
			write_row(
				diff, pair, b, right, left->samples, right->samples, ' ');
			i++;
			k++;
		} else if (k == b->count ||
			   (i < a->count && lengths[(i + 1) * width + k] >=
						    lengths[i * width + k + 1])) {
			write_row(diff, pair, a, left, left->samples, 0, '-');
			i++;
		} else {
			write_row(diff, pair, b, right, 0, right->samples, '+');
			k++;
		}
	}
	free(lengths);
}

static void write_listing(struct diff *diff, const struct pair *pair)
{
	struct listing listings[2] = {{0}, {0}};
	struct lister *lister = diff->writer->lister;
	FILE *out = diff->writer->out;

	fprintf(out, "\n%s: %.2f%% -> %.2f%%\n\n", pair->name, share(diff, pair, 0),
		share(diff, pair, 1));
	for (int side = 0; side < 2; side++)
		if (pair->functions[side]) {
			profile_sort(&pair->functions[side], 1);
			listing_build(lister, &listings[side], pair->functions[side],
				LISTING_EVERY_EPOCH);
		}
	struct listing *a = &listings[0], *b = &listings[1];
	if (pair->functions[0] == pair->functions[1]) {
		for (size_t i = 0; i < b->count; i++)
			write_row(diff, pair, b, &b->rows[i],
				b->rows[i].samples - b->rows[i].second, b->rows[i].second,
				' ');
	} else if (a->count > MOST_ROWS || b->count > MOST_ROWS) {
		for (size_t i = 0; i < a->count; i++)
			write_row(diff, pair, a, &a->rows[i], a->rows[i].samples, 0, '-');
		for (size_t i = 0; i < b->count; i++)
			write_row(diff, pair, b, &b->rows[i], 0, b->rows[i].samples, '+');
	} else {
		line_up(diff, pair, a, b);
	}
	listing_release(a);
	listing_release(b);
}

/* The one that is asked for, or that changed most. */
static const struct pair *choose(const struct diff *diff)
{
	const struct writer *writer = diff->writer;

	for (size_t i = 0; i < diff->count && writer->chosen_count; i++)
		if (strcmp(diff->pairs[i].name, writer->chosen[0]->name) == 0 &&
			diff->pairs[i].kind == writer->chosen[0]->kind)
			return &diff->pairs[i];
	return diff->count ? &diff->pairs[0] : NULL;
}

void diff_write(struct writer *writer)
{
	struct diff diff = {.writer = writer};
	const struct profile *profile = writer->profile;

	for (size_t i = 0; i < profile->input_count; i++)
		diff.totals[profile->inputs[i]->side] += profile->inputs[i]->samples;
	make_pairs(&diff);
	for (size_t i = 0; i < diff.count; i++)
		diff.pairs[i].change =
			share(&diff, &diff.pairs[i], 1) - share(&diff, &diff.pairs[i], 0);
	qsort(diff.pairs, diff.count, sizeof(*diff.pairs), compare_changes);
	write_table(&diff);
	const struct pair *pair = choose(&diff);
	if (pair && writer->table)
		write_listing(&diff, pair);
	free(diff.pairs);
}
