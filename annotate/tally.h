/* Counts by name. */
#ifndef ANNOTATE_TALLY_H
#define ANNOTATE_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_entry {
	char *name; /* owned */
	uint64_t count;
};

struct tally {
	struct tally_entry *list;
	size_t count;
	size_t *table; /* index + 1 into the list by hash of the name; 0: free */
	size_t table_size;
};

/* The entry's place in the list, made on first use. */
size_t tally_index(struct tally *tally, const char *name);
void tally_add(struct tally *tally, const char *name, uint64_t count);

/* Puts the greatest counts first; places from tally_index() are void afterwards. */
void tally_sort(struct tally *tally);
void tally_release(struct tally *tally);

#endif
