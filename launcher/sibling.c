/* The sibling programs: in the build directory by their own names; installed beside
 * stablerun as stablerun-NAME, so that no generic name lands in a PATH. */
#include "launcher/sibling.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/options.h"

/* This program's own path: from /proc, or where that is not mounted as it was executed.
 */
char *sibling_own_path(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length > 0) {
		path[length] = '\0';
		return xstrdup(path);
	}
	const char *executed = (const char *)getauxval(AT_EXECFN);
	return xstrdup(executed ? executed : "stablerun");
}

char *sibling_find(const char *name)
{
	cleanup_free char *directory = sibling_own_path();
	char *slash = strrchr(directory, '/');

	const char *root = slash ? "" : ".";
	*(slash ? slash : directory) = '\0';
	char *installed = xasprintf("%s%s/stablerun-%s", root, directory, name);
	if (!access(installed, X_OK))
		return installed;
	/* Only a build directory, known by the objects in it, has the plain name:
	 * elsewhere a program of that name is somebody else's. */
	cleanup_free char *objects = xasprintf("%s%s/launcher/main.o", root, directory);
	char *built = xasprintf("%s%s/%s", root, directory, name);
	if (!access(objects, F_OK) && !access(built, X_OK)) {
		free(installed);
		return built;
	}
	free(built);
	warn("cannot find '%s': %s", installed, strerror(ENOENT));
	free(installed);
	return NULL;
}

static int sibling_exec(const char *name, char **argv)
{
	cleanup_free char *path = sibling_find(name);

	if (!path)
		return STATUS_NOT_FOUND;
	/* argv[0] decides the name in the sibling's usage lines. */
	cleanup_free char *own = xasprintf("stablerun-%s", name);
	argv[0] = own;
	execv(path, argv);
	warn("cannot execute '%s': %s", path, strerror(errno));
	return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_EXECUTE;
}

int annotate_main(int argc, char **argv)
{
	(void)argc;
	return sibling_exec("annotate", argv);
}

int jit_main(int argc, char **argv)
{
	(void)argc;
	return sibling_exec("jit", argv);
}
