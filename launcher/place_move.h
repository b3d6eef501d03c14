/* Moving a program that is stopped in its execve to its stable places. */
#ifndef LAUNCHER_PLACE_MOVE_H
#define LAUNCHER_PLACE_MOVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum place_outcome {
	PLACE_MOVED,
	PLACE_UNMOVED, /* it stands as the kernel made it */
	PLACE_BROKEN,  /* half of it has moved: it must not run */
	PLACE_GONE,    /* killed meanwhile */
};

struct place_result {
	enum place_outcome outcome;
	char cause[256];      /* why it is unmoved or broken, in words */
	bool sealed;	      /* moved, but for the kernel's own mappings */
	uint64_t instruction; /* a `syscall` instruction of the program's, or 0 */
};

/* `pid` is seized with PTRACE_O_TRACEEXEC, PTRACE_O_TRACESYSGOOD and PTRACE_O_EXITKILL,
 * and stands at PTRACE_EVENT_EXEC. Unless it is gone it is left stopped before its first
 * instruction, ready for PTRACE_DETACH. */
void place_move(pid_t pid, struct place_result *result);

#endif
