/* The plan's part on the start block: environment, pad and stack limit. */
#ifndef LAUNCHER_PLAN_BLOCK_H
#define LAUNCHER_PLAN_BLOCK_H

struct machine;
struct options;
struct plan;

/* The variables, by --env; not yet sorted, so that rules can add theirs. */
void plan_variables(
	struct plan *plan, const struct options *options, const struct machine *machine);

/* Sorts them, and chooses pad and stack limit for what the arguments and they weigh. To
 * be called once nothing is added to either any more. */
void plan_block(
	struct plan *plan, const struct options *options, const struct machine *machine);

#endif
