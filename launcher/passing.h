/* Descriptors passed between processes, over a socket pair. */
#ifndef LAUNCHER_PASSING_H
#define LAUNCHER_PASSING_H

#include <stdint.h>

/* Sends a copy of `descriptor`, or none (-1), with a number. 0, or -1 with errno; a peer
 * that is gone raises no signal. */
int passing_send(int socket, int descriptor, int64_t number);

/* Receives a descriptor, close-on-exec, and its number where `number` is not NULL; -1
 * where none came: with errno 0 where only a number came, ECONNRESET where the peer is
 * gone. */
int passing_receive(int socket, int64_t *number);

#endif
