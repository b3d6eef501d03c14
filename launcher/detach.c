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
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP,
		SIGTTIN, SIGTTOU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM};
	sigset_t none;

	setsid();
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
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
