/* The sibling programs: `stablerun annotate` and `stablerun jit`. */
#ifndef LAUNCHER_SIBLING_H
#define LAUNCHER_SIBLING_H

/* Each replaces this process by the program of that name; argv[0] is the subcommand's
 * name. They return an exit status, after one message, only where that failed. */
int annotate_main(int argc, char **argv);
int jit_main(int argc, char **argv);

/* The path of the sibling `name` ("annotate", "jit"). Returns owned, or NULL after one
 * message. */
char *sibling_find(const char *name);

/* The path of this program. Returns owned. */
char *sibling_own_path(void);

#endif
