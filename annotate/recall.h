/* What addresses were found to mean, so that the same question is worked out once: most samples
 * repeat an address of a process. Samples are counted here first and handed on in sums. */
#ifndef ANNOTATE_RECALL_H
#define ANNOTATE_RECALL_H

#include "annotate/profile.h"

struct recall_key {
	const struct process *process;
	uint64_t address, time;
	uint32_t event; /* place in profile.events */
	uint8_t mode;	/* perf's cpumode */
};

struct recall_answer {
	uint64_t from, to; /* the time for which it holds */
	struct hit *hit;   /* NULL: unresolved … */
	size_t reason;	   /* … for this one, a place in profile->unresolved */
};

struct recall;

/* For about as many samples as `most` says. Free with recall_free(). */
struct recall *recall_new(uint64_t most);
void recall_free(struct recall *recall);

/* Fetches what recall_count() will ask of memory; needs no time. */
void recall_expect(const struct recall *recall, const struct recall_key *key);

/* Counts a sample where its answer is known, else false. */
bool recall_count(struct recall *recall, const struct recall_key *key);

/* Keeps an answer; what has to go for it is counted in the profile. The sample that asked is
 * not counted by this. */
void recall_keep(struct recall *recall, struct profile *profile,
	const struct recall_key *key, const struct recall_answer *answer);

/* Counts all that is still kept in the profile. */
void recall_settle(struct recall *recall, struct profile *profile);

#endif
