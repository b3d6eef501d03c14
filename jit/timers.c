/* What `jit -s` prints: timers in microseconds, and counters. */
#include "jit/timers.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

uint64_t timers_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void timers_print(const struct timers *timers)
{
#define TIMERS_PRINT_(name) fprintf(stderr, #name ": %" PRIu64 "\n", timers->name / 1000);
	TIMERS_EACH(TIMERS_PRINT_)
#undef TIMERS_PRINT_
#define COUNTERS_PRINT_(name) fprintf(stderr, #name ": %" PRIu64 "\n", timers->name);
	COUNTERS_EACH(COUNTERS_PRINT_)
#undef COUNTERS_PRINT_
}
