/* Processes and mappings over time. Records of several cpus stand in the file in no
 * strict order, so those that change the machine are gathered, sorted and then applied.
 */
#include "annotate/machine.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_TABLE = 256,
	DEPTH = 4096, /* of ancestors asked about an inherited mapping */
};

struct change {
	uint64_t time;
	uint64_t offset; /* order in the file */
	struct perfdata_record record;
};

static size_t slot(const struct machine *machine, uint32_t pid)
{
	size_t mask = machine->table_size - 1;
	size_t place = (pid * 2654435761u) & mask;

	while (machine->table[place] && machine->table[place]->pid != pid)
		place = (place + 1) & mask;
	return place;
}

static void grow(struct machine *machine)
{
	struct process **old = machine->table;
	size_t old_size = machine->table_size;

	machine->table_size = old_size ? old_size * 2 : FIRST_TABLE;
	machine->table = xcalloc(machine->table_size, sizeof(*machine->table));
	for (size_t i = 0; i < old_size; i++)
		if (old[i])
			machine->table[slot(machine, old[i]->pid)] = old[i];
	free(old);
}

static struct process *add_process(struct machine *machine, uint32_t pid, uint64_t time)
{
	struct process *process = xcalloc(1, sizeof(*process));

	if (machine->count * 2 >= machine->table_size)
		grow(machine);
	size_t place = slot(machine, pid);
	process->pid = pid;
	process->from = time;
	process->earlier = machine->table[place];
	if (!process->earlier)
		machine->count++;
	machine->table[place] = process;
	machine->all = xreallocarray(
		machine->all, machine->all_count + 1, sizeof(*machine->all));
	machine->all[machine->all_count++] = process;
	return process;
}

static struct process *newest(struct machine *machine, uint32_t pid)
{
	struct process *process =
		machine->table_size ? machine->table[slot(machine, pid)] : NULL;

	return process ? process : add_process(machine, pid, 0);
}

/* Memory with a name of the kernel's making, or of a JIT's: no file to take symbols from.
 */
static bool is_file(const char *path)
{
	static const char *const not_files[] = {"//anon", "/memfd:", "/dev/", "/SYSV",
		"/anon_hugepage", "/[aio]", "/i915"};

	if (path[0] != '/')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(not_files); i++)
		if (strncmp(path, not_files[i], strlen(not_files[i])) == 0)
			return false;
	return true;
}

/* "…/jit-123.dump" marks where a runtime writes its jitdump; returns its pid, or 0. */
static uint32_t dump_pid(const char *path)
{
	const char *name = strrchr(path, '/');
	char *end;

	name = name ? name + 1 : path;
	if (strncmp(name, "jit-", 4) != 0)
		return 0;
	unsigned long pid = strtoul(name + 4, &end, 10);
	return strcmp(end, ".dump") == 0 && pid <= UINT32_MAX ? (uint32_t)pid : 0;
}

static void apply_mapping(
	struct machine *machine, const struct perfdata_record *record, uint64_t time)
{
	struct bytes body = record->body;
	uint32_t pid = bytes_u32(&body);
	struct mapping *mapping = xcalloc(1, sizeof(*mapping));

	bytes_skip(&body, 4);
	mapping->start = bytes_u64(&body);
	uint64_t size = bytes_u64(&body);
	mapping->offset = bytes_u64(&body);
	mapping->from = time;
	if (record->type == PERFDATA_MMAP2) {
		struct bytes id = bytes_part(&body, 24);
		if (record->misc & PERFDATA_MISC_MMAP_BUILD_ID) {
			unsigned length = bytes_u8(&id);
			bytes_skip(&id, 3);
			const uint8_t *start = bytes_take(&id, PERFDATA_BUILD_ID_ROOM);
			if (start && length <= PERFDATA_BUILD_ID_ROOM) {
				memcpy(mapping->build_id, start, length);
				mapping->build_id_size = length;
			}
		}
		bytes_skip(&body, 8); /* prot, flags */
	}
	mapping->path = bytes_string(&body);
	if (body.failed || __builtin_add_overflow(mapping->start, size, &mapping->end)) {
		free(mapping);
		return;
	}
	unsigned mode = record->misc & PERFDATA_MISC_CPUMODE;
	if (mode == PERFDATA_MISC_KERNEL || mode == PERFDATA_MISC_GUEST_KERNEL) {
		free(mapping);
		return;
	}
	struct process *process = newest(machine, pid);
	uint32_t own = dump_pid(mapping->path);
	if (own) {
		process->dump_path = mapping->path;
		if (own != pid)
			process->namespace_pid = own;
	}
	mapping->file = is_file(mapping->path) && !own;
	spans_add(&process->maps, (struct span){.start = mapping->start,
					  .end = mapping->end,
					  .from = time,
					  .to = UINT64_MAX,
					  .value = mapping});
}

static void apply_comm(
	struct machine *machine, const struct perfdata_record *record, uint64_t time)
{
	struct bytes body = record->body;
	uint32_t pid = bytes_u32(&body), tid = bytes_u32(&body);
	const char *name = bytes_string(&body);

	if (!name)
		return;
	struct process *process = newest(machine, pid);
	if (record->misc & PERFDATA_MISC_COMM_EXEC) {
		if (!process->exec)
			process->exec = time;
		process->dump_path = NULL;
		spans_end_all(&process->maps, time);
	}
	process->comms = xreallocarray(
		process->comms, process->comm_count + 1, sizeof(*process->comms));
	process->comms[process->comm_count++] = (struct comm){tid, time, name};
}

/* While records are applied they come in order of time: the last one counts. */
static const char *last_comm(const struct process *process, uint32_t tid)
{
	for (size_t i = process->comm_count; i-- > 0;)
		if (process->comms[i].tid == tid)
			return process->comms[i].name;
	return NULL;
}

static void apply_fork(
	struct machine *machine, const struct perfdata_record *record, uint64_t time)
{
	struct bytes body = record->body;
	uint32_t pid = bytes_u32(&body), parent_pid = bytes_u32(&body);
	uint32_t tid = bytes_u32(&body), parent_tid = bytes_u32(&body);

	if (body.failed)
		return;
	struct process *parent = newest(machine, parent_pid), *process = parent;
	bool made_up = record->misc & PERFDATA_MISC_FORK_EXEC;
	if (pid != parent_pid) {
		process = add_process(machine, pid, time);
		/* What perf makes up for processes that were there before carries the
		 * mark, and brings its own mappings. */
		process->parent = made_up ? NULL : parent;
	}
	const char *name = last_comm(parent, parent_tid);
	if (!name || made_up)
		return;
	process->comms = xreallocarray(
		process->comms, process->comm_count + 1, sizeof(*process->comms));
	process->comms[process->comm_count++] = (struct comm){tid, time, name};
}

static void apply_kernel_symbol(
	struct machine *machine, const struct perfdata_record *record)
{
	struct bytes body = record->body;
	struct kernel_symbol symbol = {.start = bytes_u64(&body)};

	symbol.size = bytes_u32(&body);
	bytes_skip(&body, 2);
	bool gone = bytes_u16(&body) & 1; /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
	symbol.name = bytes_string(&body);
	if (body.failed || gone)
		return;
	machine->kernel_symbols = xreallocarray(machine->kernel_symbols,
		machine->kernel_symbol_count + 1, sizeof(symbol));
	machine->kernel_symbols[machine->kernel_symbol_count++] = symbol;
}

static void apply_late_chain(
	struct machine *machine, const struct perfdata_record *record)
{
	struct bytes body = record->body;
	struct late_chain late = {.cookie = bytes_u64(&body)};
	uint64_t count = bytes_u64(&body);

	if (count > bytes_left(&body) / 8)
		return;
	late.chain = bytes_part(&body, count * 8);
	if (body.failed)
		return;
	if ((machine->late_chain_count & (machine->late_chain_count - 1)) == 0)
		machine->late_chains = xreallocarray(machine->late_chains,
			machine->late_chain_count ? machine->late_chain_count * 2 : 1,
			sizeof(late));
	machine->late_chains[machine->late_chain_count++] = late;
}

static int compare_late_chains(const void *a, const void *b)
{
	const struct late_chain *left = a, *right = b;

	return left->cookie < right->cookie ? -1 : left->cookie > right->cookie;
}

const struct late_chain *machine_late_chain(
	const struct machine *machine, uint64_t cookie)
{
	struct late_chain key = {.cookie = cookie};

	return !machine->late_chain_count
		       ? NULL
		       : bsearch(&key, machine->late_chains, machine->late_chain_count,
				 sizeof(key), compare_late_chains);
}

/* struct namespaces: the pid namespace does not tell the pid inside it; only the name of
 * a jitdump does. What is kept is only what later steps ask. */
static void apply(struct machine *machine, const struct change *change)
{
	struct bytes body = change->record.body;

	switch (change->record.type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
		if (!(change->record.misc & PERFDATA_MISC_MMAP_DATA))
			apply_mapping(machine, &change->record, change->time);
		break;
	case PERFDATA_COMM: apply_comm(machine, &change->record, change->time); break;
	case PERFDATA_FORK: apply_fork(machine, &change->record, change->time); break;
	case PERFDATA_KSYMBOL: apply_kernel_symbol(machine, &change->record); break;
	case PERFDATA_LOST:
		bytes_skip(&body, 8);
		machine->lost += bytes_u64(&body);
		break;
	case PERFDATA_LOST_SAMPLES: machine->lost_samples += bytes_u64(&body); break;
	case PERFDATA_THROTTLE: machine->throttled++; break;
	case PERFDATA_AUX:
		bytes_skip(&body, 8);
		machine->traced += bytes_u64(&body);
		break;
	case PERFDATA_CALLCHAIN_DEFERRED:
		apply_late_chain(machine, &change->record);
		break;
	case PERFDATA_TIME_CONV:
		machine->time_shift = bytes_u64(&body);
		machine->time_mult = bytes_u64(&body);
		machine->time_zero = bytes_u64(&body);
		break;
	}
}

static int compare_changes(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static bool changes_machine(uint32_t type)
{
	switch (type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
	case PERFDATA_COMM:
	case PERFDATA_FORK:
	case PERFDATA_KSYMBOL:
	case PERFDATA_LOST:
	case PERFDATA_LOST_SAMPLES:
	case PERFDATA_THROTTLE:
	case PERFDATA_AUX:
	case PERFDATA_CALLCHAIN_DEFERRED:
	case PERFDATA_TIME_CONV: return true;
	}
	return false;
}

static int compare_comms(const void *a, const void *b)
{
	const struct comm *left = a, *right = b;

	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

static void index_process(struct process *process)
{
	spans_index(&process->maps);
	/* Equal times keep their order: a new name follows the one from the fork. */
	struct comm *comms = process->comms;
	for (size_t i = 1; i < process->comm_count; i++)
		if (comms[i].from <= comms[i - 1].from)
			comms[i].from =
				comms[i - 1].from + (comms[i].tid == comms[i - 1].tid);
	if (process->comm_count)
		qsort(comms, process->comm_count, sizeof(*comms), compare_comms);
}

void machine_read(struct machine *machine, struct perfdata *data)
{
	struct perfdata_record record;
	struct change *changes = NULL;
	size_t count = 0, room = 0;

	for (size_t i = 0; i < data->attr_count; i++)
		machine->untimed |= !(data->attrs[i].sample_type & ATTR_TIME);
	for (size_t i = 0; perfdata_other(data, i, &record); i++) {
		if (!changes_machine(record.type))
			continue;
		if (count == room) {
			room = room ? room * 2 : 1024;
			changes = xreallocarray(changes, room, sizeof(*changes));
		}
		struct change *change = &changes[count++];
		*change = (struct change){.offset = record.order, .record = record};
		if (machine->untimed)
			change->time = record.order;
		else if (record.attr)
			change->time = attr_trailing_time(record.attr, record.body);
	}
	if (count)
		qsort(changes, count, sizeof(*changes), compare_changes);
	for (size_t i = 0; i < count; i++)
		apply(machine, &changes[i]);
	free(changes);
	if (machine->late_chain_count)
		qsort(machine->late_chains, machine->late_chain_count,
			sizeof(*machine->late_chains), compare_late_chains);
	for (size_t i = 0; i < machine->all_count; i++)
		index_process(machine->all[i]);
}

void machine_release(struct machine *machine)
{
	for (size_t i = 0; i < machine->all_count; i++) {
		struct process *process = machine->all[i];
		for (size_t k = 0; k < process->maps.count; k++)
			free(process->maps.list[k].value);
		spans_release(&process->maps);
		free(process->comms);
		free(process);
	}
	free(machine->all);
	free(machine->table);
	free(machine->kernel_symbols);
	free(machine->late_chains);
	*machine = (struct machine){0};
}

struct process *machine_process(
	const struct machine *machine, uint32_t pid, uint64_t time)
{
	struct process *process =
		machine->table_size ? machine->table[slot(machine, pid)] : NULL;

	while (process && process->from > time && process->earlier)
		process = process->earlier;
	return process;
}

struct mapping *machine_mapping(const struct process *process, uint64_t address,
	uint64_t time, struct spans_validity *validity)
{
	for (int depth = 0; process && depth < DEPTH; depth++) {
		struct mapping *found =
			spans_find(&process->maps, address, time, validity);
		if (found)
			return found;
		/* Until its first exec, a copy of its parent as that stood at the fork.
		 */
		if (process->exec && time >= process->exec) {
			if (validity && validity->from < process->exec)
				validity->from = process->exec;
			return NULL;
		}
		if (process->exec && validity && validity->to > process->exec)
			validity->to = process->exec;
		if (process->from < time)
			time = process->from;
		process = process->parent;
		validity = NULL;
	}
	return NULL;
}

const char *machine_comm(const struct process *process, uint32_t tid, uint64_t time)
{
	size_t low = 0, high = process->comm_count;

	/* The first entry behind (tid, time). */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct comm *comm = &process->comms[middle];
		if (comm->tid < tid || (comm->tid == tid && comm->from <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low && process->comms[low - 1].tid == tid ? process->comms[low - 1].name
							 : NULL;
}
