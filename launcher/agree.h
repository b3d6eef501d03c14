/* Do runs of different machines belong together? Whether they do is decided from what
 * run.json says of the program, the machine and the files that were mapped. */
#ifndef LAUNCHER_AGREE_H
#define LAUNCHER_AGREE_H

#include <stddef.h>

struct run_info;
struct strv;

/* Adds a sentence to `differences` for each fact in which `info` is not like `other`: the
 * program's path, the kernel, the cpu's features, the pages of ld.so.cache (they move every library), how
 * addresses were fixed, the build-id of a file that both have mapped. None: their code is
 * one. */
void agree_compare(const struct run_info *info, const struct run_info *other,
	struct strv *differences);

/* Sorts `count` runs into groups that agree: groups[i] is the number of the first run
 * that run i agrees with. Returns the number of the biggest group, the earliest of
 * several; `count` is at least 1. */
size_t agree_group(const struct run_info *const *infos, size_t count, size_t *groups);

#endif
