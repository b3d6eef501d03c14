/* What a supervised run keeps of itself: maps, code and how it ended, written while the
 * program is held in its last system call. */
#ifndef LAUNCHER_KEPT_H
#define LAUNCHER_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/codekeep.h"

struct plan;
struct process;
struct run_info;
struct run_writer;
struct supervisor;
struct supervisor_job;

struct kept {
	const struct plan *plan;
	struct run_info *info;
	int directory;		   /* files go here; -1: nothing is kept */
	struct run_writer *writer; /* of the RUN; NULL where somebody else finishes it */
	bool finished;
	bool noted;  /* the plan is */
	pid_t image; /* a thread of a new image of which nothing is noted yet, or 0 */
	char *maps_start; /* read and not written yet, or NULL */
	size_t maps_start_size;
	int released[2]; /* see kept_drop() */
};

/* Where another part of stablerun finishes the RUN (no writer), what only the supervisor
 * knows goes there in files of its own: maps, and a report in run.json's form. The promise
 * of one is an empty file. */
#define KEPT_REPORT	"supervised.json"
#define KEPT_MAPS_START "supervised.maps.start"
#define KEPT_MAPS_EXIT	"supervised.maps.exit"

void kept_promise(int directory);
void kept_break_promise(int directory);

/* After the program's end: waits for what was promised, moves it to where it belongs and
 * into `info`. Does nothing where nothing was promised. */
void kept_merge(int directory, struct run_info *info);

void kept_init(struct kept *kept, const struct supervisor_job *job);

/* The descriptors that the supervisor must not lose: at most two, else -1. */
void kept_descriptors(const struct kept *kept, int descriptors[2]);

/* The program's present image has its libraries and has not run yet. */
void kept_image(struct supervisor *supervisor, struct process *process);

/* from..to of the process is about to go away. */
void kept_going(struct supervisor *supervisor, struct process *process, uint64_t from,
	uint64_t to, enum codekeep_fate fate);

/* The whole mapping that begins at `address` is. */
void kept_going_mapping(struct supervisor *supervisor, struct process *process,
	uint64_t address, enum codekeep_fate fate);

/* The process is about to end with this wait status (see waitpid(2)); where it is the
 * program itself the RUN is finished. */
void kept_ending(struct supervisor *supervisor, struct process *process, int wait_status);

/* The process has died. Where it is the program itself and its end was not seen coming,
 * `why`, what can still be had is kept. */
void kept_died(struct supervisor *supervisor, struct process *process, const char *why);

/* The watchdog's copy: lets go what it holds open of a RUN that is finished. */
void kept_drop(struct kept *kept);

/* Does what need not be done while the program waits. */
void kept_idle(struct supervisor *supervisor);

/* Takes away what a finished RUN has replaced; to be called in that many ms, -1: not at
 * all, or once nothing else is to be done. */
int kept_tidy_in(const struct kept *kept);
void kept_tidy(struct kept *kept);

#endif
