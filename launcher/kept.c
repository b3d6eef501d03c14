/* What a supervised run keeps of itself. */
#include "launcher/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/codeelf.h"
#include "launcher/codesym.h"
#include "launcher/keep.h"
#include "launcher/plan.h"
#include "launcher/region.h"
#include "launcher/run.h"
#include "launcher/supervisor.h"
#include "launcher/watch.h"

enum {
	NAME_SIZE = 64,
	MAPS_LIMIT = 256 << 20,
};

static bool is_program(const struct supervisor *supervisor, const struct process *process)
{
	return process->pid == supervisor->job->program;
}

void kept_init(struct kept *kept, const struct supervisor_job *job)
{
	*kept = (struct kept){
		.plan = job->plan,
		.info = job->info,
		.writer = job->writer,
		.directory = job->directory,
	};
	/* The writer's own numbers are gone when it is finished. */
	kept_descriptors(kept, kept->released);
}

void kept_descriptors(const struct kept *kept, int descriptors[2])
{
	descriptors[0] = kept->directory;
	descriptors[1] = kept->writer ? kept->writer->parent : -1;
}

static void set(char **text, const char *value)
{
	free(*text);
	*text = xstrdup(value);
}

/* Returns owned text, or NULL with errno: a process that is ending has no memory left to
 * show. */
static char *read_maps(const struct process *process, size_t *size)
{
	char path[NAME_SIZE];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->alive);
	cleanup_free char *maps = run_read_file(AT_FDCWD, path, MAPS_LIMIT, size);
	if (!maps || *size)
		return steal_pointer(&maps);
	errno = ESRCH;
	return NULL;
}

void kept_image(struct supervisor *supervisor, struct process *process)
{
	struct kept *kept = &supervisor->kept;

	if (kept->directory < 0 || !is_program(supervisor, process) || kept->finished)
		return;
	kept_idle(supervisor);
	kept->maps_start = read_maps(process, &kept->maps_start_size);
	if (kept->maps_start)
		set(&kept->info->maps_start,
			"read while the program was held, its libraries mapped and none of "
			"its own code run");
	/* The rest of it does not change while the image runs; but the program may crash as
	 * soon as it does. */
	crash_seize(&supervisor->crash, supervisor->job->program);
	kept->image = process->alive;
}

/* The heap that the end needs, while nobody waits for it. */
static void warm_heap(void)
{
	enum {
		SIZE = 96 << 10
	}; /* less than what free() gives back or mmap would serve */
	char *memory = xmalloc(SIZE);

	base_populate(memory, SIZE);
	free(memory);
}

static void note_image(struct kept *kept)
{
	/* Of an image before this one: the RUN tells of the last. */
	free(kept->info->auxv.items);
	kept->info->auxv = (struct run_pairs){0};
	if (run_note_process(kept->info, kept->image) < 0)
		strv_add(&kept->info->notes,
			xasprintf("auxv and personality could not be read: %s",
				strerror(errno)));
	kept->image = 0;
}

static void write_maps_start(struct kept *kept)
{
	run_note_build_ids(kept->info, kept->maps_start);
	if (run_write_file(kept->directory, kept->writer ? "maps.start" : KEPT_MAPS_START,
		    kept->maps_start, kept->maps_start_size))
		strv_add(&kept->info->notes,
			xasprintf(
				"maps.start could not be written: %s", strerror(errno)));
	free(steal_pointer(&kept->maps_start));
}

int kept_tidy_in(const struct kept *kept)
{
	/* The program's very end is still to be seen to. */
	return kept->finished && kept->writer ? 5 : -1;
}

void kept_tidy(struct kept *kept)
{
	if (!kept->finished || !kept->writer)
		return;
	run_release(kept->writer);
	kept->writer = NULL;
}

void kept_idle(struct supervisor *supervisor)
{
	struct kept *kept = &supervisor->kept;

	if (kept->directory < 0 || kept->finished)
		return;
	if (!kept->noted) {
		struct run_clock start = kept->info->start;
		keep_note_plan(kept->info, kept->plan);
		kept->info->start = start;
		if (kept->writer)
			run_reserve(kept->writer);
		warm_heap();
		kept->noted = true;
	}
	if (kept->image)
		note_image(kept);
	if (kept->maps_start)
		write_maps_start(kept);
}

void kept_going(struct supervisor *supervisor, struct process *process, uint64_t from,
	uint64_t to, enum codekeep_fate fate)
{
	/* A child made by vfork sees its parent's memory; what it has is its parent's. */
	if (supervisor->kept.directory < 0 || supervisor->kept.finished ||
		process->borrows_memory || from >= to)
		return;
	codekeep_copy(&process->code, process, from, to, fate);
}

void kept_going_mapping(struct supervisor *supervisor, struct process *process,
	uint64_t address, enum codekeep_fate fate)
{
	struct region region;

	if (region_next(process, address, address + 1, &region) > 0)
		kept_going(supervisor, process, region.begin, region.end, fate);
}

static void lose(const struct kept *kept, const char *what, const char *why)
{
	strv_add(&kept->info->lost_code, xasprintf("%s: %s", what, why));
}

/* The jit's own file has more to tell than we see: where it was gathered it stays. */
static void write_code(
	const struct kept *kept, const struct process *process, const char *name)
{
	struct codesyms syms = {0};
	char message[CODEELF_MESSAGE];
	cleanup_fd int file = openat(kept->directory, name,
		O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (file < 0) {
		if (errno != EEXIST)
			lose(kept, name, strerror(errno));
		return;
	}
	codesyms_find(&syms, process->pid, kept->info->cwd, kept->directory);
	if (codeelf_write(file, &process->code, &syms, message)) {
		unlinkat(kept->directory, name, 0);
		lose(kept, name, message);
	}
	codesyms_release(&syms);
}

/* Runs of one fate and time, as they are in code.elf. */
static void note_pieces(const struct kept *kept, const struct process *process)
{
	const struct codekeep *keep = &process->code;
	struct run_code *last = NULL;

	for (size_t i = 0; i < keep->count; i++) {
		const struct codekeep_piece *piece = &keep->pieces[i];
		const char *fate = codekeep_fate_name(piece->fate);
		if (last && last->address + last->size == piece->address &&
			last->time == piece->time && !strcmp(last->fate, fate))
			last->size += piece->size;
		else
			last = run_code_add(kept->info, process->pid, piece->address,
				piece->size, fate, piece->time);
	}
}

static void keep_code(const struct kept *kept, struct process *process, bool program)
{
	char name[NAME_SIZE] = "code.elf";

	if (!program)
		snprintf(name, sizeof(name), "code-%d.elf", (int)process->pid);
	if (process->code.lost)
		strv_add(&kept->info->lost_code,
			xasprintf(
				"%llu bytes of code of process %d could not be read: %s",
				(unsigned long long)process->code.lost, (int)process->pid,
				strerror(process->code.error)));
	if (process->code.count) {
		note_pieces(kept, process);
		write_code(kept, process, name);
	}
}

/* Under another name first: a reader finds nothing or the whole. */
static void report(struct supervisor *supervisor)
{
	static const char temporary[] = KEPT_REPORT ".new";
	int directory = supervisor->kept.directory;
	cleanup_free char *text = run_info_format(supervisor->kept.info);

	if (!text || run_write_file(directory, temporary, text, strlen(text)) ||
		renameat(directory, temporary, directory, KEPT_REPORT))
		supervisor_warn(supervisor, "what was supervised could not be kept: %s",
			strerror(errno));
}

static void finish(struct supervisor *supervisor, struct process *process)
{
	struct kept *kept = &supervisor->kept;
	char message[RUN_MESSAGE];

	kept_idle(supervisor);
	for (struct process *other = supervisor->tasks.processes; other;
		other = other->next)
		run_pid_add(kept->info, other->pid);
	if (kept->writer)
		kept->info->finish = run_clock_now();
	run_collect(kept->directory, kept->info, kept->info->cwd, &kept->plan->collect);
	keep_code(kept, process, true);
	kept->finished = true;
	if (!kept->writer)
		report(supervisor);
	else if (run_finish(kept->writer, kept->info, message) < 0)
		supervisor_warn(supervisor, "%s", message);
	watchdog_release_run(&supervisor->watchdog);
}

static int write_file(struct kept *kept, const char *name, const char *text, size_t size)
{
	int result = run_write_file(kept->directory, name, text, size);

	if (result < 0 && kept->writer && run_use_reserve(kept->writer))
		result = run_write_file(kept->directory, name, text, size);
	return result;
}

static void save_maps_exit(struct kept *kept, const struct process *process)
{
	size_t size;
	cleanup_free char *maps = read_maps(process, &size);

	if (!maps || write_file(kept, kept->writer ? "maps.exit" : KEPT_MAPS_EXIT, maps,
			     size)) {
		strv_add(&kept->info->notes,
			xasprintf("maps.exit could not be written: %s", strerror(errno)));
		return;
	}
	run_note_build_ids(kept->info, maps);
	set(&kept->info->maps_exit, "read while the program was held at its end");
}

void kept_ending(struct supervisor *supervisor, struct process *process, int wait_status)
{
	struct kept *kept = &supervisor->kept;
	bool program = is_program(supervisor, process);

	if (kept->directory < 0 || kept->finished || process->borrows_memory)
		return;
	if (program && !process->started) {
		/* stablerun's own end: its execve failed. */
		if (kept->writer)
			run_abandon(kept->writer);
		kept->writer = NULL;
		kept->finished = true;
		watchdog_release_run(&supervisor->watchdog);
		return;
	}
	codekeep_copy(&process->code, process, 0, UINT64_MAX,
		WIFSIGNALED(wait_status) ? CODE_CRASHED : CODE_LIVE);
	run_pid_add(kept->info, process->pid);
	if (!program) {
		keep_code(kept, process, false);
		return;
	}
	run_note_end(kept->info, wait_status);
	save_maps_exit(kept, process);
	finish(supervisor, process);
}

void kept_drop(struct kept *kept)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept->released); i++)
		if (kept->released[i] >= 0)
			close(kept->released[i]);
	kept->finished = true;
}

void kept_died(struct supervisor *supervisor, struct process *process, const char *why)
{
	struct kept *kept = &supervisor->kept;
	struct watch watch;
	char path[NAME_SIZE];

	if (kept->directory < 0 || kept->finished)
		return;
	if (!is_program(supervisor, process)) {
		if (process->code.count) {
			keep_code(kept, process, false);
			strv_add(&kept->info->lost_code,
				xasprintf(
					"process %d was killed: code that was live then "
					"is lost",
					(int)process->pid));
		}
		return;
	}
	watch = (struct watch){.pid = process->pid,
		.pidfd = process->pidfd,
		.info = kept->info,
		.stat = -1};
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process->pid);
	watch.stat = open(path, O_RDONLY | O_CLOEXEC);
	watch_note_end(&watch);
	base_close_descriptor(&watch.stat);
	strv_add(&kept->info->lost_code,
		xasprintf("%s: code that was live at the end, and maps.exit, are lost",
			why));
	finish(supervisor, process);
}
