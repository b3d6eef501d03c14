/* A second helper that outlives the supervisor. Without one a program would be left with
 * system calls that nobody answers: exit_group fails then, and threads wait for ever. */
#ifndef LAUNCHER_WATCHDOG_H
#define LAUNCHER_WATCHDOG_H

#include <linux/seccomp.h>
#include <sys/types.h>

struct supervisor;

struct watchdog {
	pid_t pid;
	int pidfd;  /* readable when it has died */
	int socket; /* takes descriptors of devices, for watchdog_adopt() */
	/* Shared memory. The supervisor receives every request here, so that the one it
	 * did not live to answer is known. */
	struct seccomp_notif *request;
};

/* Prepares the shared memory; 0, or -1 with errno. */
int watchdog_init(struct watchdog *watchdog);

/* Starts it, or a new one after it died: polled by supervisor->poll. 0, or -1 with errno.
 */
int watchdog_start(struct supervisor *supervisor);

/* To be called when its pidfd is readable. */
void watchdog_reap(struct supervisor *supervisor);

/* Hands it the writing end of a device, to keep full should the supervisor die. */
void watchdog_adopt(struct watchdog *watchdog, int writer);

/* The RUN is finished: the watchdog lets it go. */
void watchdog_release_run(struct watchdog *watchdog);

#endif
