/* Whole input files in memory. */
#include "annotate/file.h"
#include "launcher/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FIRST_READ = 1 << 16,
	PAGE = 4096, /* at least */
};

static int read_all(struct file *file, int fd)
{
	size_t room = FIRST_READ, used = 0;
	uint8_t *data = xmalloc(room);

	for (;;) {
		ssize_t got = read(fd, data + used, room - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(data);
			return -1;
		}
		if (got == 0)
			break;
		used += (size_t)got;
		if (used == room)
			data = xrealloc(data, room *= 2);
	}
	file->data = data;
	file->size = used;
	return 0;
}

/* Keeps to a private mapping: a file that shrinks meanwhile raises SIGBUS, which no
 * profile being written can be read without anyway. */
int file_open(struct file *file, const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	cleanup_fd int fd = standard ? dup(STDIN_FILENO)
				     : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	*file = (struct file){0};
	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	file->owner = status.st_uid;
	/* Files in /proc and the like claim no size: those are read. */
	if (!S_ISREG(status.st_mode) || status.st_size == 0) {
		if (!standard)
			(void)fcntl(fd, F_SETFL, 0);
		return read_all(file, fd);
	}

	void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -1;
	file->data = data;
	file->size = (size_t)status.st_size;
	file->mapped = true;
	return 0;
}

void file_close(struct file *file)
{
	if (file->mapped)
		munmap((void *)file->data, file->size);
	else
		free((void *)file->data);
	*file = (struct file){0};
}

void file_forget(const struct file *file, uint64_t offset, uint64_t size)
{
	if (file->mapped && offset % PAGE == 0 && offset <= file->size &&
		size <= file->size - offset)
		(void)madvise((void *)(file->data + offset), size, MADV_DONTNEED);
}
