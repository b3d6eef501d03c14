/* `stablerun -o RUN -- COMMAND`: the program keeps its pid and its parent; a helper
 * beside it keeps the run. */
#ifndef LAUNCHER_KEEP_H
#define LAUNCHER_KEEP_H

struct plan;
struct run_info;
struct run_writer;

/* What the plan says, into run.json's terms. `info` is all zero before. */
void keep_note_plan(struct run_info *info, const struct plan *plan);

/* Begins the RUN that the plan wants. Returns 0, or an exit status
 * after one message. */
int keep_begin(struct run_writer *writer, const struct plan *plan);

/* Starts a helper that watches the program without supervising it: it sees the coming
 * execve and what happens after it, and finishes the RUN. Returns 0, or an exit status
 * after one message. Writer and info live on in the helper; the execve releases them
 * here. */
int keep_watch(struct run_writer *writer, struct run_info *info, const struct plan *plan);

/* After the program's end: notes the time and what the maps name, and gathers what the
 * run's processes wrote into the RUN's directory. */
void keep_collect(int directory, struct run_info *info, const struct plan *plan);

#endif
