/* Counting samples. */
#include "annotate/profile.h"
#include "annotate/merge.h"
#include "annotate/narrow.h"
#include "annotate/recall.h"
#include "annotate/stacks.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	SAMPLE_LEAST = 40, /* bytes of a sample in the file */
	COMM_CACHE = 64,
	PENDING = 16,
};

struct cached_comm { /* names stand in the file: equal pointers, equal names */
	const char *name;
	size_t comm; /* place in profile->comms */
};

/* A sample waits here while the line that counts it is fetched from memory. */
struct pending {
	const struct attr *attr;
	struct process *process;
	struct attr_sample_data sample;
	uint32_t event;
	uint16_t misc;
};

struct collect {
	struct profile *profile;
	struct input *input;
	size_t *events; /* places in profile->events, by the file's event number */
	bool *wanted;	/* by the file's event number */
	struct pending pending[PENDING]; /* read, not yet counted: a ring … */
	unsigned read, done;		 /* … and how many passed through it */
	const struct narrow *narrow;	 /* NULL: everything is wanted */
	struct recall *recall;		 /* owned */
	struct cached_comm comms[COMM_CACHE];
};

static size_t mix(uint64_t value)
{
	return (size_t)((value * 0x9e3779b97f4a7c15u) >> 20);
}

static struct recall_key key_of(const struct pending *pending)
{
	return (struct recall_key){pending->process, pending->sample.ip,
		pending->sample.time, pending->event,
		pending->misc & PERFDATA_MISC_CPUMODE};
}

/* Works out whose sample it is, counts it, and keeps the answer. */
static void work_out(struct collect *collect, const struct pending *pending)
{
	struct profile *profile = collect->profile;
	struct recall_key key = key_of(pending);
	struct spans_validity validity = {0, UINT64_MAX};
	uint64_t late = profile->late;
	struct place place = profile_locate(profile, collect->input, pending->process,
		key.address, key.time, key.mode, &validity);
	struct recall_answer answer = {.from = validity.from, .to = validity.to};

	if (place.reason) {
		answer.reason = tally_index(&profile->unresolved, place.reason);
		profile->unresolved.list[answer.reason].count++;
	} else {
		struct hit at = {.offset = place.offset,
			.run = collect->input->index,
			.event = (uint32_t)collect->events[key.event],
			.epoch = place.epoch,
			.function = place.function};
		answer.hit = hits_find(&profile->hits, &at);
		answer.hit->count++;
	}
	/* What is late is counted each time, and so never kept. */
	if (late == profile->late)
		recall_keep(collect->recall, profile, &key, &answer);
}

static void count_place(struct collect *collect, const struct pending *pending)
{
	struct recall_key key = key_of(pending);

	if (!recall_count(collect->recall, &key))
		work_out(collect, pending);
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

static void count_sample(struct collect *collect, const struct pending *pending)
{
	const struct attr_sample_data *sample = &pending->sample;
	struct profile *profile = collect->profile;

	profile->samples++;
	collect->input->samples++;
	profile->events.list[collect->events[pending->event]].count++;
	const char *comm = count_comm(collect, pending->process, sample);
	if (!collect->wanted[pending->event])
		return;
	profile->event_samples++;
	count_place(collect, pending);
	if (profile->stacks) {
		struct attr_sample_data copy = *sample; /* its chain is used up */
		stacks_add(profile->stacks, profile, collect->input, pending->process,
			comm, pending->attr, &copy,
			pending->misc & PERFDATA_MISC_CPUMODE);
	}
}

/* Where only a group's leader samples, each member that counted on since is sampled too.
 */
static void count_group(struct collect *collect, struct pending *pending)
{
	uint64_t value, id;

	while (attr_read_next(pending->attr, &pending->sample, &value, &id)) {
		struct perfdata_id *found = perfdata_find_id(&collect->input->data, id);
		struct pending member = *pending;
		if (!found)
			continue;
		bool counted = value != found->counted;
		found->counted = value;
		member.event = found->event;
		if (counted)
			count_sample(collect, &member);
	}
}

static void count_oldest(struct collect *collect)
{
	struct pending *pending = &collect->pending[collect->done++ % PENDING];

	if (pending->sample.read_count)
		count_group(collect, pending);
	else
		count_sample(collect, pending);
}

/* Samples that nobody asks about are counted at a glance. */
static bool pass_over(struct collect *collect, const struct perfdata_record *record)
{
	struct profile *profile = collect->profile;
	const struct attr *attr = record->attr;
	struct bytes body = record->body;

	if ((record->misc & PERFDATA_MISC_CPUMODE) != PERFDATA_MISC_USER ||
		!(attr->sample_type & ATTR_IP) || attr->sample_type & ATTR_READ)
		return false;
	bytes_skip(&body, attr->sample_type & ATTR_IDENTIFIER ? 8 : 0);
	uint64_t address = bytes_u64(&body);
	if (body.failed || narrow_admits(collect->narrow, address))
		return false;
	profile->samples++;
	collect->input->samples++;
	profile->events.list[collect->events[record->event]].count++;
	profile->event_samples += collect->wanted[record->event];
	return true;
}

static void add_sample(struct collect *collect, const struct perfdata_record *record)
{
	struct profile *profile = collect->profile;

	if (collect->narrow && pass_over(collect, record))
		return;
	if (collect->read - collect->done == PENDING)
		count_oldest(collect);
	struct pending *pending = &collect->pending[collect->read % PENDING];
	struct attr_sample_data *sample = &pending->sample;
	if (!attr_sample_read(record->attr, record->body, sample)) {
		profile->samples++;
		collect->input->samples++;
		profile->events.list[collect->events[record->event]].count++;
		tally_add(&profile->unresolved, "damaged samples", 1);
		return;
	}
	if (collect->input->machine.untimed)
		sample->time = record->order;
	pending->attr = record->attr;
	pending->event = record->event;
	pending->misc = record->misc;
	pending->process =
		machine_process(&collect->input->machine, sample->pid, sample->time);
	struct recall_key key = key_of(pending);
	recall_expect(collect->recall, &key);
	collect->read++;
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

int profile_add(struct profile *profile, struct input *input, struct fault *fault)
{
	return profile_add_narrow(profile, input, NULL, fault);
}

int profile_add_narrow(struct profile *profile, struct input *input,
	const struct narrow *narrow, struct fault *fault)
{
	if (begin_merge(profile, input, fault) < 0)
		return -1;

	struct perfdata *data = &input->data;
	struct collect *collect = xcalloc(1, sizeof(*collect));
	struct perfdata_record record;

	profile->inputs = xreallocarray(
		profile->inputs, profile->input_count + 1, sizeof(*profile->inputs));
	input->index = (unsigned)profile->input_count;
	profile->inputs[profile->input_count++] = input;
	profile->lost += input->lost;
	collect->profile = profile;
	collect->input = input;
	collect->narrow = narrow;
	collect->events = xcalloc(data->attr_count, sizeof(*collect->events));
	collect->wanted = xcalloc(data->attr_count, sizeof(*collect->wanted));
	for (size_t i = 0; i < data->attr_count; i++) {
		collect->events[i] = tally_index(&profile->events, data->attrs[i].name);
		collect->wanted[i] = is_wanted(data->attrs[i].name, profile->event);
	}
	collect->recall =
		recall_new((data->data_size + data->unpacked_size) / SAMPLE_LEAST);
	perfdata_rewind(data);
	while (perfdata_next(data, &record))
		if (record.type == PERFDATA_SAMPLE)
			add_sample(collect, &record);
	while (collect->done != collect->read)
		count_oldest(collect);
	recall_settle(collect->recall, profile);
	recall_free(collect->recall);
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

void profile_sort(struct function *const *functions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		functions[i]->hits = hits_sort(functions[i]->hits);
}

void profile_finish(struct profile *profile)
{
	/* In the order of memory rather than of functions. */
	for (size_t i = 0; i < profile->hits.count; i++) {
		const struct hit *hit = hits_at(&profile->hits, i);
		hit->function->samples += hit->count;
	}
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
		free(function->versions);
		free(function);
	}
	hits_release(&profile->hits);
	merge_free(profile->merge);
	free(profile->functions);
	free(profile->inputs);
	tally_release(&profile->events);
	tally_release(&profile->comms);
	tally_release(&profile->unresolved);
	*profile = (struct profile){0};
}

void profile_reset(struct profile *profile)
{
	struct profile fresh = {.warnings = profile->warnings,
		.event = profile->event,
		.compare = profile->compare,
		.stacks = profile->stacks};

	for (size_t i = 0; i < profile->input_count; i++) {
		struct input *input = profile->inputs[i];
		input->samples = 0;
		for (size_t k = 0; k < input->data.id_count; k++)
			input->data.ids[k].counted = 0;
	}
	profile_release(profile);
	*profile = fresh;
}
