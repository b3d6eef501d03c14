/* Reads CLOCK_MONOTONIC through the C library and, past the vDSO, from the kernel. Prints
 * "held" and the time that stands still, or "runs"; then "released" when it goes on as the
 * kernel's does. clock exec: does the same in another image. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_MONOTONIC, &time))
		exit(1);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long kernel_now(int clock)
{
	struct timespec time;

	if (syscall(SYS_clock_gettime, clock, &time))
		exit(1);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Whether waits until a time, worked out by a clock that may stand still, take that long. */
static int waits(void)
{
	enum { TWENTIETH = 50000000 };
	long long begin = kernel_now(CLOCK_MONOTONIC), until = now() + TWENTIETH;
	struct timespec time = {until / 1000000000, until % 1000000000};
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_condattr_t attributes;
	pthread_cond_t condition;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&condition, &attributes);
	pthread_mutex_lock(&mutex);
	while (!pthread_cond_timedwait(&condition, &mutex, &time))
		;
	until = now() + TWENTIETH;
	time = (struct timespec){until / 1000000000, until % 1000000000};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
	return kernel_now(CLOCK_MONOTONIC) - begin >= 2 * TWENTIETH;
}

int main(int argc, char **argv)
{
	long long first = now(), last = first, time;
	struct timespec real;
	int same = 0;

	/* Other clocks are never held. */
	clock_gettime(CLOCK_REALTIME, &real);
	if (llabs(real.tv_sec * 1000000000LL + real.tv_nsec -
		    kernel_now(CLOCK_REALTIME)) > 60000000000LL)
		return 2;
	for (int i = 0; i < 1000; i++)
		same += now() == first;
	if (same == 1000) {
		printf("held %lld\n", first);
		fflush(stdout);
		printf("%s\n", waits() ? "waited" : "did not wait");
	} else {
		printf("runs\n");
	}
	do {
		time = now();
		if (time < last)
			return 3;
		last = time;
		if (same == 1000)
			usleep(1000);
	} while (same == 1000 && time == first);
	for (int i = 0; i < 1000; i++) {
		long long low = kernel_now(CLOCK_MONOTONIC);
		time = now();
		if (time < low || time > kernel_now(CLOCK_MONOTONIC))
			return 4;
	}
	printf("released\n");
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "exec"))
		execl(argv[0], argv[0], (char *)NULL);
	return 0;
}
