/* Output files of the symbols. */
#include "jit/outfile.h"

#include "launcher/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the file in the way is an old one of ours, which may go. Its name holds a pid,
 * so whoever wrote it is gone. In a sticky directory only its owner can remove it anyway.
 */
static bool is_stale(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_uid == geteuid() && status.st_nlink == 1;
}

bool outfile_open(struct outfile *file, const char *directory, const char *name)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	file->fd = -1;
	file->path = NULL;
	if (asprintf(&file->path, "%s/%s", directory, name) < 0) {
		file->path = NULL;
		return false;
	}
	file->fd = open(file->path, flags, 0644);
	if (file->fd < 0 && errno == EEXIST && is_stale(file->path) &&
		unlink(file->path) == 0)
		file->fd = open(file->path, flags, 0644);
	if (file->fd >= 0)
		return true;
	warn("cannot create '%s': %s", file->path, strerror(errno));
	free(file->path);
	file->path = NULL;
	return false;
}

/* Python ignores SIGXFSZ, so a file past RLIMIT_FSIZE is an error like any other. */
bool outfile_write(struct outfile *file, struct iovec *pieces, int count)
{
	size_t total = 0;
	int error = 0;

	if (file->fd < 0)
		return false;
	while (count > 0) {
		ssize_t done = writev(file->fd, pieces, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			error = done < 0 ? errno : ENOSPC;
			break;
		}
		total += (size_t)done;
		while (count > 0 && (size_t)done >= pieces->iov_len) {
			done -= (ssize_t)pieces->iov_len;
			pieces++;
			count--;
		}
		if (count > 0) {
			pieces->iov_base = (char *)pieces->iov_base + done;
			pieces->iov_len -= (size_t)done;
		}
	}
	if (!error)
		return true;
	warn("cannot write '%s': %s; the program runs on without it", file->path,
		strerror(error));
	if (total > 0) {
		off_t end = lseek(file->fd, 0, SEEK_CUR);

		if (end >= (off_t)total && ftruncate(file->fd, end - (off_t)total) != 0)
			warn("the end of '%s' is half a record", file->path);
	}
	outfile_close(file);
	return false;
}

void outfile_close(struct outfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	file->fd = -1;
	file->path = NULL;
}
