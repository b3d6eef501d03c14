/* `stablerun perf`: samples a command, once or many times, into one RUN. */
#ifndef LAUNCHER_PERF_H
#define LAUNCHER_PERF_H

int perf_main(int argc, char **argv);

#endif
