/* Stands in for the engine in the tests of the symbols: loads code objects that are
 *written here by hand, runs, patches, forks and ends as told. Its words are its program:
 *
 *	symbols_driver OUTPUTS DIRECTORY WORD...
 *
 * OUTPUTS is a sum: 1 perf, 2 gdb. Each WORD is a step; see the table at the end. */
#include "jit/codemem.h"
#include "jit/emit.h"
#include "jit/symbols.h"
#include "launcher/base.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char program_name[] = "symbols_driver";

/* Not static, so that perf and gdb name them. */
long driver_helper(long turns);
void driver_stop(void);

static struct codemem *memory;
static struct symbols *symbols;
static uint8_t *inner, *outer;
static size_t inner_size;
static const char *source = "/tmp/driver_source.py";

enum {
	INNER_LINE = 7,	 /* of the loop */
	OUTER_LINE = 20, /* of the call */
	COUNT_AT = 6,	 /* offset of the constant in inner() that is patched */
};

/* inner(n): rbp frame; r = 1; while n: r += 1, n -= 1; return r. */
static const uint8_t inner_bytes[] = {
	0x55,			      /* push %rbp */
	0x48, 0x89, 0xe5,	      /* mov %rsp, %rbp */
	0xb8, 0x01, 0x00, 0x00, 0x00, /* mov $1, %eax: patched at 5 */
	0x48, 0x83, 0xc0, 0x01,	      /* 9: add $1, %rax */
	0x48, 0x83, 0xef, 0x01,	      /* sub $1, %rdi */
	0x75, 0xf6,		      /* jne 9 */
	0x5d,			      /* pop %rbp */
	0xc3,			      /* ret */
};

static void load(const char *name, int first_line, const struct symbols_line *lines,
	size_t count, const void *address, size_t size, const char *kind)
{
	struct symbols_code code = {
		.address = address,
		.size = size,
		.name = name,
		.file = source,
		.first_line = first_line,
		.lines = lines,
		.line_count = count,
		.kind = kind,
	};

	symbols_load(symbols, &code);
}

static void *place(const void *bytes, size_t size)
{
	void *address = codemem_allocate(memory, size);

	if (!address || codemem_write(memory, address, bytes, size) != 0)
		die(1, "no code memory");
	return address;
}

static void make_inner(void)
{
	static const struct symbols_line lines[] = {{0, 5, 0, 151}, {4, 6, 1, 100},
		{9, INNER_LINE, 2, 122}, {13, 8, 3, 122}, {19, 9, 4, 83}};

	inner_size = sizeof(inner_bytes);
	inner = place(inner_bytes, sizeof(inner_bytes));
	load("driver.inner", 5, lines, ARRAY_SIZE(lines), inner, sizeof(inner_bytes),
		"baseline");
}

/* outer(n): calls driver_helper(n), which calls inner(). Saves what C callers expect. */
static void make_outer(void)
{
	static const struct symbols_line lines[] = {
		{0, 19, 0, 151}, {9, OUTER_LINE, 1, 171}, {19, 21, 2, 83}};
	uint8_t bytes[] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x41, 0x55,
		0x90,			      /* 4: push r12, r13 */
		0x48, 0xc7, 0xc0, 0, 0, 0, 0, /* mov $helper, %rax */
		0xff, 0xd0, 0x90,	      /* call *%rax */
		0x41, 0x5d, 0x41, 0x5c, 0x5d, 0xc3};
	uint32_t helper = (uint32_t)(uintptr_t)driver_helper;

	memcpy(bytes + 12, &helper, 4);
	outer = place(bytes, sizeof(bytes));
	load("driver.outer", 19, lines, ARRAY_SIZE(lines), outer, sizeof(bytes),
		"optimised");
}

/* Without a frame pointer, as libpython's functions are; clang has no such attribute. */
#ifdef __clang__
#define NO_FRAME_POINTER
#else
#define NO_FRAME_POINTER __attribute__((optimize("omit-frame-pointer")))
#endif
__attribute__((noinline)) NO_FRAME_POINTER long driver_helper(long turns)
{
	long (*entry)(long);
	volatile long result;

	memcpy(&entry, &inner, sizeof(entry));
	result = entry(turns);
	driver_stop();
	return result;
}

/* A place for gdb to stop at below JIT frames. */
__attribute__((noinline)) void driver_stop(void)
{
	__asm__ volatile("");
}

static long call_outer(long turns)
{
	long (*entry)(long);

	memcpy(&entry, &outer, sizeof(entry));
	return entry(turns);
}

static void step_load(void)
{
	make_inner();
	make_outer();
}

static void step_run(void)
{
	/* A fixed amount of work: some hundred milliseconds. */
	for (int i = 0; i < 100; i++)
		call_outer(10000000);
}

static void step_call(void)
{
	printf("%ld\n", call_outer(10));
	fflush(stdout);
}

static void step_patch(void)
{
	struct patchpoint point = {.address = inner + COUNT_AT - 1, .store = STENCIL_U32};

	if (patchpoint_set(&point, 1000, memory, symbols, "inner: constant") != 0)
		die(1, "cannot patch");
}

static void step_object(void)
{
	symbols_object(symbols, &memory, "dict view", "{'a':\n1}");
	symbols_object(symbols, &symbols, "int", "5");
}

static void step_many(void)
{
	for (int i = 0; i < 5000; i++) {
		struct symbols_line lines[] = {{0, i + 1, 0, 151}, {4, i + 2, 1, 100}};
		char name[32];

		snprintf(name, sizeof(name), "many.function_%d", i);
		load(name, i + 1, lines, 2, place(inner_bytes, sizeof(inner_bytes)),
			sizeof(inner_bytes), "baseline");
	}
}

/* The memory of inner() is reused by other code. */
static void step_reuse(void)
{
	static const struct symbols_line lines[] = {{0, 40, 0, 151}};
	uint8_t *before = inner;

	symbols_unload(symbols, inner);
	codemem_release(memory, inner);
	inner = place(inner_bytes, sizeof(inner_bytes));
	if (inner != before)
		die(1, "the memory was not reused");
	load("driver.second", 40, lines, 1, inner, sizeof(inner_bytes), "baseline");
}

static void step_unload(void)
{
	symbols_unload(symbols, inner);
	codemem_release(memory, inner);
}

static void step_fork(void)
{
	pid_t pid = fork();
	int status;

	if (pid != 0) {
		waitpid(pid, &status, 0);
		printf("child %d\n", (int)pid);
		fflush(stdout);
		return;
	}
	symbols_forked(symbols);
	step_patch();
	call_outer(10);
	symbols_close(symbols);
	_exit(0);
}

static void step_close(void)
{
	symbols_close(symbols);
	symbols = NULL;
}

static void step_crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	kill(getpid(), SIGSEGV);
}

static void step_exit(void)
{
	_exit(0);
}

static void step_exec(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

/* A full disk, for the size of one file. */
static void step_limit(void)
{
	struct rlimit limit = {3000, 3000};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
}

static const struct {
	const char *word;
	void (*run)(void);
} steps[] = {
	{"load", step_load},
	{"run", step_run},
	{"call", step_call},
	{"patch", step_patch},
	{"object", step_object},
	{"many", step_many},
	{"reuse", step_reuse},
	{"unload", step_unload},
	{"fork", step_fork},
	{"close", step_close},
	{"crash", step_crash},
	{"exit", step_exit},
	{"exec", step_exec},
	{"limit", step_limit},
};

static void run_step(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (strcmp(steps[i].word, word) == 0) {
			steps[i].run();
			return;
		}
	}
	die(2, "unknown step '%s'", word);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		die(2, "usage: symbols_driver OUTPUTS DIRECTORY WORD...");
	memory = codemem_new(CODEMEM_AUTO);
	symbols = symbols_open((unsigned)atoi(argv[1]), argv[2]);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	for (int i = 3; i < argc; i++)
		run_step(argv[i]);
	codemem_free(memory);
	return 0;
}
