/* Counting samples. Most samples repeat an address of a process, so what an address means
 * is kept in a cache together with the time for which that holds. */
#include "annotate/profile.h"
#include "annotate/merge.h"
#include "annotate/stacks.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	CACHE_MOST = 1 << 17, /* entries */
	CACHE_LEAST = 1 << 8,
	HITS_A_BLOCK = 1024,
	SAMPLE_LEAST = 40, /* bytes of a sample in the file */
	FIRST_TABLE = 1 << 14,
	COMM_CACHE = 64,
};

/* One line of the processor's cache: with very many addresses each sample waits for memory,
 * so it should wait once. Counts are handed on when an entry makes room or at the end. */
struct cached {
	const struct process *process;
	uint64_t address, from, to;
	uint64_t count;	 /* of samples not handed on yet */
	struct hit *hit; /* NULL: unresolved … */
	uint32_t reason; /* … for this one, a place in profile->unresolved */
	uint32_t event;
	uint8_t mode;
	bool filled;
} __attribute__((aligned(64)));

struct cached_comm { /* names stand in the file: equal pointers, equal names */
	const char *name;
	size_t comm; /* place in profile->comms */
};

struct collect {
	struct profile *profile;
	struct input *input;
	size_t *events; /* places in profile->events, by the file's event number */
	bool *wanted;	/* by the file's event number */
	uint64_t order;
	struct cached *cache; /* `mask` + 1 entries, in `memory` */
	void *memory;	      /* owned */
	size_t mask;
	struct cached_comm comms[COMM_CACHE];
};

static size_t mix(uint64_t value)
{
	return (size_t)((value * 0x9e3779b97f4a7c15u) >> 20);
}

static size_t hit_slot(const struct profile *profile, const struct hit *key)
{
	size_t mask = profile->table_size - 1;
	size_t place =
		mix((uint64_t)(uintptr_t)key->function ^ (key->offset << 32) ^
			key->offset ^ ((uint64_t)key->run << 48) ^
			((uint64_t)key->event << 56) ^ ((uint64_t)key->epoch << 40)) &
		mask;

	for (; profile->table[place]; place = (place + 1) & mask) {
		const struct hit *hit = profile->table[place];
		if (hit->function == key->function && hit->offset == key->offset &&
			hit->run == key->run && hit->event == key->event &&
			hit->epoch == key->epoch)
			break;
	}
	return place;
}

static void grow(struct profile *profile)
{
	struct hit **old = profile->table;
	size_t old_size = profile->table_size;

	profile->table_size = old_size ? old_size * 2 : FIRST_TABLE;
	profile->table = xcalloc(profile->table_size, sizeof(*profile->table));
	for (size_t i = 0; i < old_size; i++)
		if (old[i])
			profile->table[hit_slot(profile, old[i])] = old[i];
	free(old);
}

/* Hits are many and live as long as the profile: they come in blocks. */
static struct hit *new_hit(struct profile *profile)
{
	size_t used = profile->hit_count % HITS_A_BLOCK;

	if (used == 0) {
		profile->blocks = xreallocarray(profile->blocks, profile->block_count + 1,
			sizeof(*profile->blocks));
		profile->blocks[profile->block_count++] =
			xcalloc(HITS_A_BLOCK, sizeof(struct hit));
	}
	return &profile->blocks[profile->block_count - 1][used];
}

static struct hit *find_hit(struct profile *profile, const struct hit *key)
{
	if ((profile->hit_count + 1) * 2 > profile->table_size)
		grow(profile);
	size_t place = hit_slot(profile, key);
	if (profile->table[place])
		return profile->table[place];
	struct hit *hit = new_hit(profile);
	*hit = *key;
	hit->next = key->function->hits;
	key->function->hits = hit;
	profile->hit_count++;
	return profile->table[place] = hit;
}

static void hand_on(struct profile *profile, struct cached *cached)
{
	if (cached->hit)
		cached->hit->count += cached->count;
	else if (cached->count)
		profile->unresolved.list[cached->reason].count += cached->count;
	cached->count = 0;
}

static void fill(struct collect *collect, struct cached *cached, struct process *process,
	const struct attr_sample_data *sample)
{
	struct profile *profile = collect->profile;
	struct spans_validity validity = {0, UINT64_MAX};
	uint64_t late = profile->late;
	struct place place = profile_locate(profile, collect->input, process, sample->ip,
		sample->time, cached->mode, &validity);

	cached->hit = NULL;
	cached->from = validity.from;
	cached->to = validity.to;
	/* What is late is counted each time, and so never kept. */
	cached->filled = late == profile->late;
	if (place.reason) {
		cached->reason =
			(uint32_t)tally_index(&profile->unresolved, place.reason);
		return;
	}
	struct hit key = {.offset = place.offset,
		.run = collect->input->index,
		.event = (uint32_t)collect->events[cached->event],
		.epoch = place.epoch,
		.function = place.function};
	cached->hit = find_hit(profile, &key);
}

static void count_place(struct collect *collect, const struct perfdata_record *record,
	struct process *process, const struct attr_sample_data *sample)
{
	uint32_t mode = record->misc & PERFDATA_MISC_CPUMODE;
	struct cached *cached =
		&collect->cache[mix(sample->ip ^ (uintptr_t)process) & collect->mask];

	if (!cached->filled || cached->process != process ||
		cached->address != sample->ip || cached->event != record->event ||
		cached->mode != mode || sample->time < cached->from ||
		sample->time >= cached->to) {
		hand_on(collect->profile, cached);
		cached->process = process;
		cached->address = sample->ip;
		cached->event = record->event;
		cached->mode = (uint8_t)mode;
		fill(collect, cached, process, sample);
	}
	cached->count++;
}

static const char *count_comm(struct collect *collect, struct process *process,
	const struct attr_sample_data *sample)
{
	struct profile *profile = collect->profile;
	const char *name =
		process ? machine_comm(process, sample->tid, sample->time) : NULL;

	/* Threads that perf did not name when they began share their process's name. */
	if (!name && process)
		name = machine_comm(process, process->pid, sample->time);
	if (name) {
		struct cached_comm *cached =
			&collect->comms[mix((uintptr_t)name) % COMM_CACHE];
		if (cached->name != name)
			*cached = (struct cached_comm){
				name, tally_index(&profile->comms, name)};
		profile->comms.list[cached->comm].count++;
		return name;
	}
	cleanup_free char *number = xasprintf(":%d", (int)sample->tid);
	size_t index = tally_index(&profile->comms, number); /* may move the list */
	profile->comms.list[index].count++;
	return profile->comms.list[index].name;
}

static void count_sample(struct collect *collect, const struct perfdata_record *record,
	struct process *process, const struct attr_sample_data *sample)
{
	collect->profile->samples++;
	collect->input->samples++;
	collect->profile->events.list[collect->events[record->event]].count++;
	const char *comm = count_comm(collect, process, sample);
	if (!collect->wanted[record->event])
		return;
	collect->profile->event_samples++;
	count_place(collect, record, process, sample);
	if (collect->profile->stacks) {
		struct attr_sample_data copy = *sample; /* its chain is used up */
		stacks_add(collect->profile->stacks, collect->profile, collect->input,
			process, comm, record->attr, &copy,
			record->misc & PERFDATA_MISC_CPUMODE);
	}
}

/* Where only a group's leader samples, each member that counted on since is sampled too.
 */
static void count_group(struct collect *collect, struct perfdata_record *record,
	struct process *process, struct attr_sample_data *sample)
{
	uint64_t value, id;

	while (attr_read_next(record->attr, sample, &value, &id)) {
		struct perfdata_id *found = perfdata_find_id(&collect->input->data, id);
		struct perfdata_record member = *record;
		if (!found)
			continue;
		bool counted = value != found->counted;
		found->counted = value;
		member.event = found->event;
		if (counted)
			count_sample(collect, &member, process, sample);
	}
}

static void add_sample(struct collect *collect, struct perfdata_record *record)
{
	struct profile *profile = collect->profile;
	struct attr_sample_data sample;

	if (!attr_sample_read(record->attr, record->body, &sample)) {
		profile->samples++;
		collect->input->samples++;
		profile->events.list[collect->events[record->event]].count++;
		tally_add(&profile->unresolved, "damaged samples", 1);
		return;
	}
	if (collect->input->machine.untimed)
		sample.time = collect->order;
	struct process *process =
		machine_process(&collect->input->machine, sample.pid, sample.time);
	if (sample.read_count)
		count_group(collect, record, process, &sample);
	else
		count_sample(collect, record, process, &sample);
}

/* An event is meant by its name with or without modifiers ("cpu-clock" for
 * "cpu-clock:u"). */
static bool is_wanted(const char *name, const char *wanted)
{
	size_t length = wanted ? strlen(wanted) : 0;

	return !wanted || (strncmp(name, wanted, length) == 0 &&
				  (name[length] == '\0' || name[length] == ':'));
}

/* From the second run on functions of earlier ones are looked for. */
static int begin_merge(struct profile *profile, struct input *input, struct fault *fault)
{
	if (!profile->input_count)
		return 0;
	if (!profile->compare && merge_check(profile->inputs[0], input, fault) < 0)
		return -1;
	if (profile->merge)
		return 0;
	profile->merge = merge_new();
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i]->code)
			merge_add(profile->merge, profile->functions[i]);
	return 0;
}

/* As large as the recording can make use of, and aligned as its entries ask for. */
static struct collect *new_collect(const struct perfdata *data)
{
	struct collect *collect = xcalloc(1, sizeof(*collect));
	size_t most = (data->data_size + data->unpacked_size) / SAMPLE_LEAST;
	size_t size = CACHE_LEAST;

	while (size < most && size < CACHE_MOST)
		size *= 2;
	collect->mask = size - 1;
	/* Pages that are never used are never filled this way. */
	collect->memory = xcalloc(size + 1, sizeof(*collect->cache));
	collect->cache =
		(struct cached *)(((uintptr_t)collect->memory + 63) & ~(uintptr_t)63);
	return collect;
}

int profile_add(struct profile *profile, struct input *input, struct fault *fault)
{
	if (begin_merge(profile, input, fault) < 0)
		return -1;

	struct perfdata *data = &input->data;
	struct collect *collect = new_collect(data);
	struct perfdata_record record;

	profile->inputs = xreallocarray(
		profile->inputs, profile->input_count + 1, sizeof(*profile->inputs));
	input->index = (unsigned)profile->input_count;
	profile->inputs[profile->input_count++] = input;
	profile->lost += input->lost;
	collect->profile = profile;
	collect->input = input;
	collect->events = xcalloc(data->attr_count, sizeof(*collect->events));
	collect->wanted = xcalloc(data->attr_count, sizeof(*collect->wanted));
	for (size_t i = 0; i < data->attr_count; i++) {
		collect->events[i] = tally_index(&profile->events, data->attrs[i].name);
		collect->wanted[i] = is_wanted(data->attrs[i].name, profile->event);
	}
	perfdata_rewind(data);
	while (perfdata_next(data, &record)) {
		collect->order++;
		if (record.type == PERFDATA_SAMPLE)
			add_sample(collect, &record);
	}
	for (size_t i = 0; i <= collect->mask; i++)
		hand_on(profile, &collect->cache[i]);
	free(collect->memory);
	free(collect->events);
	free(collect->wanted);
	free(collect);
	return 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *left = *(struct function *const *)a;
	const struct function *right = *(struct function *const *)b;

	if (left->samples != right->samples)
		return left->samples > right->samples ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return strcmp(left->name, right->name);
}

static int compare_hits(const void *a, const void *b)
{
	const struct hit *left = *(struct hit *const *)a,
			 *right = *(struct hit *const *)b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	if (left->run != right->run)
		return left->run < right->run ? -1 : 1;
	return left->event < right->event ? -1 : left->event > right->event;
}

static void sort_hits(struct function *function)
{
	size_t count = 0;

	for (struct hit *hit = function->hits; hit; hit = hit->next) {
		function->samples += hit->count;
		count++;
	}
	if (count < 2)
		return;
	struct hit **list = xreallocarray(NULL, count, sizeof(*list));
	count = 0;
	for (struct hit *hit = function->hits; hit; hit = hit->next)
		list[count++] = hit;
	qsort(list, count, sizeof(*list), compare_hits);
	function->hits = list[0];
	for (size_t i = 0; i < count; i++)
		list[i]->next = i + 1 < count ? list[i + 1] : NULL;
	free(list);
}

void profile_finish(struct profile *profile)
{
	for (size_t i = 0; i < profile->function_count; i++)
		sort_hits(profile->functions[i]);
	if (profile->function_count)
		qsort(profile->functions, profile->function_count,
			sizeof(*profile->functions), compare_functions);
	for (size_t i = 0; i < profile->function_count; i++)
		profile->functions[i]->index = i;
	tally_sort(&profile->comms);
	tally_sort(&profile->unresolved);
	if (profile->stacks)
		stacks_finish(profile->stacks);
	if (profile->merge && !profile->compare)
		merge_report(profile->merge, profile->warnings);
	if (profile->late)
		warnings_add(profile->warnings,
			"%llu samples are in code that was reported only after them",
			(unsigned long long)profile->late);
}

void profile_release(struct profile *profile)
{
	for (size_t i = 0; i < profile->function_count; i++) {
		struct function *function = profile->functions[i];
		if (function->symbol)
			function->symbol->function = NULL;
		if (function->code)
			function->code->function = NULL;
		free(function->owned_name);
		free(function);
	}
	for (size_t i = 0; i < profile->block_count; i++)
		free(profile->blocks[i]);
	free(profile->blocks);
	merge_free(profile->merge);
	free(profile->table);
	free(profile->functions);
	free(profile->inputs);
	tally_release(&profile->events);
	tally_release(&profile->comms);
	tally_release(&profile->unresolved);
	*profile = (struct profile){0};
}
