/* Answers about randomness: getrandom and the random devices. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "launcher/answer.h"
#include "launcher/supervisor.h"

/* Flags that the kernel answers with EINVAL (drivers/char/random.c). */
static bool is_refused(uint64_t flags)
{
	uint64_t both = GRND_RANDOM | GRND_INSECURE;

	return flags & ~(both | GRND_NONBLOCK) || (flags & both) == both;
}

void answer_getrandom(const struct question *question)
{
	enum { CHUNK = 16 << 10, MOST = 0x7ffff000 };
	uint64_t address = question->arguments[0], size = question->arguments[1];
	struct task *task = question->task;
	uint8_t bytes[CHUNK];
	uint64_t done = 0;

	if (is_refused(question->arguments[2]))
		return;
	size = size > MOST ? MOST : size;
	if (!answer_awaited(question->supervisor, question->id)) {
		question->answer->kind = ANSWER_NONE;
		return;
	}
	while (done < size) {
		size_t part = size - done < CHUNK ? size - done : CHUNK;
		seed_bytes(&task->key, SEED_GETRANDOM, 0, task->drawn, bytes, part);
		ssize_t written =
			process_write(task->process, address + done, bytes, part);
		if (written <= 0)
			break;
		task->drawn += (uint64_t)written;
		done += (uint64_t)written;
	}
	if (done || !size) {
		answer_value(question, (int64_t)done);
	} else if (errno == EFAULT) {
		answer_value(question, -EFAULT);
	} else {
		supervisor_warn_memory(question->supervisor, task->process);
	}
}

enum {
	PATH_SIZE = 4096,
	/* Documentation/admin-guide/devices.txt: 1:8 random, 1:9 urandom. */
	MEMORY_MAJOR = 1,
	RANDOM_MINOR = 8,
	URANDOM_MINOR = 9,
};

/* Reads a string a page at a time, as pages behind its end may be missing. */
static bool read_path(struct process *process, uint64_t address, char path[PATH_SIZE])
{
	size_t used = 0;

	while (used < PATH_SIZE) {
		size_t part = PATH_SIZE - (address + used) % PATH_SIZE;
		part = part < PATH_SIZE - used ? part : PATH_SIZE - used;
		ssize_t size = process_read(process, address + used, path + used, part);
		if (size <= 0)
			return false;
		if (memchr(path + used, '\0', (size_t)size))
			return true;
		used += (size_t)size;
	}
	return false;
}

/* Only a path that ends like one of the devices' is looked at more closely. */
static bool looks_random(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !strcmp(name, "urandom") || !strcmp(name, "random");
}

/* The name as the caller sees it: under its root, from its directory. */
static bool is_device(const struct question *question, int directory, const char *path)
{
	char full[PATH_SIZE + 64];
	struct stat status;
	int pid = (int)question->task->tid;

	if (*path == '/')
		snprintf(full, sizeof(full), "/proc/%d/root%s", pid, path);
	else if (directory == AT_FDCWD)
		snprintf(full, sizeof(full), "/proc/%d/cwd/%s", pid, path);
	else
		snprintf(full, sizeof(full), "/proc/%d/fd/%d/%s", pid, directory, path);
	return !stat(full, &status) && S_ISCHR(status.st_mode) &&
	       major(status.st_rdev) == MEMORY_MAJOR &&
	       (minor(status.st_rdev) == RANDOM_MINOR ||
		       minor(status.st_rdev) == URANDOM_MINOR);
}

static void open_path(
	const struct question *question, int directory, uint64_t address, uint64_t flags)
{
	struct supervisor *supervisor = question->supervisor;
	struct task *task = question->task;
	char path[PATH_SIZE];
	int writer;

	/* Who writes to the device gets the device. */
	if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_PATH | O_DIRECTORY | O_CREAT))
		return;
	if (!read_path(task->process, address, path) || !looks_random(path) ||
		!is_device(question, directory, path))
		return;
	int reader =
		devices_open(&supervisor->devices, &task->key, task->devices++, &writer);
	if (reader < 0) {
		supervisor_warn(supervisor, "'%s' of process %d is not seeded: %s", path,
			(int)task->process->pid, strerror(errno));
		return;
	}
	watchdog_adopt(&supervisor->watchdog, writer);
	question->answer->kind = ANSWER_OPEN;
	question->answer->descriptor = reader;
	question->answer->close_on_exec = flags & O_CLOEXEC;
}

void answer_open(const struct question *question)
{
	open_path(question, AT_FDCWD, question->arguments[0], question->arguments[1]);
}

void answer_openat(const struct question *question)
{
	open_path(question, (int)question->arguments[0], question->arguments[1],
		question->arguments[2]);
}

void answer_openat2(const struct question *question)
{
	struct open_how how;

	/* Its ways of resolving are the kernel's; none of them is needed for a device. */
	if (question->arguments[3] < sizeof(how) ||
		process_read(question->task->process, question->arguments[2], &how,
			sizeof(how)) != sizeof(how) ||
		how.resolve)
		return;
	open_path(
		question, (int)question->arguments[0], question->arguments[1], how.flags);
}
