/* The system calls that carry a layout out. Pure: from a layout to a list.
 *
 * Nothing has moved before `first_move`; what comes before can be taken back with the
 * calls of place_calls_undo(). From there on the program is broken until all are made. */
#ifndef LAUNCHER_PLACE_CALLS_H
#define LAUNCHER_PLACE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/place_layout.h"
#include "launcher/remote.h"

enum {
	/* Two moves and two changes of protection a mapping, and the rest. */
	PLACE_CALLS = 4 * PLACE_MAPS + 16,
	PLACE_AUXV_MOST = 128, /* words */
};

struct place_calls {
	struct remote_call items[PLACE_CALLS];
	size_t count;
	size_t first_move; /* index */
};

/* What PR_SET_MM_MAP reads (struct prctl_mm_map and the auxiliary vector): the data
 * on the page of calls. */
struct place_numbers {
	uint64_t words[13]; /* start_code to start_stack, args, env, auxv, sizes */
	uint64_t auxv[PLACE_AUXV_MOST];
	size_t size; /* of the used bytes */
};

/* The new stack, and what the new auxiliary vector holds. */
struct place_top {
	uint64_t old_rsp, rsp;
	const void *auxv; /* borrowed */
	size_t auxv_words;
};

void place_calls_make(struct place_calls *calls, const struct place_layout *layout,
	const struct place_image *image, const struct place_top *top);

/* The numbers for the new places, or with layout NULL those that stand now. */
void place_numbers_make(struct place_numbers *numbers, const struct place_layout *layout,
	const struct place_image *image, const struct place_top *top, uint64_t page);

/* Whether a system call is one of a list's, by its last argument. */
bool place_calls_own(const uint64_t arguments[6]);

/* The call that makes the kernel read them. */
struct remote_call place_calls_numbers(uint64_t page);

#endif
