/* DWARF 4 for code objects: which Python file and line an address came from. */
#ifndef JIT_DEBUG_INFO_H
#define JIT_DEBUG_INFO_H

#include <stddef.h>

#include "jit/buffer.h"

struct code_info;

struct debug_info {
	struct buffer abbrev, info, line, ranges, aranges, frame;
	struct buffer files; /* scratch: names of a unit's files */
};

/* Describes `count` code objects, ascending, as one compilation unit. File names that are
 * relative are meant from `directory`. Check debug_info_failed() after it. */
void debug_info_build(struct debug_info *debug, struct code_info *const *codes,
	size_t count, const char *directory);
bool debug_info_failed(const struct debug_info *debug);
void debug_info_clear(struct debug_info *debug);
void debug_info_release(struct debug_info *debug);

#endif
