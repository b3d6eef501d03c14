/* Decoding of perf_event_attr and of samples: the order of a sample's fields is that of
 * PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h. */
#include "annotate/attr.h"
#include "launcher/base.h"

enum {
	READ_ENABLED = 1,
	READ_RUNNING = 2,
	READ_ID = 4,
	READ_GROUP = 8,
	READ_LOST = 16,
	BRANCH_HW_INDEX = 1 << 17,
	BRANCH_COUNTERS = 1 << 19,
	FLAG_FREQ = 1 << 10,
	FLAG_SAMPLE_ID_ALL = 1 << 18,
	FLAG_USE_CLOCKID = 1 << 25,
	ENTRY_BRANCH = 24, /* struct perf_branch_entry */
};

/* The flags are C bitfields: on a machine of the other byte order the first flag is the
 * highest bit of the first byte, so each byte is mirrored rather than the word swapped.
 */
static uint64_t read_flags(struct bytes *bytes)
{
	const uint8_t *start = bytes_take(bytes, 8);
	uint64_t flags = 0;

	for (int i = 0; start && i < 8; i++) {
		uint8_t byte = start[i];
		if (bytes->swap) {
			uint8_t mirrored = 0;
			for (int bit = 0; bit < 8; bit++)
				if (byte & (1 << bit))
					mirrored |= (uint8_t)(0x80 >> bit);
			byte = mirrored;
		}
		flags |= (uint64_t)byte << (8 * i);
	}
	return flags;
}

void attr_read(struct attr *attr, struct bytes bytes)
{
	*attr = (struct attr){0};
	attr->type = bytes_u32(&bytes);
	(void)bytes_u32(&bytes); /* size */
	attr->config = bytes_u64(&bytes);
	attr->period = bytes_u64(&bytes);
	attr->sample_type = bytes_u64(&bytes);
	attr->read_format = bytes_u64(&bytes);
	uint64_t flags = read_flags(&bytes);
	bytes_skip(&bytes, 4 + 4 + 8 + 8); /* wakeup, bp_type, config1, config2 */
	attr->branch_sample_type = bytes_u64(&bytes);
	attr->regs_user = bytes_u64(&bytes);
	(void)bytes_u32(&bytes); /* sample_stack_user */
	attr->clockid = (int)bytes_u32(&bytes);
	attr->frequency = flags & FLAG_FREQ;
	attr->sample_id_all = flags & FLAG_SAMPLE_ID_ALL;
	attr->use_clockid = flags & FLAG_USE_CLOCKID;
}

char *attr_default_name(const struct attr *attr)
{
	/* enum perf_hw_id and enum perf_sw_ids. */
	static const char *const hardware[] = {"cycles", "instructions",
		"cache-references", "cache-misses", "branches", "branch-misses",
		"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
		"ref-cycles"};
	static const char *const software[] = {"cpu-clock", "task-clock", "page-faults",
		"context-switches", "cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "dummy", "bpf-output",
		"cgroup-switches"};

	if (attr->type == 0 && attr->config < ARRAY_SIZE(hardware))
		return xstrdup(hardware[attr->config]);
	if (attr->type == 1 && attr->config < ARRAY_SIZE(software))
		return xstrdup(software[attr->config]);
	return xasprintf("event %u:0x%llx", attr->type, (unsigned long long)attr->config);
}

static unsigned read_words(const struct attr *attr)
{
	return 1 + !!(attr->read_format & READ_ID) + !!(attr->read_format & READ_LOST);
}

/* Counters are of interest where a group is read: each of them is then sampled. */
static void read_counters(
	const struct attr *attr, struct bytes *body, struct attr_sample_data *sample)
{
	uint64_t format = attr->read_format, count = 1, size = read_words(attr) * 8;

	if (format & READ_GROUP)
		count = bytes_u64(body);
	if (!(format & READ_GROUP))
		bytes_skip(body, 8);
	if (format & READ_ENABLED)
		bytes_skip(body, 8);
	if (format & READ_RUNNING)
		bytes_skip(body, 8);
	if (!(format & READ_GROUP)) {
		bytes_skip(body, size - 8);
		return;
	}
	if (count > bytes_left(body) / size) {
		body->failed = true;
		return;
	}
	sample->reads = bytes_part(body, count * size);
	sample->read_count = format & READ_ID ? count : 0;
}

bool attr_read_next(const struct attr *attr, struct attr_sample_data *sample,
	uint64_t *value, uint64_t *id)
{
	if (!sample->read_count)
		return false;
	sample->read_count--;
	*value = bytes_u64(&sample->reads);
	*id = bytes_u64(&sample->reads);
	bytes_skip(&sample->reads, (read_words(attr) - 2) * 8);
	return true;
}

static void skip_branches(const struct attr *attr, struct bytes *body)
{
	uint64_t count = bytes_u64(body);

	if (attr->branch_sample_type & BRANCH_HW_INDEX)
		bytes_skip(body, 8);
	if (count > bytes_left(body) / ENTRY_BRANCH) {
		body->failed = true;
		return;
	}
	bytes_skip(body, count * ENTRY_BRANCH);
	if (attr->branch_sample_type & BRANCH_COUNTERS)
		bytes_skip(body, count * 8);
}

static void read_user_state(
	const struct attr *attr, struct bytes *body, struct attr_sample_data *sample)
{
	if (attr->sample_type & ATTR_REGS_USER) {
		sample->regs_abi = bytes_u64(body);
		if (sample->regs_abi)
			sample->regs = bytes_part(body,
				8 * (uint64_t)__builtin_popcountll(attr->regs_user));
	}
	if (attr->sample_type & ATTR_STACK_USER) {
		uint64_t size = bytes_u64(body);
		if (size) {
			sample->stack = bytes_take(body, size);
			sample->stack_size = bytes_u64(body);
			if (sample->stack_size > size)
				sample->stack_size = size;
		}
	}
}

bool attr_sample_read(
	const struct attr *attr, struct bytes body, struct attr_sample_data *sample)
{
	uint64_t type = attr->sample_type;

	*sample = (struct attr_sample_data){.period = 1};
	if (type & ATTR_IDENTIFIER)
		sample->id = bytes_u64(&body);
	if (type & ATTR_IP)
		sample->ip = bytes_u64(&body);
	if (type & ATTR_TID) {
		sample->pid = bytes_u32(&body);
		sample->tid = bytes_u32(&body);
	}
	if (type & ATTR_TIME)
		sample->time = bytes_u64(&body);
	if (type & ATTR_ADDR)
		bytes_skip(&body, 8);
	if (type & ATTR_ID)
		sample->id = bytes_u64(&body);
	if (type & ATTR_STREAM_ID)
		bytes_skip(&body, 8);
	if (type & ATTR_CPU) {
		sample->cpu = bytes_u32(&body);
		bytes_skip(&body, 4);
	}
	if (type & ATTR_PERIOD)
		sample->period = bytes_u64(&body);
	if (type & ATTR_READ)
		read_counters(attr, &body, sample);
	if (type & ATTR_CALLCHAIN) {
		sample->chain_count = bytes_u64(&body);
		if (sample->chain_count > bytes_left(&body) / 8)
			return false;
		sample->chain = bytes_part(&body, sample->chain_count * 8);
	}
	if (type & ATTR_RAW)
		bytes_skip(&body, bytes_u32(&body));
	if (type & ATTR_BRANCH_STACK)
		skip_branches(attr, &body);
	read_user_state(attr, &body, sample);
	return !body.failed;
}

uint64_t attr_trailing_time(const struct attr *attr, struct bytes body)
{
	/* In this order at the record's end: tid, time, id, stream_id, cpu, identifier.
	 */
	static const uint64_t after[] = {
		ATTR_ID, ATTR_STREAM_ID, ATTR_CPU, ATTR_IDENTIFIER};
	size_t back = 8;

	if (!attr->sample_id_all || !(attr->sample_type & ATTR_TIME))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(after); i++)
		if (attr->sample_type & after[i])
			back += 8;
	if (back > bytes_left(&body))
		return 0;
	body.at = body.end - back;
	return bytes_u64(&body);
}

int attr_id_offset(const struct attr *attr)
{
	static const uint64_t before[] = {ATTR_IP, ATTR_TID, ATTR_TIME, ATTR_ADDR};
	int offset = 0;

	if (attr->sample_type & ATTR_IDENTIFIER)
		return 0;
	if (!(attr->sample_type & ATTR_ID))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(before); i++)
		if (attr->sample_type & before[i])
			offset += 8;
	return offset;
}

int attr_time_offset(const struct attr *attr)
{
	uint64_t before = attr->sample_type & (ATTR_IDENTIFIER | ATTR_IP | ATTR_TID);

	return attr->sample_type & ATTR_TIME ? 8 * __builtin_popcountll(before) : -1;
}
