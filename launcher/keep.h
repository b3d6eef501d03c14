/* `stablerun -o RUN -- COMMAND`: the program keeps its pid and its parent; a helper
 * beside it keeps the run. */
#ifndef LAUNCHER_KEEP_H
#define LAUNCHER_KEEP_H

struct plan;
struct run_info;

/* What the plan says, into run.json's terms. `info` is all zero before. */
void keep_note_plan(struct run_info *info, const struct plan *plan);

/* A step of launch(): begins the RUN and starts the helper, which sees the coming execve
 * and everything after it. Returns 0, or an exit status after one message. Does nothing
 * where no RUN is wanted. */
int keep_start(const struct plan *plan);

#endif
