/* The tree of call stacks. Frames are found once an address and process. */
#include "annotate/stacks.h"
#include "annotate/unwind.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	CACHE_BITS = 14,
	DEPTH = UNWIND_DEPTH + 256,
};

/* Markers among the addresses of a chain say whose the following are (PERF_CONTEXT_*). */
static const uint64_t CONTEXT_FIRST = (uint64_t)-4095;
static const uint64_t CONTEXT_KERNEL = (uint64_t)-128;
static const uint64_t CONTEXT_USER = (uint64_t)-512;
static const uint64_t CONTEXT_USER_DEFERRED = (uint64_t)-640;

struct frame {
	const char *name;
	struct function *function;
};

struct stacks_frames { /* what addresses mean */
	struct {
		const struct process *process;
		uint64_t address, from, to;
		unsigned mode;
		bool filled;
		struct frame frame;
	} entries[1 << CACHE_BITS];
};

/* A stack as it is gathered, nearest frame first. */
struct gathered {
	struct frame frames[DEPTH];
	size_t count;
};

struct stacks *stacks_new(bool keep_samples)
{
	struct stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->keep_samples = keep_samples;
	stacks->unwind = unwind_new();
	stacks->cache = xcalloc(1, sizeof(*stacks->cache));
	stacks->room = 1024;
	stacks->nodes = xcalloc(stacks->room, sizeof(*stacks->nodes));
	stacks->nodes[0].name = "all";
	stacks->count = 1;
	stacks->table_size = 4096;
	stacks->table = xcalloc(stacks->table_size, sizeof(*stacks->table));
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	unwind_free(stacks->unwind);
	tally_release(&stacks->names);
	free(stacks->cache);
	free(stacks->nodes);
	free(stacks->table);
	free(stacks->samples);
	free(stacks);
}

static size_t slot(const struct stacks *stacks, uint32_t parent, const char *name,
	const struct function *function)
{
	size_t mask = stacks->table_size - 1;
	uintptr_t key = function ? (uintptr_t)function : (uintptr_t)name;
	size_t place =
		((key ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u >> 20) & mask;

	for (; stacks->table[place]; place = (place + 1) & mask) {
		const struct stacks_node *node = &stacks->nodes[stacks->table[place]];
		if (node->parent == parent && node->function == function &&
			(function || node->name == name))
			break;
	}
	return place;
}

static void grow(struct stacks *stacks)
{
	free(stacks->table);
	stacks->table_size *= 2;
	stacks->table = xcalloc(stacks->table_size, sizeof(*stacks->table));
	for (size_t i = 1; i < stacks->count; i++) {
		const struct stacks_node *node = &stacks->nodes[i];
		stacks->table[slot(stacks, node->parent, node->name, node->function)] =
			(uint32_t)i;
	}
}

static uint32_t callee(struct stacks *stacks, uint32_t parent, struct frame frame)
{
	size_t place = slot(stacks, parent, frame.name, frame.function);

	if (stacks->table[place])
		return stacks->table[place];
	if (stacks->count == stacks->room) {
		stacks->room *= 2;
		stacks->nodes = xreallocarray(
			stacks->nodes, stacks->room, sizeof(*stacks->nodes));
	}
	uint32_t node = (uint32_t)stacks->count++;
	stacks->nodes[node] = (struct stacks_node){.parent = parent,
		.next = stacks->nodes[parent].child,
		.name = frame.name,
		.function = frame.function};
	stacks->nodes[parent].child = node;
	stacks->table[place] = node;
	if (stacks->count * 2 > stacks->table_size)
		grow(stacks);
	return node;
}

/* Names without a function are kept in one place each, so that pointers tell them apart.
 */
static const char *intern(struct stacks *stacks, const char *name)
{
	size_t index = tally_index(&stacks->names, name);

	return stacks->names.list[index].name;
}

static struct frame find_frame(struct stacks *stacks, struct profile *profile,
	struct input *input, struct process *process, uint64_t address, uint64_t time,
	unsigned mode)
{
	size_t place = ((address ^ (uintptr_t)process) * 0x9e3779b97f4a7c15u >> 20) &
		       ((1 << CACHE_BITS) - 1);
	__typeof__(stacks->cache->entries[0]) *entry = &stacks->cache->entries[place];

	if (entry->filled && entry->process == process && entry->address == address &&
		entry->mode == mode && time >= entry->from && time < entry->to)
		return entry->frame;
	struct spans_validity validity = {0, UINT64_MAX};
	uint64_t late = profile->late;
	struct place found =
		profile_locate(profile, input, process, address, time, mode, &validity);
	profile->late = late; /* it counts samples, not frames */
	struct frame frame = {NULL, found.function};
	if (found.function) {
		frame.name = found.function->name;
	} else {
		cleanup_free char *text = xasprintf("[%s]", found.reason);
		frame.name = intern(stacks, text);
	}
	*entry = (__typeof__(*entry)){
		process, address, validity.from, validity.to, mode, true, frame};
	return frame;
}

static bool is_nowhere(const struct frame *frame)
{
	return !frame->function && strcmp(frame->name, "[no mapping there]") == 0;
}

static void push(struct gathered *gathered, struct frame frame)
{
	if (gathered->count < DEPTH)
		gathered->frames[gathered->count++] = frame;
}

struct chain {
	struct stacks *stacks;
	struct profile *profile;
	struct input *input;
	struct process *process;
	uint64_t time;
	struct gathered *gathered;
	bool user; /* frames of the program were among them */
};

/* Addresses up to the next marker, the first of which is where it is and not a return address:
 * there the call is before. False where the chain leaves what is mapped. */
static bool add_frame(struct chain *chain, uint64_t address, bool first, unsigned context)
{
	struct frame frame = find_frame(chain->stacks, chain->profile, chain->input,
		chain->process, first ? address : address - 1, chain->time, context);

	chain->user |= context == PERFDATA_MISC_USER;
	/* Behind a function that keeps no frame pointer the chain is whatever stood in the
	 * register. */
	if (!first && is_nowhere(&frame))
		return false;
	push(chain->gathered, frame);
	return true;
}

/* The kernel may put the user's part off until it returns there. */
static void add_late(struct chain *chain, uint64_t cookie)
{
	const struct late_chain *late =
		machine_late_chain(&chain->input->machine, cookie);
	struct bytes addresses = late ? late->chain : (struct bytes){0};
	bool first = true;

	while (late && bytes_left(&addresses)) {
		uint64_t address = bytes_u64(&addresses);
		if (address >= CONTEXT_FIRST)
			continue;
		if (!add_frame(chain, address, first, PERFDATA_MISC_USER))
			return;
		first = false;
	}
}

static void add_chain(struct chain *chain, struct attr_sample_data *sample, unsigned mode)
{
	unsigned context = mode;
	bool first = true;

	for (uint64_t i = 0; i < sample->chain_count; i++) {
		uint64_t address = bytes_u64(&sample->chain);
		if (address == CONTEXT_USER_DEFERRED && i + 1 < sample->chain_count) {
			add_late(chain, bytes_u64(&sample->chain));
			i++;
			continue;
		}
		if (address >= CONTEXT_FIRST) {
			context = address == CONTEXT_KERNEL ? PERFDATA_MISC_KERNEL
				  : address == CONTEXT_USER ? PERFDATA_MISC_USER
							    : PERFDATA_MISC_CPUMODE;
			first = true;
			continue;
		}
		if (!add_frame(chain, address, first, context))
			return;
		first = false;
	}
}

static void gather(struct stacks *stacks, struct profile *profile, struct input *input,
	struct process *process, const struct attr *attr, struct attr_sample_data *sample,
	unsigned mode, struct gathered *gathered)
{
	static uint64_t unwound[UNWIND_DEPTH];
	struct chain chain = {
		stacks, profile, input, process, sample->time, gathered, false};

	add_chain(&chain, sample, mode);
	if (chain.user)
		return;
	size_t count =
		unwind_sample(stacks->unwind, input, process, attr, sample, unwound);
	for (size_t i = 0; i < count; i++)
		push(gathered, find_frame(stacks, profile, input, process,
				       i ? unwound[i] - 1 : unwound[i], sample->time,
				       PERFDATA_MISC_USER));
}

/* Where a thread of a program begins; a stack that ends elsewhere has lost something. */
static bool is_beginning(const struct frame *frame)
{
	static const char *const names[] = {"_start", "main", "__libc_start_main",
		"__libc_start_call_main", "start_thread", "clone", "clone3", "__clone",
		"__clone3", "thread_start", "_dl_start_user", "_dl_start",
		"ret_from_fork", "ret_from_fork_asm", "entry_SYSCALL_64_after_hwframe"};
	const char *name = frame->function ? frame->function->raw_name : "";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);
		if (strncmp(name, names[i], length) == 0 &&
			(name[length] == '\0' || name[length] == '@' ||
				name[length] == '.'))
			return true;
	}
	return false;
}

void stacks_add(struct stacks *stacks, struct profile *profile, struct input *input,
	struct process *process, const char *comm, const struct attr *attr,
	struct attr_sample_data *sample, unsigned mode)
{
	static struct gathered gathered;

	gathered.count = 0;
	gather(stacks, profile, input, process, attr, sample, mode, &gathered);
	if (!gathered.count)
		push(&gathered, find_frame(stacks, profile, input, process, sample->ip,
					sample->time, mode));
	uint32_t node = callee(stacks, 0, (struct frame){intern(stacks, comm), NULL});
	bool chained = attr->sample_type & (ATTR_CALLCHAIN | ATTR_STACK_USER);
	if (chained && !is_beginning(&gathered.frames[gathered.count - 1])) {
		stacks->cut++;
		node = callee(
			stacks, node, (struct frame){intern(stacks, "[cut]"), NULL});
	}
	for (size_t i = gathered.count; i-- > 0;)
		node = callee(stacks, node, gathered.frames[i]);
	stacks->nodes[node].samples++;
	if (!stacks->keep_samples)
		return;
	if (stacks->sample_count == stacks->sample_room) {
		stacks->sample_room =
			stacks->sample_room ? stacks->sample_room * 2 : 4096;
		stacks->samples = xreallocarray(
			stacks->samples, stacks->sample_room, sizeof(*stacks->samples));
	}
	stacks->samples[stacks->sample_count++] = (struct stacks_sample){
		sample->time, node, sample->tid, sample->pid, input->index};
}

void stacks_finish(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++)
		stacks->nodes[i].total = stacks->nodes[i].samples;
	/* Callees have greater numbers than their callers. */
	for (size_t i = stacks->count; i-- > 1;)
		stacks->nodes[stacks->nodes[i].parent].total += stacks->nodes[i].total;
}
