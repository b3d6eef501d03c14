/* `stablerun save RUN` in gdb: the process that gdb has stopped, kept as a RUN. */
#ifndef LAUNCHER_GDB_SAVE_H
#define LAUNCHER_GDB_SAVE_H

#include <sys/types.h>

/* Writes what can be known of the stopped process `pid` from outside into a new RUN: its
 * command, environment, limits, memory map, and its code as it is now. It needs the right
 * to read /proc/PID/mem, which a debugger's owner has. Returns an exit status, after one
 * message where it is not 0. */
int gdb_save(pid_t pid, const char *path);

#endif
