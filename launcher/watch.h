/* Watching a program from outside, without stopping it: its memory maps, its processes
 * and how it ended. Only /proc is read; no ptrace, so that strace, gdb and signals are as
 * ever. */
#ifndef LAUNCHER_WATCH_H
#define LAUNCHER_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run_info;

struct watch {
	pid_t pid;
	int pidfd;     /* readable when the program has ended */
	int stat;      /* /proc/PID/stat: tells the status of a zombie */
	int directory; /* of the RUN; borrowed */
	struct run_info *info;
	uint64_t began;	  /* CLOCK_MONOTONIC of the exec, ns */
	unsigned pause;	  /* until the next look, ms */
	char *start_maps; /* the look at the exec; owned */
	size_t start_size;
	uint64_t start_time;
	char *maps; /* the last look at the maps; owned */
	size_t maps_size;
	uint64_t maps_time;
};

/* For a process that exists and is not yet reaped. 0 or -1 with errno; `watch` is then
 * released. `info` and `directory` are borrowed until watch_release(). */
int watch_init(struct watch *watch, pid_t pid, int directory, struct run_info *info);
void watch_release(struct watch *watch);

/* The program has just been executed: notes auxv and personality, looks at the maps. */
void watch_executed(struct watch *watch);

/* Looks at the maps and at the processes now. */
void watch_look(struct watch *watch);

/* Waits for the program's end and looks now and then. `wake`, or -1: a descriptor whose
 * becoming readable ends the wait too. Returns true when the program has ended. */
bool watch_wait(struct watch *watch, int wake);

/* The program has ended: writes maps.start and maps.exit from the first and the last look,
 * where nobody wrote better ones, and says how they came about. */
void watch_ended(struct watch *watch);

/* How a process that is not our child ended: fills info->end. To be called at once when
 * watch_wait() said that it has: its parent may reap it at any moment, and only kernels
 * from 6.15 on tell after that. */
void watch_note_end(struct watch *watch);

#endif
