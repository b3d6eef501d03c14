/* The memory maps that a RUN keeps: /proc/PID/maps as text, read back. */
#ifndef LAUNCHER_MAPS_H
#define LAUNCHER_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct map {
	uint64_t start;
	uint64_t end;
	char access[5]; /* "r-xp" */
	uint64_t offset;
	const char *name; /* a path, "[heap]", …, "" for anonymous; never NULL */
};

struct maps {
	struct map *items; /* in the order of the file: ascending */
	size_t count;
	char *text; /* what the names point into */
};

/* Takes `text` (owned memory, NUL after its `size` bytes). Returns 0, or the number of the
 * first line that is not as proc_pid_maps(5) has it; then nothing is to be released. */
size_t maps_parse(struct maps *maps, char *text, size_t size);
void maps_release(struct maps *maps);

/* Reads the file `name` of a RUN: 0; -1 with errno; or, positive, the bad line's number. */
long maps_read(struct maps *maps, int directory, const char *name);

#endif
