/* /dev/urandom and /dev/random of a seeded run: pipes that always have bytes.
 *
 * The program's open is answered with the reading end of a pipe that is kept full. What
 * differs from the device: fstat() tells of a pipe, and one read gives 64 KiB at most, as
 * reads of a device may too. */
#ifndef LAUNCHER_DEVICE_H
#define LAUNCHER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/seed.h"

struct device {
	struct device *next;
	int writer; /* not blocking; polled for room and for the last reader's end */
	struct seed_key key;
	uint64_t index;
	uint64_t offset; /* bytes written so far */
};

struct devices {
	int poll; /* an epoll descriptor, borrowed */
	struct device *list;
};

void devices_init(struct devices *devices, int poll);

/* A new one, with the stream SEED_DEVICE, `index` of `key`. Returns the reading end,
 * which the caller closes, or -1 with errno. *writer is borrowed. */
int devices_open(
	struct devices *devices, const struct seed_key *key, uint64_t index, int *writer);

/* An event of the poll descriptor: true where `descriptor` is a device's; it is filled,
 * or closed when nobody reads it any more. */
bool devices_serve(struct devices *devices, int descriptor, uint32_t events);

#endif
