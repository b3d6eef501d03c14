/* Children that draw random bytes and make children of their own; prints their sum. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(int depth)
{
	unsigned char byte;
	int sum = 1, status;

	if (getrandom(&byte, 1, 0) != 1)
		return 99;
	for (int i = 0; depth && i < 3; i++) {
		pid_t pid = i % 2 ? vfork() : fork();
		if (pid == 0) {
			if (i % 2) {
				execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
				_exit(98);
			}
			_exit(child(depth - 1));
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
			return 97;
		sum += WEXITSTATUS(status);
	}
	return sum;
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 2; i++)
		sum += child(3);
	printf("%d\n", sum);
	return 3;
}
