/* `stablerun gdb`: gdb at the addresses of a run. */
#ifndef LAUNCHER_GDB_H
#define LAUNCHER_GDB_H

/* Becomes gdb; returns an exit status, after one message, only where that failed. */
int gdb_main(int argc, char **argv);

#endif
