/* Edits of the vDSO, the code that the kernel maps into every process so that clocks and
 * randomness need no system call, which also means that seccomp does not see them.
 *
 * Pure: an image's bytes go in, edits come out. Who makes them in a process is image.c.
 */
#ifndef LAUNCHER_VDSO_H
#define LAUNCHER_VDSO_H

#include <stddef.h>
#include <stdint.h>

enum {
	VDSO_EDIT_BYTES = 96,
	VDSO_EDITS = 4,
};

/* Bytes to be written at an offset of the image. */
struct vdso_edit {
	uint64_t offset;
	size_t size;
	uint8_t bytes[VDSO_EDIT_BYTES];
};

struct vdso_edits {
	struct vdso_edit items[VDSO_EDITS];
	size_t count;
};

/* Makes getrandom answer ENOSYS, upon which C libraries make the system call. Returns 0,
 * also where the image has no getrandom (before Linux 6.11); -1 where it is not
 * understood. */
int vdso_silence_random(struct vdso_edits *edits, const uint8_t *image, size_t size);

/* Makes clock_gettime(CLOCK_MONOTONIC) answer `frozen` ns as long as the byte at offset
 * *switch_offset is not 0 and the time stamp counter is below `tsc_limit`. Every other
 * clock, and this one afterwards, is the original's. To be done before the program looks
 * the function up. Returns 0, or -1 where the image has no such function or no room. */
int vdso_hold_clock(struct vdso_edits *edits, const uint8_t *image, size_t size,
	uint64_t frozen, uint64_t tsc_limit, uint64_t *switch_offset);

#endif
