/* A second helper that outlives the supervisor. Without one a program would be left with
 * system calls that nobody answers: exit_group fails then, and threads wait for ever. */
#ifndef LAUNCHER_WATCHDOG_H
#define LAUNCHER_WATCHDOG_H

#include <linux/seccomp.h>
#include <sys/types.h>

struct supervisor;
struct supervisor_job;

/* The supervisor's side of it. */
struct watchdog {
	pid_t pid; /* where it is the supervisor's child: one that was started anew */
	int link;  /* a socket to it; hung up when it has died */
};

/* Memory that both share. The supervisor receives every request here, so that the one it
 * did not live to answer is known. Returns NULL with errno. */
struct seccomp_notif *watchdog_share(void);

/* Everything a watchdog has to do: takes the listener from `listeners`, sleeps until the
 * process behind the pidfd dies, then lets every call through and finishes the RUN. */
_Noreturn void watchdog_run(
	const struct supervisor_job *job, int listeners, int link, int supervisor);

/* Starts a new one where the last one died; polled by supervisor->poll. 0, or -1 with
 * errno. */
int watchdog_restart(struct supervisor *supervisor);

/* Hands it the writing end of a device, to keep full should the supervisor die. */
void watchdog_adopt(struct watchdog *watchdog, int writer);

/* The RUN is finished: the watchdog lets it go. */
void watchdog_release_run(struct watchdog *watchdog);

#endif
