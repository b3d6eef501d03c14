/* A JIT of one loop, for the gdb tests: `minijit MODE [TURNS]`. The code adds 1..n and is
 * written at run time
 *   wx   into memory that is writable first and executable after (mprotect);
 *   rwx  into memory that is both at once, written after it was mapped so;
 *   dual into memory that has a second, writable mapping (memfd).
 * Prints the sum; with PROFILE in the environment it also writes /tmp/perf-PID.map. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const unsigned char code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0x31, 0xc0,	  /* xor %eax,%eax */
	0x48, 0x01, 0xf8, /* add %rdi,%rax  (+6) */
	0x48, 0xff, 0xcf, /* dec %rdi       (+9) */
	0x75, 0xf8,	  /* jne +6         (+12) */
	0x5d,		  /* pop %rbp       (+14) */
	0xc3,		  /* ret */
};

enum { SIZE = 8192, OFFSET = 0x340 };

static unsigned char *place_code(const char *mode)
{
	if (!strcmp(mode, "dual")) {
		int file = memfd_create("minijit", 0);
		if (ftruncate(file, SIZE))
			return NULL;
		unsigned char *writable =
			mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		unsigned char *code_memory =
			mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
		memcpy(writable + OFFSET, code, sizeof(code));
		return code_memory;
	}
	int protection = !strcmp(mode, "rwx") ? PROT_READ | PROT_WRITE | PROT_EXEC
					      : PROT_READ | PROT_WRITE;
	unsigned char *memory =
		mmap(NULL, SIZE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* Another function's code comes first, as in a real JIT. */
	memset(memory, 0x90, 64);
	memcpy(memory + OFFSET, code, sizeof(code));
	if (!strcmp(mode, "wx"))
		mprotect(memory, SIZE, PROT_READ | PROT_EXEC);
	return memory;
}

__attribute__((noinline)) static long call_code(long (*function)(long), long n)
{
	long sum = function(n);
	__asm__ volatile("" : "+r"(sum)); /* no tail call: this frame stays in bt */
	return sum;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "wx";
	long turns = argc > 2 ? atol(argv[2]) : 1000;
	unsigned char *memory = place_code(mode);
	if (!memory)
		return 1;

	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *map = getenv("PROFILE") ? fopen(path, "w") : NULL;
	if (map) {
		fprintf(map, "%lx %zx sum_loop\n", (unsigned long)memory + OFFSET,
			sizeof(code));
		fclose(map);
	}
	long (*function)(long);
	unsigned char *entry = memory + OFFSET;
	memcpy(&function, &entry, sizeof(function));
	printf("%ld\n", call_code(function, turns));
	return 0;
}
