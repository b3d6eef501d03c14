/* Running with enough stack. */
#ifndef LAUNCHER_STACK_H
#define LAUNCHER_STACK_H

/* Calls `run` and returns what it does, on a stack of half a MiB at least. */
int stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
