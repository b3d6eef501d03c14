/* The perf map. */
#include "jit/perfmap.h"

#include "jit/code_info.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool perfmap_open(struct outfile *map)
{
	char name[64];

	snprintf(name, sizeof(name), "perf-%d.map", (int)getpid());
	/* perf knows no other place. */
	return outfile_open(map, "/tmp", name);
}

void perfmap_add(struct outfile *map, const struct code_info *code)
{
	char place[64];
	int length =
		snprintf(place, sizeof(place), "%lx %zx ", code->address, code->size);
	struct iovec pieces[] = {
		{place, (size_t)length},
		{(char *)(uintptr_t)code->symbol, strlen(code->symbol)},
		{(char *)(uintptr_t) "\n", 1},
	};

	outfile_write(map, pieces, 3);
}
