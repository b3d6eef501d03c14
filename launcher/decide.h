/* From a command line to its plan: reads the machine, finds the command, decides. */
#ifndef LAUNCHER_DECIDE_H
#define LAUNCHER_DECIDE_H

struct options;
struct plan;

/* Makes the plan for options->command. Returns 0, or the exit status (125 to 127) after
 * one message; the plan is to be released only where it is 0. */
int decide(struct plan *plan, const struct options *options);

/* Prints the plan as --plan asks. Returns the exit status. */
int decide_print(const struct plan *plan, const struct options *options);

#endif
