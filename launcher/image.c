/* The start of a new image in a supervised process: what happens between the kernel's
 * execve and the program's first use of randomness or of a clock. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "launcher/base.h"
#include "launcher/filter.h"
#include "launcher/supervisor.h"

enum {
	AUXV_ENTRIES = 64,
	VDSO_LIMIT = 64 << 10,
	PAGE = 4096,
	SECOND = 1000000000,
	/* A program that waits more than it computes holds its clock this many times as
	 * long at most. */
	MOST_WAITED = 10,
	/* No time stamp counter is faster than 10 a ns: a held clock is let go late by
	 * it, never early. */
	TSC_PER_NS = 10,
};

struct start {
	uint64_t random; /* addresses: AT_RANDOM */
	uint64_t vdso;	 /* AT_SYSINFO_EHDR, or 0 */
};

static int read_start(struct start *start, const struct process *process)
{
	Elf64_auxv_t auxv[AUXV_ENTRIES];
	char path[64];

	*start = (struct start){0};
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)process->alive);
	cleanup_fd int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, auxv, sizeof(auxv));
	if (size <= 0)
		return -1;
	for (size_t i = 0; i < (size_t)size / sizeof(auxv[0]); i++) {
		if (auxv[i].a_type == AT_RANDOM)
			start->random = auxv[i].a_un.a_val;
		else if (auxv[i].a_type == AT_SYSINFO_EHDR)
			start->vdso = auxv[i].a_un.a_val;
	}
	return start->random ? 0 : -1;
}

/* The vDSO's bytes in `bytes`; returns their number, or 0. */
static size_t read_vdso(
	struct process *process, uint64_t address, uint8_t bytes[VDSO_LIMIT])
{
	Elf64_Ehdr header;

	if (process_read(process, address, &header, sizeof(header)) != sizeof(header))
		return 0;
	uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	if (end > VDSO_LIMIT - PAGE)
		return 0;
	size_t size = (end + PAGE - 1) / PAGE * PAGE;
	return process_read(process, address, bytes, size) == (ssize_t)size ? size : 0;
}

/* The kernel lets a writer of /proc/PID/mem copy the pages first (FOLL_FORCE), so that
 * the edits are this image's alone. */
static int make_edits(
	struct process *process, uint64_t vdso, const struct vdso_edits *edits)
{
	int memory = process_memory(process);

	if (memory < 0)
		return -1;
	for (size_t i = 0; i < edits->count; i++) {
		const struct vdso_edit *edit = &edits->items[i];
		if (pwrite(memory, edit->bytes, edit->size,
			    (off_t)(vdso + edit->offset)) != (ssize_t)edit->size)
			return -1;
	}
	return 0;
}

/* One vDSO is mapped into every 64-bit process: ours tells what is to be done to theirs. */
void image_prepare(struct supervisor *supervisor)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;

	if (supervisor->random_edits_known || !vdso ||
		!(supervisor->job->wants & FILTER_SEED))
		return;
	memcpy(&header, vdso, sizeof(header));
	size_t size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	supervisor->random_edits_known =
		!vdso_silence_random(&supervisor->random_edits, vdso, size);
}

static int silence_random(
	struct supervisor *supervisor, struct process *process, uint64_t vdso)
{
	if (!supervisor->random_edits_known) {
		uint8_t bytes[VDSO_LIMIT];
		size_t size = read_vdso(process, vdso, bytes);

		if (!size ||
			vdso_silence_random(&supervisor->random_edits, bytes, size)) {
			errno = ENOEXEC;
			return -1;
		}
		supervisor->random_edits_known = true;
	}
	return make_edits(process, vdso, &supervisor->random_edits);
}

uint64_t image_monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static int hold_clock(
	struct supervisor *supervisor, struct process *process, uint64_t vdso)
{
	uint64_t period = supervisor->job->clock_ns, offset;
	struct vdso_edits edits = {.count = 0};
	uint8_t bytes[VDSO_LIMIT];
	size_t size = read_vdso(process, vdso, bytes);

	if (!size || vdso_hold_clock(&edits, bytes, size, IMAGE_FROZEN,
			     __rdtsc() + period * MOST_WAITED * TSC_PER_NS, &offset)) {
		errno = ENOEXEC;
		return -1;
	}
	if (make_edits(process, vdso, &edits))
		return -1;
	process->clock_began = image_monotonic_now();
	process->clock_held = period;
	process->clock_switch = vdso + offset;
	return 0;
}

static void release_clock(struct process *process)
{
	int memory = process_memory(process);

	/* Where this fails the stub's own limit ends it. */
	if (memory >= 0 &&
		pwrite(memory, &(char){0}, 1, (off_t)process->clock_switch) != 1)
		errno = 0;
	process->clock_held = 0;
}

/* The time that the process has computed for, which a busy machine and a debugger that
 * stops it do not make longer. */
static uint64_t computed(const struct process *process)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(process->pid, &clock) || clock_gettime(clock, &time))
		return UINT64_MAX;
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* How many ns the clock is still to be held, at least; 0: no longer. */
static uint64_t hold_left(const struct process *process, uint64_t now)
{
	uint64_t done = computed(process), waited = now - process->clock_began;

	if (done >= process->clock_held || waited / MOST_WAITED >= process->clock_held)
		return 0;
	return process->clock_held - done;
}

int image_release_clocks(struct supervisor *supervisor)
{
	enum { MILLISECOND = 1000000 };
	uint64_t next = UINT64_MAX, now = 0;

	if (!(supervisor->job->wants & FILTER_CLOCK))
		return -1;
	for (struct process *process = supervisor->tasks.processes; process;
		process = process->next) {
		if (!process->clock_held)
			continue;
		now = now ? now : image_monotonic_now();
		uint64_t left = hold_left(process, now);
		if (!left)
			release_clock(process);
		else if (left < next)
			next = left;
	}
	return next == UINT64_MAX ? -1 : (int)(next / MILLISECOND + 1);
}

static void edit_vdso(
	struct supervisor *supervisor, struct process *process, uint64_t vdso)
{
	unsigned wants = supervisor->job->wants;

	process->clock_held = process->clock_began = 0;
	if (!vdso)
		return;
	if (wants & FILTER_SEED && silence_random(supervisor, process, vdso))
		supervisor_warn(supervisor,
			"the vDSO's getrandom of process %d is not seeded: %s",
			(int)process->pid, strerror(errno));
	if (wants & FILTER_CLOCK && hold_clock(supervisor, process, vdso))
		supervisor_warn(supervisor, "the clock of process %d is not held: %s",
			(int)process->pid, strerror(errno));
}

void image_check(struct supervisor *supervisor, struct process *process)
{
	uint8_t bytes[PROCESS_START_BYTES];
	struct start start;

	process->executing = false;
	if (read_start(&start, process) ||
		process_read(process, start.random, bytes, sizeof(bytes)) !=
			(ssize_t)sizeof(bytes)) {
		supervisor_warn_memory(supervisor, process);
		return;
	}
	/* The kernel writes new bytes there for each image: an execve that failed leaves
	 * the old ones. */
	if (process->started && !memcmp(bytes, process->start_bytes, sizeof(bytes)))
		return;
	tasks_begin_image(&supervisor->tasks, process);
	if (supervisor->job->wants & FILTER_SEED) {
		seed_bytes(
			&process->tasks->key, SEED_AT_RANDOM, 0, 0, bytes, sizeof(bytes));
		if (process_write(process, start.random, bytes, sizeof(bytes)) !=
			(ssize_t)sizeof(bytes))
			supervisor_warn_memory(supervisor, process);
	}
	memcpy(process->start_bytes, bytes, sizeof(bytes));
	edit_vdso(supervisor, process, start.vdso);
}
