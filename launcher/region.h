/* The executable memory of a supervised process that no file holds: what JITs write. */
#ifndef LAUNCHER_REGION_H
#define LAUNCHER_REGION_H

#include <stdbool.h>
#include <stdint.h>

struct process;

struct region {
	uint64_t begin, end;
	bool shared; /* shared anonymous, System V or memfd memory: its pages may be there
		      * without being in this process' page table */
};

/* The first region with executable memory of that kind that ends above `from` and begins
 * below `to`, whole. Returns 1, 0 where there is none, or -1 with errno.
 *
 * It counts: anonymous memory, memfds, shared anonymous and System V memory, files that
 * were deleted, and files that are mapped shared (a JIT may write them). The kernel's own
 * pages do not. */
int region_next(
	struct process *process, uint64_t from, uint64_t to, struct region *region);

/* The next run of pages that hold something, in from..to of a region. Returns 1, or 0
 * where there is none. What cannot be told counts as holding something. */
int region_next_pages(struct process *process, const struct region *region, uint64_t from,
	uint64_t to, uint64_t *begin, uint64_t *end);

#endif
