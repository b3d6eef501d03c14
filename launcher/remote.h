/* Work in another process that is stopped under ptrace: its memory, and system calls that
 * it makes on our behalf.
 *
 * The process is to be seized with PTRACE_O_TRACESYSGOOD. Functions return 0, or -1 with
 * errno: ESRCH where it is gone (killed, or the tracer lost it), EPROTO where it stopped
 * in a way that it never should. */
#ifndef LAUNCHER_REMOTE_H
#define LAUNCHER_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct remote {
	pid_t pid;
	int memory; /* /proc/PID/mem, or -1 */
};

/* One system call; numbers and arguments as the x86-64 kernel takes them. */
struct remote_call {
	long number;
	uint64_t args[6];
};

/* What lies on a page of calls: the loop that makes them, data that they refer to, the
 * calls and an end mark. */
enum { REMOTE_DATA = 64, REMOTE_PAGE_MOST = 32 << 10 };

/* Opens its memory. remote_close() may be called on a zeroed or closed one too. */
int remote_open(struct remote *remote, pid_t pid);
void remote_close(struct remote *remote);

/* All `size` bytes or -1. Writing overrides the protection of private pages. */
int remote_read(const struct remote *remote, uint64_t address, void *data, size_t size);
int remote_write(
	const struct remote *remote, uint64_t address, const void *data, size_t size);

/* How a process that runs on is expected to stop. */
enum remote_stop {
	REMOTE_SYSCALL, /* at the border of a system call */
	REMOTE_TRAP,	/* after one instruction, or at an int3 */
	REMOTE_EXEC,	/* inside a successful execve (PTRACE_O_TRACEEXEC) */
};

/* Waits for the wanted stop. What comes between is passed on as if nobody traced: signals
 * are delivered, a stopped process stays stopped until it is continued. `request` is the
 * ptrace request that it goes on with then. */
int remote_wait(const struct remote *remote, int request, enum remote_stop wanted);

/* Resumes with `request` (PTRACE_CONT, PTRACE_SYSCALL, PTRACE_SINGLESTEP) and waits. */
int remote_resume(const struct remote *remote, int request, enum remote_stop wanted);

/* Makes one call through the `syscall` instruction at `instruction`, by a single step;
 * the result, -errno included, is in *result. Changes its registers. */
int remote_call(const struct remote *remote, uint64_t instruction,
	const struct remote_call *call, long *result);

/* Writes `page`, an executable mapping of its own of `room` bytes, anew: the data (a
 * multiple of eight bytes) at page + REMOTE_DATA, and calls. E2BIG where they do not fit. */
int remote_load(const struct remote *remote, uint64_t page, size_t room, const void *data,
	size_t data_size, const struct remote_call *calls, size_t count);

/* Makes the calls of that page, one after the other and until one fails, in one go. *done
 * is how many succeeded and *error what the next one said (an errno), or 0. Where this
 * fails itself it is not known how many were made. Changes its registers. */
int remote_run(const struct remote *remote, uint64_t page, size_t data_size, size_t count,
	size_t *done, int *error);

/* The room that they need. */
size_t remote_room(size_t data_size, size_t count);

#endif
