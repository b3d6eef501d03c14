/* Prints where things are in this process, one "name address" a line. The same source is
 * built as PIE, non-PIE, static, static-PIE and against musl. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static void show(const char *name, const void *address)
{
	printf("%-12s %#lx\n", name, (unsigned long)(uintptr_t)address);
}

static void *thread(void *address)
{
	int local;

	/* The stack's address, as a number for the main thread to print. */
	*(uintptr_t *)address = (uintptr_t)&local;
	return NULL;
}

static int in_bss;

int main(int argc, char **argv, char **envp)
{
	int local;
	pthread_t id;
	uintptr_t thread_stack = 0;
	char *word = argc > 1 ? argv[1] : NULL;

	show("local", &local);
	show("argv", argv);
	show("envp", envp);
	show("brk", sbrk(0));
	show("malloc", malloc(16));
	show("malloc 1M", malloc(1 << 20));
	show("mmap", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	show("mmap 2M",
		mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	/* Points into libc, whereas &puts can be a stub of the program's own. */
	show("libc", stdout);
	show("vdso", (void *)getauxval(AT_SYSINFO_EHDR));
	show("ld.so", (void *)getauxval(AT_BASE));
	show("entry", (void *)getauxval(AT_ENTRY));
	show("main", (void *)(uintptr_t)main);
	show("bss", &in_bss);
	if (pthread_create(&id, NULL, thread, &thread_stack) || pthread_join(id, NULL))
		return 1;
	show("thread", (void *)thread_stack);
	if (word && !strcmp(word, "strings")) {
		show("argv[0]", argv[0]);
		show("auxv", (void *)getauxval(AT_RANDOM));
		show("execfn", (void *)getauxval(AT_EXECFN));
	}
	return 0;
}
