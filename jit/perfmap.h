/* The perf map: /tmp/perf-PID.map, a line "START SIZE NAME" (hexadecimal) for each code
 * object (the kernel's tools/perf/Documentation/jit-interface.txt). */
#ifndef JIT_PERFMAP_H
#define JIT_PERFMAP_H

#include <stdbool.h>

#include "jit/outfile.h"

struct code_info;

bool perfmap_open(struct outfile *map);
void perfmap_add(struct outfile *map, const struct code_info *code);

#endif
