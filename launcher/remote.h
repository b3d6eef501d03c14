/* Work in another process that is stopped under ptrace: its memory, and system calls that
 * it makes on our behalf.
 *
 * The process is to be seized with PTRACE_O_TRACESYSGOOD. Functions return 0, or -1 with
 * errno: ESRCH where it is gone (killed, or the tracer lost it), EPROTO where it stopped
 * in a way that it never should. */
#ifndef LAUNCHER_REMOTE_H
#define LAUNCHER_REMOTE_H

#include <stdbool.h>
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

/* To be added to a number: it does not matter if the call fails. */
#define REMOTE_OPTIONAL (1L << 62)
/* The last argument of every call made here ("place", in whole pages), which no kernel
 * looks at: a supervisor tells them from the program's own by it. */
#define REMOTE_MARK 0x706c616365000

/* What lies on a page of calls: the loop that makes them, data that they refer to, the
 * calls and an end mark. */
enum { REMOTE_DATA = 128, REMOTE_PAGE_MOST = 32 << 10 };

/* The calls of a page, and how they end: at an int3 of the page, or, where there is a
 * gadget, by unmapping the page from outside of it. */
struct remote_page {
	uint64_t address;
	size_t room; /* bytes */
	const void *data;
	size_t data_size; /* a multiple of eight */
	const struct remote_call *calls;
	size_t count;
	uint64_t gadget; /* 0, or a `syscall` that a `ret` follows when it succeeds */
	uint64_t stack;	 /* holds the address `trap` for it, and nothing that is needed */
	uint64_t trap;	 /* an int3 */
};

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

/* What is to be on the page, at `bytes` of `room`. Returns its size, or 0 and E2BIG. */
size_t remote_build(const struct remote_page *page, unsigned char *bytes, size_t room);

/* Writes the page, which is an executable mapping of its own. E2BIG where its room does
 * not do. */
int remote_load(const struct remote *remote, const struct remote_page *page);

struct remote_result {
	bool mapped;	/* there was a page to make them on */
	size_t done;	/* calls made */
	size_t skipped; /* optional ones of them that failed */
	int error;	/* what the next one said (an errno), or 0 */
};

/* Makes the calls of a loaded page, one after the other and until one fails, in one go. If
 * there is a gadget and no error the page is gone. Where this fails itself it is not known
 * how many were made. Changes its registers. */
int remote_run(const struct remote *remote, const struct remote_page *page,
	struct remote_result *result);

/* Both, and mapping the page before, in one go too, from inside the stop of an execve: by
 * code that is written over `home`, `size` executable bytes that the program can do
 * without meanwhile. `kept` gets what was there, for the caller to write back. Where the
 * page cannot be mapped `error` is why. E2BIG as before, with nothing done. */
int remote_enter(const struct remote *remote, const struct remote_page *page,
	uint64_t home, size_t size, void *kept, struct remote_result *result);

/* The room that they need, at most. */
size_t remote_room(size_t data_size, size_t count);

/* The offset of a gadget in code (see remote_page), or `size`. */
size_t remote_find_gadget(const unsigned char *code, size_t size);

#endif
