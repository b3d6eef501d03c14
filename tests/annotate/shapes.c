/* Programs of the kinds that profiles are made of: `shapes MODE`. Each burns about as
 * many milliseconds of cpu as the second argument says (default 60), in functions of its
 * own. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

volatile uint64_t sink;

static uint64_t cpu_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

__attribute__((noinline)) static void divide(void)
{
	uint64_t value = ~(uint64_t)0;

	for (uint64_t i = 1; i < 3000; i++)
		value = value / i + ~(uint64_t)0 / 3;
	sink = value;
}

__attribute__((noinline)) static void multiply(void)
{
	uint64_t value = 3;

	for (uint64_t i = 1; i < 30000; i++)
		value *= i | 1;
	sink = value;
}

__attribute__((noinline)) static void allocate(void)
{
	for (int i = 0; i < 200; i++) {
		char *memory = malloc(8192);
		memset(memory, i, 8192);
		sink += (uint64_t)memory[i];
		free(memory);
	}
}

static void burn(void (*function)(void), uint64_t milliseconds)
{
	for (uint64_t end = cpu_ms() + milliseconds; cpu_ms() < end;)
		function();
}

static void *thread(void *argument)
{
	char name[16];

	snprintf(name, sizeof(name), "worker %d", (int)(intptr_t)argument);
	pthread_setname_np(pthread_self(), name);
	burn(divide, 20);
	burn(multiply, 20);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	uint64_t time = argc > 2 ? strtoull(argv[2], NULL, 10) : 60;

	if (strcmp(mode, "threads") == 0) {
		pthread_t threads[4];
		for (intptr_t i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, thread, (void *)i);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	} else if (strcmp(mode, "fork") == 0) {
		for (int i = 0; i < 4; i++)
			if (fork() == 0) {
				burn(i % 2 ? divide : multiply, time / 2);
				_exit(0);
			}
		while (wait(NULL) > 0)
			;
	} else if (strcmp(mode, "exec") == 0) {
		burn(multiply, time / 2);
		execl("/proc/self/exe", "again", "plain", (char *)NULL);
	} else if (strcmp(mode, "faults") == 0) {
		for (int i = 0; i < 300; i++) {
			char *page = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			for (int k = 0; k < 65536; k += 4096)
				page[k] = 1;
			munmap(page, 65536);
		}
	} else {
		burn(divide, time / 2);
		burn(multiply, time / 4);
		burn(allocate, time / 4);
	}
	return 0;
}
