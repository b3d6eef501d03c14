/* Files of a RUN: whole or not at all. */
#include "launcher/run.h"

#include "launcher/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* Most of what is read is a page of /proc. */
	GROWTH = 4 << 10,
};

/* /proc files say that they are empty: read until the end instead of asking the size. */
static char *read_all(int fd, size_t limit, size_t *size)
{
	char *bytes = NULL;
	size_t used = 0, room = 0;

	for (;;) {
		if (used + 1 >= room) {
			room = room ? room * 2 : GROWTH;
			bytes = xrealloc(bytes, room);
		}
		ssize_t got = read(fd, bytes + used, room - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got > 0)
			used += (size_t)got;
		if (used > limit)
			errno = EFBIG;
		if (got < 0 || used > limit) {
			free(bytes);
			return NULL;
		}
		if (got == 0)
			break;
	}
	bytes[used] = '\0';
	*size = used;
	return bytes;
}

char *run_read_file(int directory, const char *name, size_t limit, size_t *size)
{
	/* O_NONBLOCK: a FIFO of that name must not hold a reader up. */
	cleanup_fd int fd =
		openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return NULL;
	if (!S_ISREG(status.st_mode)) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
		return NULL;
	}
	return read_all(fd, limit, size);
}

char *run_last_line(int directory, const char *name, size_t limit,
	bool (*says_nothing)(const char *line))
{
	size_t size;
	cleanup_free char *text = run_read_file(directory, name, limit, &size);
	char *found = NULL;

	for (char *line = text, *next; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		if (says_nothing(line))
			continue;
		free(found);
		found = xstrdup(line);
	}
	return found;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t put = write(fd, bytes, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		bytes += put;
		size -= (size_t)put;
	}
	return 0;
}

int run_write_file(int directory, const char *name, const void *bytes, size_t size)
{
	int fd = openat(directory, name,
		O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (fd < 0)
		return -1;
	int result = write_all(fd, bytes, size);
	int saved = errno;
	/* Network file systems report a full disk only here. */
	if (close(fd) < 0 && result == 0) {
		saved = errno;
		result = -1;
	}
	if (result < 0) {
		unlinkat(directory, name, 0);
		errno = saved;
	}
	return result;
}

int run_save_maps(int directory, const char *name, pid_t pid)
{
	char path[32];
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	cleanup_free char *text = run_read_file(AT_FDCWD, path, SIZE_MAX / 4, &size);
	if (!text)
		return -1;
	if (size == 0) {
		errno = ESRCH; /* a process that is ending has no memory left to show */
		return -1;
	}
	return run_write_file(directory, name, text, size);
}

DIR *run_entries(int directory)
{
	/* fdopendir() takes its descriptor. */
	int own = fcntl(directory, F_DUPFD_CLOEXEC, 0);
	DIR *stream = own < 0 ? NULL : fdopendir(own);

	if (stream)
		rewinddir(stream);
	else if (own >= 0)
		close(own);
	return stream;
}

static int remove_inside(int directory)
{
	DIR *stream = run_entries(directory);
	struct dirent *entry;
	int result = 0;

	if (!stream)
		return -1;
	while ((entry = readdir(stream)) != NULL && result == 0) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(directory, entry->d_name, 0) == 0)
			continue;
		result = errno == EISDIR || errno == EPERM
				 ? run_remove_tree(directory, entry->d_name)
				 : -1;
	}
	int saved = errno;
	closedir(stream);
	errno = saved;
	return result;
}

int run_remove_tree(int parent, const char *name)
{
	cleanup_fd int directory =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (directory < 0 || remove_inside(directory) < 0)
		return -1;
	return unlinkat(parent, name, AT_REMOVEDIR);
}
