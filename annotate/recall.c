/* A cache of WAYS entries in each line of the processor's cache, since with very many addresses
 * each sample waits for memory and should wait once. What an entry's address means stands
 * elsewhere. */
#include "annotate/recall.h"
#include "annotate/large.h"
#include "launcher/base.h"

#include <stdlib.h>

enum {
	WAYS = 4,
	LEAST_LINES = 1 << 6,
	MOST_LINES = 1 << 16,
	ASKERS = 1 << 10, /* slots for whose address it is */
	WHO_BITS = 16,
	TIMED = 1u << 31, /* the answer holds for a time only */
};

struct way {
	uint64_t key;	 /* address and asker; 0: free */
	uint32_t count;	 /* of samples not handed on yet */
	uint32_t answer; /* place in `answers`, and TIMED */
};

struct line {
	struct way ways[WAYS];
} __attribute__((aligned(64)));

struct asker {
	const struct process *process;
	uint32_t event;
	uint8_t mode;
	uint16_t number; /* 1…; 0: free */
};

struct recall {
	struct line *lines; /* `mask` + 1, owned */
	size_t mask;
	struct recall_answer *answers; /* owned */
	size_t count, room;
	struct asker askers[ASKERS];
	uint16_t asker_count;
	struct asker last; /* a copy of the one that asked last */
};

static size_t mix(uint64_t value)
{
	return (size_t)((value * 0x9e3779b97f4a7c15u) >> 20);
}

struct recall *recall_new(uint64_t most)
{
	struct recall *recall = xcalloc(1, sizeof(*recall));
	size_t size = LEAST_LINES;

	while (size < most / WAYS && size < MOST_LINES)
		size *= 2;
	recall->mask = size - 1;
	recall->lines = large_new(size * sizeof(*recall->lines));
	return recall;
}

void recall_free(struct recall *recall)
{
	large_free(recall->lines, (recall->mask + 1) * sizeof(*recall->lines));
	large_free(recall->answers, recall->room * sizeof(*recall->answers));
	free(recall);
}

static struct line *line_of(const struct recall *recall, const struct recall_key *key)
{
	return &recall->lines[mix(key->address ^ (uintptr_t)key->process) & recall->mask];
}

void recall_expect(const struct recall *recall, const struct recall_key *key)
{
	__builtin_prefetch(line_of(recall, key), 1);
}

static bool is_asker(const struct asker *asker, const struct recall_key *key)
{
	return asker->process == key->process && asker->event == key->event &&
	       asker->mode == key->mode && asker->number;
}

/* A number for the process, the event and the mode of a question; 0 once there are too many.
 */
static uint16_t asker_number(struct recall *recall, const struct recall_key *key)
{
	size_t place = mix((uintptr_t)key->process ^ (uint64_t)key->event << 48 ^
			       (uint64_t)key->mode << 40) %
		       ASKERS;

	while (recall->askers[place].number && !is_asker(&recall->askers[place], key))
		place = (place + 1) % ASKERS;
	struct asker *asker = &recall->askers[place];
	if (!asker->number) {
		if (recall->asker_count >= ASKERS / 2)
			return 0;
		*asker = (struct asker){
			key->process, key->event, key->mode, ++recall->asker_count};
	}
	recall->last = *asker;
	return asker->number;
}

/* The address in the upper bits and the asker; 0 where it cannot be kept: an address that has
 * no 48 bits, or too many askers. */
static uint64_t key_of(struct recall *recall, const struct recall_key *key)
{
	int64_t shifted = (int64_t)(key->address << WHO_BITS);
	uint16_t number = is_asker(&recall->last, key) ? recall->last.number
						       : asker_number(recall, key);

	if (!number || (uint64_t)(shifted >> WHO_BITS) != key->address)
		return 0;
	return (uint64_t)shifted | number;
}

static struct way *find(struct recall *recall, const struct recall_key *key)
{
	uint64_t word = key_of(recall, key);
	struct line *line = line_of(recall, key);

	for (size_t i = 0; word && i < WAYS; i++)
		if (line->ways[i].key == word)
			return &line->ways[i];
	return NULL;
}

bool recall_count(struct recall *recall, const struct recall_key *key)
{
	struct way *way = find(recall, key);

	if (!way)
		return false;
	if (way->answer & TIMED) {
		const struct recall_answer *answer =
			&recall->answers[way->answer & ~TIMED];
		if (key->time < answer->from || key->time >= answer->to)
			return false;
	}
	if (way->count == UINT32_MAX)
		return false;
	way->count++;
	return true;
}

static void hand_on(struct recall *recall, struct profile *profile, struct way *way)
{
	const struct recall_answer *answer = &recall->answers[way->answer & ~TIMED];

	if (answer->hit)
		answer->hit->count += way->count;
	else if (way->count)
		profile->unresolved.list[answer->reason].count += way->count;
	way->count = 0;
}

static uint32_t new_answer(struct recall *recall)
{
	if (recall->count == recall->room) {
		size_t room = recall->room ? recall->room * 2 : 1024;
		recall->answers = large_grow(recall->answers,
			recall->room * sizeof(*recall->answers),
			room * sizeof(*recall->answers));
		recall->room = room;
	}
	return (uint32_t)recall->count++;
}

/* The entry to use: its own, a free one, or that of the address with the fewest samples. */
static struct way *make_room(struct recall *recall, const struct recall_key *key)
{
	struct way *own = find(recall, key), *ways = line_of(recall, key)->ways;
	struct way *least = ways;

	for (size_t i = 1; i < WAYS; i++)
		if (least->key && (!ways[i].key || ways[i].count < least->count))
			least = &ways[i];
	return own ? own : least;
}

void recall_keep(struct recall *recall, struct profile *profile,
	const struct recall_key *key, const struct recall_answer *answer)
{
	uint64_t word = key_of(recall, key);

	if (!word)
		return;
	struct way *way = make_room(recall, key);
	if (way->key)
		hand_on(recall, profile, way);
	else
		way->answer = new_answer(recall);
	uint32_t place = way->answer & ~TIMED;
	bool always = answer->from == 0 && answer->to == UINT64_MAX;
	recall->answers[place] = *answer;
	*way = (struct way){word, 0, place | (always ? 0 : TIMED)};
}

void recall_settle(struct recall *recall, struct profile *profile)
{
	for (size_t i = 0; i <= recall->mask; i++)
		for (size_t k = 0; k < WAYS; k++)
			if (recall->lines[i].ways[k].key)
				hand_on(recall, profile, &recall->lines[i].ways[k]);
}
