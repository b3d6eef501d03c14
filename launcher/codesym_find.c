/* Where the names of a process' code lie. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "launcher/base.h"
#include "launcher/codesym.h"
#include "launcher/run.h"

enum {
	NAME_SIZE = 64,
	SYMBOLS_LIMIT = 1 << 30,
};

static void read_symbols(struct codesyms *syms, int directory, const char *name, bool map)
{
	size_t size;
	char *text = run_read_file(directory, name, SYMBOLS_LIMIT, &size);

	if (!text)
		return;
	if (map)
		codesyms_read_map(syms, text, size);
	else
		codesyms_read_jitdump(syms, (uint8_t *)text, size);
	free(text);
}

void codesyms_find(struct codesyms *syms, int pid, const char *cwd, int directory)
{
	char map[NAME_SIZE], dump[NAME_SIZE];
	cleanup_fd int temporary = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int working = cwd ? open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	const int places[] = {working, temporary, directory};

	snprintf(map, sizeof(map), "perf-%d.map", pid);
	snprintf(dump, sizeof(dump), "jit-%d.dump", pid);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (places[i] < 0)
			continue;
		read_symbols(syms, places[i], dump, false);
		read_symbols(syms, places[i], map, true);
	}
	codesyms_settle(syms);
}
