/* One event as perf.data describes it (struct perf_event_attr of the kernel's
 * include/uapi/linux/perf_event.h) and where its samples keep what. */
#ifndef ANNOTATE_ATTR_H
#define ANNOTATE_ATTR_H

#include "annotate/bytes.h"

/* perf_event_sample_format. */
enum attr_sample {
	ATTR_IP = 1 << 0,
	ATTR_TID = 1 << 1,
	ATTR_TIME = 1 << 2,
	ATTR_ADDR = 1 << 3,
	ATTR_READ = 1 << 4,
	ATTR_CALLCHAIN = 1 << 5,
	ATTR_ID = 1 << 6,
	ATTR_CPU = 1 << 7,
	ATTR_PERIOD = 1 << 8,
	ATTR_STREAM_ID = 1 << 9,
	ATTR_RAW = 1 << 10,
	ATTR_BRANCH_STACK = 1 << 11,
	ATTR_REGS_USER = 1 << 12,
	ATTR_STACK_USER = 1 << 13,
	ATTR_IDENTIFIER = 1 << 16,
};

struct attr {
	uint32_t type;
	uint64_t config;
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t period;    /* events a sample, or samples a second where `frequency` */
	uint64_t regs_user; /* mask of registers kept with each sample */
	bool frequency, sample_id_all, use_clockid;
	int clockid;
	char *name; /* owned; never NULL once the file is open */
};

/* What of a sample annotate needs. Counts and times as in the file; the arrays point into
 * the record and are read with the file's byte order. */
struct attr_sample_data {
	uint64_t ip, time, period, id;
	uint32_t pid, tid, cpu;
	struct bytes reads; /* of a group's counters: see attr_read_next() */
	uint64_t read_count;
	struct bytes chain; /* u64 addresses, nearest first, with context markers */
	uint64_t chain_count;
	uint64_t regs_abi; /* PERF_SAMPLE_REGS_ABI_*: 0 none */
	struct bytes regs; /* u64, one a bit of regs_user from the lowest */
	const uint8_t *stack;
	uint64_t stack_size; /* of what is valid of the copied stack */
};

/* Reads an attr of `size` bytes as the file's producer laid it out; missing later fields
 * are zero, unknown ones ignored. The name stays NULL. */
void attr_read(struct attr *attr, struct bytes bytes);

/* A name for an event that the file does not name, "cpu-clock" for example. Owned. */
char *attr_default_name(const struct attr *attr);

/* Decodes the body of a sample record. False where it is shorter than it claims. */
bool attr_sample_read(
	const struct attr *attr, struct bytes body, struct attr_sample_data *sample);

/* The next counter of a group that was read with the sample: its value so far and the id
 * of its event. False at the end. */
bool attr_read_next(const struct attr *attr, struct attr_sample_data *sample,
	uint64_t *value, uint64_t *id);

/* The trailing sample_id of a record that is no sample: its time, or 0 where it has none.
 */
uint64_t attr_trailing_time(const struct attr *attr, struct bytes body);

/* Bytes from the start of a sample's body to its id and its time; -1: it has none. */
int attr_id_offset(const struct attr *attr);
int attr_time_offset(const struct attr *attr);

#endif
