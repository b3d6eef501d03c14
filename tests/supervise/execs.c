/* Executes what is not there, then itself from a second thread; prints random bytes at each
 * step and ends with status 6. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

static void print(const char *where)
{
	unsigned long number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		exit(1);
	printf("%s %lx\n", where, number);
	fflush(stdout);
}

static void *execute(void *name)
{
	print("thread");
	execl("/nonexistent", "nothing", (char *)NULL);
	print("thread, after a failure");
	execl(name, name, "again", (char *)NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	print("main");
	execl("/nonexistent", "nothing", (char *)NULL);
	execl("/", "nothing", (char *)NULL);
	print("main, after failures");
	if (argc > 1)
		return 6;
	pthread_create(&thread, NULL, execute, argv[0]);
	pthread_join(thread, NULL);
	return 1;
}
