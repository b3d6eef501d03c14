/* CPU profiles of gperftools (libprofiler): made into a perf.data in memory, so that all
 * that follows is the same. Format: gperftools' docs/cpuprofile-fileformat.html. */
#ifndef ANNOTATE_GPERF_H
#define ANNOTATE_GPERF_H

#include "annotate/fault.h"
#include "annotate/file.h"

#include <stdbool.h>

bool gperf_is(const struct file *file);

/* Replaces `file` by what perf would have recorded of process `pid`. 0, or -1 with the fault
 * worded. *cut is set where the profile ends early; what it holds is there. */
int gperf_convert(struct file *file, uint32_t pid, bool *cut, struct fault *fault);

#endif
