/* `perf record` attached to a program that waits to be executed.
 *
 * The recorder is attached by pid, before the exec, with its events switched on through
 * perf's control descriptors. So the launcher stays the program's parent (its exit status
 * is exact), a Ctrl-C reaches the program and not perf, and perf failing midway harms
 * nobody. */
#ifndef LAUNCHER_RECORDER_H
#define LAUNCHER_RECORDER_H

#include <stdbool.h>
#include <sys/types.h>

struct recorder_options {
	const char *event;	 /* in perf's words */
	unsigned long frequency; /* samples a second */
	const char *call_graph;	 /* perf's --call-graph, or NULL for none */
};

struct recorder {
	pid_t pid; /* of perf; -1: none */
	int control;
	int answer;
	int directory; /* of the RUN; borrowed */
};

/* Starts perf on the process `pid`, writing perf.data into `directory`, and returns when
 * it samples. 0, or -1 with *cause, owned, in words. */
int recorder_start(struct recorder *recorder, const struct recorder_options *options,
	pid_t pid, int directory, char **cause);

/* Ends the recording. 0, or -1 with *cause: then perf.data may be cut or missing. */
int recorder_stop(struct recorder *recorder, char **cause);

#endif
