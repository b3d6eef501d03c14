/* Threads that map, unmap, protect and draw random bytes all the time; prints a sum that
 * depends on none of it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

enum { THREADS = 4, TURNS = 50 };

static void *work(void *argument)
{
	uint64_t *sum = argument;
	unsigned char bytes[16];

	for (int i = 0; i < TURNS; i++) {
		char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED || getrandom(bytes, 16, 0) != 16)
			return argument;
		memset(memory, i & 127, 65536);
		if (mprotect(memory, 4096, PROT_READ))
			return argument;
		for (int j = 0; j < 65536; j += 4096)
			*sum += (uint64_t)memory[j];
		if (munmap(memory, 65536))
			return argument;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uint64_t sums[THREADS] = {0}, sum = 0;
	void *failed;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &failed);
		if (failed)
			return 1;
		sum += sums[i];
	}
	printf("%lu\n", (unsigned long)sum);
	return 7;
}
