/* What the unit tests of this folder share: a check that tells where it failed. */
#ifndef LAUNCHER_CHECK_H
#define LAUNCHER_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                           \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, \
				#condition);                                       \
			exit(1);                                                   \
		}                                                                  \
	} while (0)

#define CHECK_STRING(got, want)                                                  \
	do {                                                                     \
		const char *got_ = (got), *want_ = (want);                       \
		if (!got_ || strcmp(got_, want_)) {                              \
			fprintf(stderr, "%s:%d: got '%s', not '%s'\n", __FILE__, \
				__LINE__, got_ ? got_ : "(null)", want_);        \
			exit(1);                                                 \
		}                                                                \
	} while (0)

#endif
