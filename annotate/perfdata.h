/* perf.data: the container that `perf record` writes, as a file or through a pipe, in
 * either byte order, compressed or not. Format: the kernel's tools/perf/util/header.h and
 * tools/perf/Documentation/perf.data-file-format.txt; records as in
 * include/uapi/linux/perf_event.h, perf's own (64 and up) in
 * tools/lib/perf/include/perf/event.h. */
#ifndef ANNOTATE_PERFDATA_H
#define ANNOTATE_PERFDATA_H

#include "annotate/attr.h"
#include "annotate/fault.h"
#include "annotate/file.h"

enum perfdata_type {
	PERFDATA_MMAP = 1,
	PERFDATA_LOST = 2,
	PERFDATA_COMM = 3,
	PERFDATA_EXIT = 4,
	PERFDATA_THROTTLE = 5,
	PERFDATA_UNTHROTTLE = 6,
	PERFDATA_FORK = 7,
	PERFDATA_SAMPLE = 9,
	PERFDATA_MMAP2 = 10,
	PERFDATA_AUX = 11,
	PERFDATA_LOST_SAMPLES = 13,
	PERFDATA_NAMESPACES = 16,
	PERFDATA_KSYMBOL = 17,
	PERFDATA_CALLCHAIN_DEFERRED = 22,
	PERFDATA_TIME_CONV = 79,
};

enum {
	PERFDATA_MISC_CPUMODE = 7,
	PERFDATA_MISC_KERNEL = 1,
	PERFDATA_MISC_USER = 2,
	PERFDATA_MISC_HYPERVISOR = 3,
	PERFDATA_MISC_GUEST_KERNEL = 4,
	PERFDATA_MISC_GUEST_USER = 5,
	PERFDATA_MISC_MMAP_DATA = 1 << 13,
	PERFDATA_MISC_COMM_EXEC = 1 << 13,
	PERFDATA_MISC_FORK_EXEC = 1 << 13,
	PERFDATA_MISC_MMAP_BUILD_ID = 1 << 14,
	PERFDATA_MISC_BUILD_ID_SIZE = 1 << 15,
	PERFDATA_BUILD_ID_ROOM = 20,
};

struct perfdata_record {
	uint32_t type;
	uint16_t misc;
	struct bytes body; /* without the 8 bytes of header */
	uint64_t offset;   /* in the file, or in the unpacked records */
	const struct attr
		*attr;	/* whose layout the record has; NULL for perf's own records */
	uint32_t event; /* of `attr`, index into attrs */
	uint64_t order; /* 1…, among all records */
};

struct perfdata_mark { /* where a record stands */
	uint64_t position, order;
	bool in_unpacked;
};

/* An entry of the build-id table. */
struct perfdata_build_id {
	const char *path; /* borrowed from the file */
	uint8_t id[PERFDATA_BUILD_ID_ROOM];
	unsigned size;
	int pid;
};

struct perfdata_id {
	uint64_t id;
	uint32_t event;
	uint64_t counted; /* for whoever follows the event's counter */
};

struct perfdata {
	struct file file;
	bool swap, pipe, compressed;
	bool at_exit; /* samples do not say when they were taken, and the mappings are
		       * those of the process' end: a CPU profile of gperftools */
	bool cut;     /* what could be read ends early; `fault` says where */
	struct fault fault;
	uint64_t data_offset, data_size;

	struct attr *attrs;
	size_t attr_count;
	struct perfdata_id *ids; /* sorted */
	size_t id_count;
	struct perfdata_build_id *build_ids;
	size_t build_id_count;

	/* Borrowed from the file; NULL where the file does not say. */
	const char *hostname, *release, *arch;
	char *command; /* owned, words separated by blanks */

	uint8_t *unpacked; /* records that were compressed */
	size_t unpacked_size;

	uint64_t first_sample, last_sample; /* ns; UINT64_MAX and 0 without stamps */
	struct perfdata_mark *others;	    /* records that are no samples, in order */
	size_t other_count, other_room;

	/* Where perfdata_next() is. */
	uint64_t position, order;
	uint64_t passed; /* bytes of the file whose pages were given back */
	bool in_unpacked, ids_sorted;
};

/* Opens `path`. 0, or -1 with the fault worded. Close it with perfdata_close(). A file
 * that is cut opens, with `cut` set, as long as it tells what was recorded. A CPU profile of
 * gperftools, which names no process, is read as one of process `pid`. */
int perfdata_open(
	struct perfdata *data, const char *path, uint32_t pid, struct fault *fault);
void perfdata_close(struct perfdata *data);

/* The event an id stands for, or NULL. */
struct perfdata_id *perfdata_find_id(struct perfdata *data, uint64_t id);

/* The next record: 1, or 0 at the end. perfdata_rewind() starts again. */
int perfdata_next(struct perfdata *data, struct perfdata_record *record);
void perfdata_rewind(struct perfdata *data);

/* The record number `index` (0…) of those that are no samples: 1, or 0 behind the last.
 * Afterwards perfdata_next() goes on behind it. */
int perfdata_other(struct perfdata *data, size_t index, struct perfdata_record *record);

#endif
