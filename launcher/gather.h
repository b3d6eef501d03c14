/* Several kept runs as one RUN: the first one's files are the RUN's, each further run is a
 * RUN of its own in RUN/2, RUN/3, …, as `stablerun perf -n N` leaves them. */
#ifndef LAUNCHER_GATHER_H
#define LAUNCHER_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/run.h"

/* What becomes of runs that were made on a machine unlike the others'. */
enum gather_differing { GATHER_DROP, GATHER_KEEP, GATHER_REFUSE };

struct gathered {
	struct run run;
	char *maker; /* for messages: a host, or the RUN's own path */
	bool dropped;
};

struct gather {
	struct gathered *items; /* owned */
	size_t count;
	/* Of the runs that gather_place() has put into the RUN. */
	unsigned placed;
	uint64_t samples;
	uint64_t lost;
};

/* What the value of --differing= asks for; a bad one ends the program (gather_main.c). */
enum gather_differing gather_differing(const char *value);

/* Adds the RUN at `path`, or each of its runs; `maker` NULL: it is called by its path. 0, or
 * -1 with `message`. */
int gather_add(struct gather *gather, const char *path, const char *maker,
	char message[RUN_MESSAGE]);

/* Says which runs' machines differ from most runs', and in what. Returns 0, or -1 where
 * GATHER_REFUSE was asked for and some do. */
int gather_settle(struct gather *gather, enum gather_differing differing);

/* Puts what was not dropped into the RUN being written: moved where `move`, else copied.
 * Sets `info` to what its run.json must say; it is to be released. 0, or -1 with
 * `message`. */
int gather_place(struct gather *gather, struct run_writer *writer, bool move,
	struct run_info *info, char message[RUN_MESSAGE]);

void gather_release(struct gather *gather);

/* `stablerun gather -o RUN RUN...` */
int gather_main(int argc, char **argv);

#endif
