/* `stablerun --again=RUN [-- COMMAND [ARG...]]`: a kept run's plan once more. */
#ifndef LAUNCHER_AGAIN_H
#define LAUNCHER_AGAIN_H

struct options;
struct plan;

/* Makes the plan that the kept run options->again had: its program, arguments,
 * environment, limits and personality; the working directory becomes the run's. A COMMAND
 * must be the run's program; its arguments, where they differ, replace the run's (gdb's
 * `run ARG...`). Returns 0, or an exit status after one message; the plan is to be
 * released in either case. */
int again_plan(struct plan *plan, const struct options *options);

#endif
