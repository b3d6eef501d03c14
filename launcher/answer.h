/* The functions that the table of answer.c names, and what they are given. */
#ifndef LAUNCHER_ANSWER_H
#define LAUNCHER_ANSWER_H

#include <stdint.h>
#include <sys/types.h>

struct answer;
struct seccomp_data;
struct supervisor;
struct task;

/* One request of the kernel. */
struct question {
	struct supervisor *supervisor;
	struct task *task;
	uint64_t id;
	const uint64_t *arguments; /* of the system call */
	struct answer *answer;	   /* ANSWER_CONTINUE unless a function changes it */
};

/* The call returns `value`, or fails with -value. */
void answer_value(const struct question *question, int64_t value);

/* answer_random.c */
void answer_getrandom(const struct question *question);
void answer_open(const struct question *question);
void answer_openat(const struct question *question);
void answer_openat2(const struct question *question);

/* answer_clock.c */
void answer_futex(const struct question *question);
void answer_clock_nanosleep(const struct question *question);

/* The same where the supervisor is gone and clocks may still be held, none from before
 * `clock_began` (ns). Allocates nothing; the call is then to be let through. */
void answer_unsupervised(
	pid_t caller, uint64_t clock_began, const struct seccomp_data *call);

/* answer_code.c: calls after which code may be gone. Each is let through. */
void answer_munmap(const struct question *question);
void answer_mremap(const struct question *question);
void answer_shmdt(const struct question *question);
void answer_mprotect(const struct question *question);
void answer_mmap(const struct question *question);
void answer_shmat(const struct question *question);
void answer_madvise(const struct question *question);

#endif
