/* Jump arrows in a text listing: all jumps to one label share a lane beside the addresses. */
#include "annotate/listing.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	LANES = 8,
	LONGEST = 400, /* rows: what leads farther is left to its label */
};

struct arrow { /* from several rows to one */
	size_t first, last, target;
	bool used;
	int lane;
};

struct listing_arrows {
	const struct listing *listing;
	struct arrow *arrows; /* by label, owned */
	size_t count;
	/* For each lane the arrows in it, by row; owned. */
	struct arrow **lanes[LANES];
	size_t lane_counts[LANES];
	size_t next[LANES]; /* first arrow of each lane that does not end before `row` */
	size_t row;
	int width; /* lanes in use */
};

static int compare(const void *a, const void *b)
{
	const struct arrow *left = *(struct arrow *const *)a;
	const struct arrow *right = *(struct arrow *const *)b;
	size_t length = left->last - left->first, other = right->last - right->first;

	if (length != other)
		return length < other ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

static int compare_rows(const void *a, const void *b)
{
	const struct arrow *left = *(struct arrow *const *)a;
	const struct arrow *right = *(struct arrow *const *)b;

	return left->first < right->first ? -1 : left->first > right->first;
}

static void gather(struct listing_arrows *arrows, const struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++)
		if (listing->rows[i].label)
			arrows->count++;
	arrows->arrows = xcalloc(arrows->count + 1, sizeof(*arrows->arrows));
	for (size_t i = 0; i < listing->count; i++)
		if (listing->rows[i].label &&
			(size_t)listing->rows[i].label <= arrows->count)
			arrows->arrows[listing->rows[i].label - 1] =
				(struct arrow){.first = i, .last = i, .target = i};
	for (size_t i = 0; i < listing->count; i++) {
		int target = listing->rows[i].target;
		if (!target || (size_t)target > arrows->count)
			continue;
		struct arrow *arrow = &arrows->arrows[target - 1];
		size_t away = i > arrow->target ? i - arrow->target : arrow->target - i;
		if (away > LONGEST || !away)
			continue;
		arrow->used = true;
		arrow->first = i < arrow->first ? i : arrow->first;
		arrow->last = i > arrow->last ? i : arrow->last;
	}
}

static bool is_free(
	const struct listing_arrows *arrows, int lane, const struct arrow *arrow)
{
	for (size_t i = 0; i < arrows->lane_counts[lane]; i++) {
		const struct arrow *other = arrows->lanes[lane][i];
		if (other->first <= arrow->last && arrow->first <= other->last)
			return false;
	}
	return true;
}

/* Short arrows are near the code; each takes the first lane that is free along it. */
static void place(struct listing_arrows *arrows)
{
	struct arrow **list = xcalloc(arrows->count + 1, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < arrows->count; i++)
		if (arrows->arrows[i].used)
			list[count++] = &arrows->arrows[i];
	qsort(list, count, sizeof(*list), compare);
	for (int lane = 0; lane < LANES; lane++)
		arrows->lanes[lane] = xcalloc(count + 1, sizeof(*list));
	for (size_t i = 0; i < count; i++) {
		int lane = 0;
		while (lane < LANES && !is_free(arrows, lane, list[i]))
			lane++;
		if (lane == LANES)
			continue;
		list[i]->lane = lane;
		arrows->lanes[lane][arrows->lane_counts[lane]++] = list[i];
		if (lane + 1 > arrows->width)
			arrows->width = lane + 1;
	}
	for (int lane = 0; lane < LANES; lane++)
		qsort(arrows->lanes[lane], arrows->lane_counts[lane], sizeof(*list),
			compare_rows);
	free(list);
}

struct listing_arrows *listing_arrows_new(const struct listing *listing)
{
	struct listing_arrows *arrows = xcalloc(1, sizeof(*arrows));

	arrows->listing = listing;
	gather(arrows, listing);
	place(arrows);
	return arrows;
}

void listing_arrows_free(struct listing_arrows *arrows)
{
	for (int lane = 0; lane < LANES; lane++)
		free(arrows->lanes[lane]);
	free(arrows->arrows);
	free(arrows);
}

/* The arrow of the lane that is at `row`, or NULL. Rows are mostly asked for in order. */
static const struct arrow *arrow_at(struct listing_arrows *arrows, int lane, size_t row)
{
	size_t *next = &arrows->next[lane];

	if (row < arrows->row)
		*next = 0;
	while (*next < arrows->lane_counts[lane] &&
		arrows->lanes[lane][*next]->last < row)
		++*next;
	if (*next == arrows->lane_counts[lane])
		return NULL;
	const struct arrow *arrow = arrows->lanes[lane][*next];
	return arrow->first <= row ? arrow : NULL;
}

static char *put(char *text, const char *cell)
{
	size_t length = strlen(cell);

	memcpy(text, cell, length);
	return text + length;
}

void listing_arrows_between(struct listing_arrows *arrows, size_t row, char *text)
{
	if (arrows->width)
		text = put(text, " ");
	for (int lane = arrows->width - 1; lane >= 0; lane--) {
		const struct arrow *arrow = arrow_at(arrows, lane, row);
		text = put(text, arrow && arrow->first < row ? "│" : " ");
	}
	if (arrows->width)
		text = put(text, "   ");
	*text = '\0';
	arrows->row = row;
}

void listing_arrows_at(struct listing_arrows *arrows, size_t row, char *text)
{
	const int target = arrows->listing->rows[row].target;
	bool line = false, head = false;

	if (arrows->width)
		text = put(text, " ");
	for (int lane = arrows->width - 1; lane >= 0; lane--) {
		const struct arrow *arrow = arrow_at(arrows, lane, row);
		bool to = arrow && arrow->target == row;
		bool from = arrow && target && arrow == &arrows->arrows[target - 1];
		const char *cell = line ? "─" : " ";
		if (to || from) {
			cell = row == arrow->first  ? line ? "┬" : "╭"
			       : row == arrow->last ? line ? "┴" : "╰"
			       : line		    ? "┼"
						    : "├";
			line = true;
			head |= to;
		} else if (arrow) {
			cell = line ? "┼" : "│";
		}
		text = put(text, cell);
	}
	if (arrows->width)
		text = put(text, head ? "─▸ " : line ? "── " : "   ");
	*text = '\0';
	arrows->row = row;
}
