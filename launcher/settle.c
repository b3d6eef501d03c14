/* Turns: the threads of a program that starts run one after the other.
 *
 * What races while a runtime starts are threads that set themselves up beside the one that
 * made them: HotSpot's compilers generate their stubs into the memory that the first thread
 * puts adapters in. A call that the kernel asks about is a place where the caller waits
 * anyway; it waits until all others sleep. That a thread sleeps is of the program's own
 * doing, how fast it got there is not. */
#include "launcher/settle.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/supervisor.h"

enum {
	/* Who computes for longer is not setting itself up. */
	MOST = 200000000, /* ns */
	PAUSE = 100000,
};

/* proc(5): the state stands behind the name, which may hold anything. S is asleep, also in
 * a call that we have not received yet; Z and X will not run any more; the rest runs, D at
 * once after a page was read, t once a debugger has taken note of something. */
static bool is_asleep(int directory, const char *tid)
{
	char path[32], text[256];

	snprintf(path, sizeof(path), "%.16s/stat", tid);
	cleanup_fd int file = openat(directory, path, O_RDONLY | O_CLOEXEC);
	ssize_t size = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	if (size <= 0)
		return true;
	text[size] = '\0';
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' && strchr("SZXT", end[2]);
}

static bool all_sleep(DIR *tasks, pid_t caller)
{
	struct dirent *entry;

	rewinddir(tasks);
	while ((entry = readdir(tasks)) != NULL)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != caller &&
			!is_asleep(dirfd(tasks), entry->d_name))
			return false;
	return true;
}

void settle(const struct process *process, pid_t caller)
{
	uint64_t begin = image_monotonic_now();
	char path[32];

	/* The list of a single thread is not worth reading. */
	if (!process->tasks ||
		(!process->tasks->next_in_process && !process->tasks->births))
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)process->pid);
	DIR *tasks = opendir(path);
	if (!tasks)
		return;
	while (!all_sleep(tasks, caller) && image_monotonic_now() - begin < MOST)
		nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
	closedir(tasks);
}
