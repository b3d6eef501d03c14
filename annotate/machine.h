/* The recorded machine over time: processes, their names and what was mapped where. Built
 * from the records of perf.data in order of time, then asked about moments in any order.
 */
#ifndef ANNOTATE_MACHINE_H
#define ANNOTATE_MACHINE_H

#include "annotate/perfdata.h"
#include "annotate/spans.h"

struct module;
struct code_set;

struct mapping {
	uint64_t start, end;
	uint64_t offset;  /* of `start` in the file, in bytes */
	const char *path; /* borrowed from perf.data */
	uint8_t build_id[PERFDATA_BUILD_ID_ROOM];
	unsigned build_id_size; /* 0: not known */
	bool file;		/* a real file, rather than memory with a name */
	struct module *module;	/* found on first use; NULL before */
	uint64_t from;
	/* Where the whole file lies in memory by its program headers; `low` 0: not known.
	 */
	uint64_t low, high, bias;
	bool placed;
};

struct comm {
	uint32_t tid;
	uint64_t from;
	const char *name; /* borrowed from perf.data */
};

struct process {
	uint32_t pid;
	uint64_t from;		 /* when it began, ns */
	uint64_t exec;		 /* when it first began a program of its own; 0: never */
	struct process *parent;	 /* it began as a copy of this one; NULL: not known */
	struct process *earlier; /* an older process of the same pid */
	struct spans maps;	 /* struct mapping */
	struct comm *comms;	 /* in order of time */
	size_t comm_count;
	struct code_set *code;	/* JIT code of the process, borrowed, or NULL */
	const char *dump_path;	/* the jitdump it mapped, borrowed, or NULL */
	uint32_t namespace_pid; /* its pid as it sees it itself; 0: not known */
};

struct kernel_symbol { /* PERF_RECORD_KSYMBOL: BPF programs and the like */
	uint64_t start, size;
	const char *name; /* borrowed */
};

struct late_chain { /* PERF_RECORD_CALLCHAIN_DEFERRED: the user's part of a sample's stack */
	uint64_t cookie;    /* as in the sample that it belongs to */
	struct bytes chain; /* u64 addresses, borrowed from the file */
};

struct machine {
	struct process **table; /* by pid, the newest of each; open addressing */
	size_t table_size, count;
	struct process **all; /* in order of appearance */
	size_t all_count;
	struct kernel_symbol *kernel_symbols;
	size_t kernel_symbol_count;
	uint64_t lost, lost_samples; /* records lost, samples lost */
	uint64_t throttled;	     /* times the kernel slowed the sampling down */
	uint64_t traced;	     /* bytes of hardware traces, which are not decoded */
	struct late_chain *late_chains; /* by cookie */
	size_t late_chain_count;
	uint64_t time_shift, time_mult, time_zero; /* TIME_CONV; mult 0: none */
	bool untimed; /* no stamps: the place in the file stands for the time */
};

/* Reads every record that is no sample. */
void machine_read(struct machine *machine, struct perfdata *data);
void machine_release(struct machine *machine);

/* The process that had `pid` at `time`; NULL where none was ever named. */
struct process *machine_process(
	const struct machine *machine, uint32_t pid, uint64_t time);

/* What `process` had mapped at `address`, or NULL. Narrows `validity`, when given. */
struct mapping *machine_mapping(const struct process *process, uint64_t address,
	uint64_t time, struct spans_validity *validity);

/* The chain that the kernel put off until the thread came back to its program, or NULL. */
const struct late_chain *machine_late_chain(
	const struct machine *machine, uint64_t cookie);

/* The name of a thread at a moment, or NULL. */
const char *machine_comm(const struct process *process, uint32_t tid, uint64_t time);

#endif
