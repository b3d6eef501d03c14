/* Programs looked up along PATH, and whether they can be executed. */
#include "launcher/lookup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launcher/base.h"

int lookup_check(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	if (!S_ISREG(status.st_mode) || access(path, X_OK))
		return EACCES;
	return 0;
}

const char *lookup_describe(const char *path, int error)
{
	struct statvfs file_system;
	struct stat status;

	if (error == EISDIR)
		return "it is a directory";
	if (error != EACCES || stat(path, &status))
		return strerror(error);
	if (!S_ISREG(status.st_mode))
		return "it is not a regular file";
	if (!(status.st_mode & 0111))
		return "it is not executable (chmod +x)";
	if (!statvfs(path, &file_system) && file_system.f_flag & ST_NOEXEC)
		return "its file system is mounted noexec";
	return strerror(error);
}

static char *join(const char *directory, size_t length, const char *name)
{
	if (!length)
		return xasprintf("./%s", name);
	return xasprintf("%.*s%s%s", (int)length, directory,
		directory[length - 1] == '/' ? "" : "/", name);
}

char *lookup_search(const char *path, const char *name, int *error, char **refused)
{
	*error = ENOENT;
	for (;;) {
		size_t length = strcspn(path, ":");
		cleanup_free char *file = join(path, length, name);
		int result = lookup_check(file);

		if (!result)
			return steal_pointer(&file);
		if (result == EACCES && !*refused && !access(file, F_OK)) {
			*error = result;
			*refused = steal_pointer(&file);
		}
		if (!path[length])
			return NULL;
		path += length + 1;
	}
}
