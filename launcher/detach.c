/* Helpers that are no part of their caller any more. */
#include "launcher/detach.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base.h"

void detach_session(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
	sigset_t blocked;

	setsid();
	/* Blocked, SIGPIPE and SIGXFSZ become errors as they do ignored. */
	sigfillset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		sigdelset(&blocked, faults[i]);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	signal(SIGCHLD, SIG_DFL);
	/* Nor does it keep a directory busy. */
	if (chdir("/"))
		return;
}

static int compare_numbers(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

void detach_descriptors(int *kept, size_t count)
{
	unsigned next = 0;

	qsort(kept, count, sizeof(*kept), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		if (kept[i] < 0)
			continue;
		if ((unsigned)kept[i] > next)
			syscall(SYS_close_range, next, (unsigned)kept[i] - 1, 0);
		next = (unsigned)kept[i] + 1;
	}
	syscall(SYS_close_range, next, ~0U, 0);
	int null;
	do
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (null >= 0 && null <= STDERR_FILENO);
	if (null >= 0)
		close(null);
}
