/* Stable addresses where the kernel or a filter refuses personality(ADDR_NO_RANDOMIZE).
 *
 * The program is executed with random addresses and stopped before its first instruction;
 * a helper process moves all its mappings to fixed places and lets it go. No privileges
 * are needed: it is what ptrace allows a process to do to its own children.
 *
 * A supervisor sees what the program is made to call before its own first system call:
 * prctl, mremap, mprotect, madvise, mmap and munmap; place_calls_own() tells them from the
 * program's own.
 *
 *     place.h          what the rest of the launcher calls
 *     place_facts.c    what must be known to decide whether it can be done
 *     place_helper.c   the helper process: seize, wait for execve, move, let go
 *     place_move.c     the moving, step by step; place_read.c: what is there
 *     place_layout.c, place_calls.c, place_stack.c, place_maps.c, place_elf.c   decide
 *     remote.c         system calls and memory of the stopped program
 *     place_load.c     the program loaded without execve, where nobody may be traced;
 *                      place_load_file.c, place_load_stack.c: its parts */
#ifndef LAUNCHER_PLACE_H
#define LAUNCHER_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What stands against moving a program, as far as it can be known before. */
struct place_facts {
	bool address_limit; /* RLIMIT_AS is set: a terabyte does not fit */
	bool no_proc;	    /* /proc is not there */
	bool no_numbers;    /* the kernel has no PR_SET_MM_MAP, or a filter refuses it */
	bool unreadable;    /* the program is execute-only */
	bool foreign;	    /* it is no 64-bit x86 ELF file */
	int tracer;	    /* the process that traces us, or 0 */
};

/* Reads them for the program at `path`. */
void place_facts_read(struct place_facts *facts, const char *path);

/* Why moving cannot work, in words (static), or NULL. Pure. */
const char *place_facts_obstacle(const struct place_facts *facts);

/* Whether a launch with these options will move its program; for those who have to start
 * it in another way then. Pure. */
bool place_will_move(char *const *options, size_t count, bool persona_refused);

struct place_order {
	bool move;     /* else it is only held */
	bool required; /* where that cannot be it must not run at all: status 125 */
	bool quiet;    /* no warning where it is not moved */
	bool hold;     /* leave it stopped before its first instruction (SIGSTOP) */
	bool alone;    /* nobody else shares this process's memory from now on */
};

/* Starts the helper; the very next execve of this process is then placed. To be called
 * last before it, single-threaded. Returns 0, or 125 after a message. Where nothing is
 * required and the helper cannot work (ptrace is refused) it says so and returns 0. */
int place_prepare(const struct place_order *order);

/* For a supervisor: `thread` of another process is inside an execve that the supervisor
 * holds back (a seccomp notification). Starts a helper for it. Returns 0 once the execve
 * may be let through, which is then placed, or an errno where it will not be. Where it
 * fails the process goes on as if nothing had been. */
int place_follow(pid_t thread);

#endif
