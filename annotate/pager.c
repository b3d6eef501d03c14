/* Starting and ending the pager. */
#include "annotate/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t pager_start(void)
{
	const char *program = getenv("PAGER");
	int ends[2];

	if (!program || !program[0])
		program = "less";
	if (strcmp(program, "cat") == 0 || pipe2(ends, O_CLOEXEC) < 0)
		return 0;
	pid_t pid = fork();
	if (pid == 0) {
		/* Quit where one screen holds all, keep colours, leave the text there. */
		setenv("LESS", "FRX", 0);
		dup2(ends[0], STDIN_FILENO);
		execl("/bin/sh", "sh", "-c", program, (char *)NULL);
		_exit(127);
	}
	if (pid > 0)
		dup2(ends[1], STDOUT_FILENO);
	close(ends[0]);
	close(ends[1]);
	return pid > 0 ? pid : 0;
}

void pager_finish(pid_t pager)
{
	fclose(stdout);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}
