/* Code memory: placement, reuse, writing into live code, fork, injected failures. */
#include "jit/codemem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define check(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                     \
		}                                                                       \
	} while (0)

/* mov $N, %eax; ret */
static const uint8_t function[6] = {0xb8, 42, 0, 0, 0, 0xc3};

static int run(const void *code)
{
	int (*entry)(void);

	memcpy(&entry, &code, sizeof(entry));
	return entry();
}

/* The permissions of the mapping at an address, by /proc/self/maps. */
static void permissions(const void *address, char text[5])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	strcpy(text, "none");
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long start, end;
		char found[5];

		if (sscanf(line, "%lx-%lx %4s", &start, &end, found) == 3 &&
			(uintptr_t)address >= start && (uintptr_t)address < end)
			strcpy(text, found);
	}
	if (maps)
		fclose(maps);
}

static void test_placement(enum codemem_method method)
{
	struct codemem *memory = codemem_new(method);
	uint8_t *a = codemem_allocate(memory, 100);
	uint8_t *b = codemem_allocate(memory, 1);
	uint8_t *c = codemem_allocate(memory, 3 << 20), *d;
	char text[5];

	check(a == (void *)CODEMEM_BASE);
	check(b == a + 112 + CODEMEM_ROOM);
	check(c != NULL && c + (3 << 20) < (uint8_t *)CODEMEM_LIMIT);
	check((uintptr_t)c % CODEMEM_ALIGN == 0);
	check(a[0] == 0xcc && b[CODEMEM_ALIGN] == 0xcc && b[2 * CODEMEM_ALIGN] == 0);
	check(c[(3 << 20) - 1] == 0xcc);
	permissions(a, text);
	check(strcmp(text, "r-xp") == 0);
	check(codemem_method(memory) != CODEMEM_AUTO);
	check(method == CODEMEM_AUTO || codemem_method(memory) == method);
	check(codemem_contains(memory, a + 99) && !codemem_contains(memory, (void *)16));
	/* What was given back is used again, first the lowest; neighbours are joined. */
	codemem_release(memory, a);
	check(!codemem_contains(memory, a));
	check(codemem_allocate(memory, 50) == a);
	codemem_release(memory, a);
	codemem_release(memory, b);
	d = codemem_allocate(memory, 250);
	check(d == a);
	codemem_release(memory, c);
	codemem_release(memory, d);
	check(codemem_used(memory) == 0);
	check(codemem_allocate(memory, 2 << 20) == a);
	codemem_free(memory);
	permissions(a, text);
	check(strcmp(text, "none") == 0);
}

static void test_write(enum codemem_method method)
{
	struct codemem *memory = codemem_new(method);
	uint8_t *code = codemem_allocate(memory, 8192);
	uint8_t *across = code + 4096 - 3;
	uint32_t value = 0x01020304;
	char text[5];

	check(codemem_write(memory, code, function, sizeof(function)) == 0);
	check(run(code) == 42);
	check(codemem_write(memory, code + 1, &value, 4) == 0);
	check(run(code) == 0x01020304);
	check(codemem_write(memory, across, function, sizeof(function)) == 0);
	check(run(across) == 42);
	permissions(across, text);
	check(strcmp(text, "r-xp") == 0);
	codemem_free(memory);
}

/* Another thread runs code of the page while bytes beside it change. */
struct runner {
	const void *code;
	volatile bool stop;
	bool wrong;
};

static void *run_thread(void *context)
{
	struct runner *runner = context;

	while (!runner->stop)
		runner->wrong |= run(runner->code) != 42;
	return NULL;
}

static void test_threads(void)
{
	struct codemem *memory = codemem_new(CODEMEM_PROC_MEM);
	uint8_t *code = codemem_allocate(memory, 64);
	struct runner runner = {.code = code};
	pthread_t thread;

	codemem_write(memory, code, function, sizeof(function));
	check(pthread_create(&thread, NULL, run_thread, &runner) == 0);
	for (uint64_t i = 0; i < 2000; i++)
		check(codemem_write(memory, code + 32, &i, 8) == 0);
	runner.stop = true;
	pthread_join(thread, NULL);
	check(!runner.wrong);
	codemem_free(memory);
}

static void test_fork(enum codemem_method method)
{
	struct codemem *memory = codemem_new(method);
	uint8_t *code = codemem_allocate(memory, 64);
	uint32_t value = 7;
	int status;
	pid_t pid;

	codemem_write(memory, code, function, sizeof(function));
	pid = fork();
	if (pid == 0) {
		int bad =
			codemem_write(memory, code + 1, &value, 4) != 0 || run(code) != 7;

		_exit(bad);
	}
	check(waitpid(pid, &status, 0) == pid && status == 0);
	check(run(code) == 42);
	check(codemem_write(memory, code + 1, &value, 4) == 0 && run(code) == 7);
	codemem_free(memory);
}

/* A write through a pointer must fault: nothing is writable. */
static void test_not_writable(void)
{
	struct codemem *memory = codemem_new(CODEMEM_AUTO);
	uint8_t *code = codemem_allocate(memory, 64);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile uint8_t *)code = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	check(status != 0);
	codemem_free(memory);
}

static void test_occupied(void)
{
	struct codemem *memory;
	void *there = mmap((void *)CODEMEM_BASE, 4096, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	check(there == (void *)CODEMEM_BASE);
	memory = codemem_new(CODEMEM_AUTO);
	check(codemem_allocate(memory, 10) == (void *)(CODEMEM_BASE + (1 << 20)));
	codemem_free(memory);
	munmap(there, 4096);
}

static void test_failures(void)
{
	struct codemem *memory = codemem_new(CODEMEM_AUTO);
	void *code;

	codemem_fail(memory, 2);
	code = codemem_allocate(memory, 10);
	check(code != NULL);
	check(codemem_allocate(memory, 10) == NULL && errno == ENOMEM);
	codemem_fail(memory, 1);
	check(codemem_write(memory, code, function, 6) == -1);
	check(codemem_write(memory, code, function, 6) == 0);
	check(codemem_allocate(memory, 0) == NULL);
	check(codemem_allocate(memory, 1UL << 40) == NULL);
	check(codemem_allocate(memory, CODEMEM_LIMIT - CODEMEM_BASE) == NULL);
	check(codemem_allocate(memory, 10) != NULL);
	codemem_free(memory);
	codemem_free(NULL);
}

/* Random blocks never overlap, and all memory comes back. */
static void test_random(void)
{
	enum { BLOCKS = 300 };
	struct codemem *memory = codemem_new(CODEMEM_AUTO);
	struct {
		uint8_t *start;
		size_t size;
	} blocks[BLOCKS] = {{0}};
	unsigned seed = 1;

	for (int round = 0; round < 5000; round++) {
		int i = (int)((seed = seed * 1103515245 + 12345) >> 8) % BLOCKS;

		if (blocks[i].start) {
			codemem_release(memory, blocks[i].start);
			blocks[i].start = NULL;
			continue;
		}
		blocks[i].size = (seed >> 4) % 5000 + 1;
		blocks[i].start = codemem_allocate(memory, blocks[i].size);
		for (int k = 0; k < BLOCKS; k++) {
			check(k == i || !blocks[k].start ||
				blocks[k].start + blocks[k].size + CODEMEM_ROOM <=
					blocks[i].start ||
				blocks[i].start + blocks[i].size + CODEMEM_ROOM <=
					blocks[k].start);
		}
	}
	for (int i = 0; i < BLOCKS; i++) {
		if (blocks[i].start)
			codemem_release(memory, blocks[i].start);
	}
	check(codemem_used(memory) == 0);
	check(codemem_allocate(memory, codemem_mapped(memory) - CODEMEM_ROOM) ==
		(void *)CODEMEM_BASE);
	codemem_free(memory);
}

int main(void)
{
	static const enum codemem_method methods[] = {
		CODEMEM_AUTO, CODEMEM_PROC_MEM, CODEMEM_MPROTECT};

	for (int i = 0; i < 3; i++) {
		test_placement(methods[i]);
		test_write(methods[i]);
		test_fork(methods[i]);
	}
	test_threads();
	test_not_writable();
	test_occupied();
	test_failures();
	test_random();
	return failures ? 1 : 0;
}
