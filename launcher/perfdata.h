/* The few things the launcher needs from a perf.data that perf has just written: how many
 * samples, how many were lost, and which processes there were. annotate has the full
 * reader. */
#ifndef LAUNCHER_PERFDATA_H
#define LAUNCHER_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perfdata {
	uint64_t samples;
	uint64_t lost; /* samples that the kernel could not hand over */
	bool cut;      /* the file ends inside a record: perf was interrupted */
	/* Called for each process that a sampled one forked; may be NULL. */
	void (*process)(void *context, pid_t parent, pid_t pid);
	void *context;
};

/* Reads the uncompressed perf.data `bytes`, filling in what is asked. Returns 0, or -1
 * where it is no perf.data of this machine's byte order. */
int perfdata_scan(struct perfdata *data, const unsigned char *bytes, size_t size);

/* The same for a file; -1 with errno (EINVAL: no perf.data). */
int perfdata_scan_file(struct perfdata *data, int directory, const char *name);

#endif
