/* The supervisor's process: what its parts share. */
#ifndef LAUNCHER_SUPERVISOR_H
#define LAUNCHER_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/crash.h"
#include "launcher/device.h"
#include "launcher/kept.h"
#include "launcher/task.h"
#include "launcher/vdso.h"
#include "launcher/watchdog.h"

struct seccomp_data;

/* What the supervisor is to do; the program's process fills it in before the fork. */
struct supervisor_job {
	unsigned wants; /* mask of enum filter_want */
	uint64_t seed;
	uint64_t clock_ns; /* how long each image's clock is held */
	uint64_t began;	   /* CLOCK_MONOTONIC, ns: no clock was held before */
	pid_t program;
	int error;		       /* why there is none */
	pid_t supervisor;	       /* set in the program's process by the fork */
	struct seccomp_notif *request; /* from watchdog_share() */
	/* What is kept; directory -1 for nothing. The fields of the program's process. */
	const struct plan *plan;
	struct run_info *info;
	struct run_writer *writer;
	int directory;
	bool place; /* what descendants execute is moved to its places, see place.h */
};

struct supervisor {
	const struct supervisor_job *job;
	int poll;
	int listener;
	struct seccomp_notif *request;
	struct watchdog watchdog;
	struct tasks tasks;
	struct devices devices;
	/* The same for every process: */
	struct vdso_edits random_edits;
	bool random_edits_known;
	struct kept kept;
	struct crash crash;
	bool warned_memory; /* said once that a process' memory is out of reach */
};

/* Everything there is to do, from the listener that arrives at `listeners` to the end of the
 * last supervised process. `link` leads to the watchdog. */
_Noreturn void supervisor_run(const struct supervisor_job *job, int listeners, int link);

/* A line on the program's stderr, which the supervisor does not hold itself: a pipe that
 * it held open would keep its reader waiting. */
void supervisor_warn(struct supervisor *supervisor, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Says once in a run that a process' memory cannot be read or written, from errno. */
void supervisor_warn_memory(struct supervisor *supervisor, const struct process *process);

/* ---- answer.c ---- */

/* How a system call ends that the kernel asked about. */
struct answer {
	enum answer_kind {
		ANSWER_CONTINUE, /* the kernel does it */
		ANSWER_VALUE,	 /* `value`, or -errno */
		ANSWER_OPEN,	 /* a copy of `descriptor`, which is then closed here */
		ANSWER_NONE,	 /* the caller is gone */
	} kind;
	int64_t value;
	int descriptor;
	bool close_on_exec;
};

/* Works out the answer to request `id` of the task. */
void answer_find(struct supervisor *supervisor, struct task *task, uint64_t id,
	const struct seccomp_data *call, struct answer *answer);

/* Whether the caller still waits: what was read through its number was its own. */
bool answer_awaited(const struct supervisor *supervisor, uint64_t id);

/* ---- image.c ---- */

/* To be called when a program may just have begun: where one did, its AT_RANDOM, its vDSO
 * and its clock are made what the run wants. */
void image_check(struct supervisor *supervisor, struct process *process);

/* What can be worked out before the first program begins. */
void image_prepare(struct supervisor *supervisor);

/* What a held clock shows, 1 s: below every real time of CLOCK_MONOTONIC, which begins at
 * boot, so that it never steps back. */
enum { IMAGE_FROZEN = 1000000000 };

/* CLOCK_MONOTONIC in ns. */
uint64_t image_monotonic_now(void);

/* Lets go the clocks whose time has come. Returns the ms until the next one, or -1. */
int image_release_clocks(struct supervisor *supervisor);

#endif
