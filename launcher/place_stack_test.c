/* place_stack: the stack that the kernel built for this very program with randomisation,
 * built anew, is the one that it builds without. */
#include "launcher/place_stack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/check.h"
#include "launcher/place_maps.h"

const char program_name[] = "place_stack_test";

enum { WORDS = 16384 };

/* The words from rsp up to the strings, and where they were. */
struct dump {
	uint64_t rsp, strings, top;
	uint64_t words[WORDS];
};

static size_t dump_size(const struct dump *dump)
{
	return dump->strings - dump->rsp;
}

/* This process's own; ld.so and main have changed nothing in it yet. */
static void take_dump(struct dump *dump, char **argv)
{
	static char text[64 << 10];
	struct place_marks marks;
	int fd = open("/proc/self/stat", O_RDONLY);
	ssize_t size = read(fd, text, sizeof(text));

	CHECK(size > 0 && !place_marks_parse(&marks, text, (size_t)size));
	dump->rsp = (uint64_t)(uintptr_t)(argv - 1);
	dump->strings = marks.arg_start;
	/* The path is the last string, and eight zero bytes follow it. */
	const char *path = (const char *)getauxval(AT_EXECFN);
	dump->top = (uint64_t)(uintptr_t)path + strlen(path) + 1 + 8;
	CHECK(dump_size(dump) <= sizeof(dump->words));
	memcpy(dump->words, argv - 1, dump_size(dump));
}

/* What this program sees of itself when it is executed with a personality. */
static void dump_child(struct dump *dump, unsigned persona, char **argv, char **envp)
{
	int ends[2];

	CHECK(!pipe(ends));
	pid_t child = fork();
	if (child == 0) {
		if (personality(persona) < 0)
			_exit(77);
		dup2(ends[1], 1);
		execve("/proc/self/exe", argv, envp);
		_exit(1);
	}
	close(ends[1]);
	char *to = (char *)dump;
	size_t size = 0;
	ssize_t count;
	while ((count = read(ends[0], to + size, sizeof(*dump) - size)) > 0)
		size += (size_t)count;
	close(ends[0]);
	int status;
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		printf("personality is refused here\n");
		exit(77);
	}
	CHECK(size == sizeof(*dump));
}

static uint64_t shift_stack(const void *data, uint64_t address)
{
	const struct dump *dump = data;

	/* Only what lies in the stack; other addresses are compared as distances. */
	return address >= dump->rsp && address <= dump->top
		       ? address + (0x7ffffffff000 - dump->top)
		       : address;
}

/* The kernel's own stack without randomisation against ours, word by word. Those that
 * differ in the two runs of themselves are left out: addresses elsewhere, random bytes.
 */
static void compare(const struct dump *plain, const uint8_t *image, uint64_t rsp,
	const struct place_stack *stack)
{
	struct place_stack other;

	CHECK(rsp == plain->rsp);
	CHECK(!place_stack_parse(
		&other, plain->words, dump_size(plain), plain->rsp, plain->strings));
	CHECK(other.auxv == stack->auxv && other.auxv_words == stack->auxv_words);
	const uint64_t *built = (const uint64_t *)image;
	for (size_t i = 0; i < dump_size(plain) / 8; i++) {
		uint64_t type = i > other.auxv && i < other.auxv + other.auxv_words
					? plain->words[i - 1]
					: 0;
		if (i > other.auxv && (i - other.auxv) % 2 &&
			(type == AT_SYSINFO_EHDR || type == AT_BASE || type == AT_PHDR ||
				type == AT_ENTRY))
			continue;
		uint64_t address = plain->rsp + i * 8;
		uint64_t random = place_stack_auxv(&other, AT_RANDOM);
		if (address + 8 > random && address < random + 16)
			continue;
		if (built[i] != plain->words[i])
			fprintf(stderr, "word %zu: %#lx, not %#lx\n", i,
				(unsigned long)built[i], (unsigned long)plain->words[i]);
		CHECK(built[i] == plain->words[i]);
	}
}

static void test_kernel(int arguments, int variables)
{
	static struct dump random, plain;
	char *argv[64] = {(char *)"dump"}, *envp[64] = {NULL};
	static uint8_t image[sizeof(random.words)];
	struct place_stack stack;
	uint64_t auxv;

	for (int i = 1; i < arguments; i++)
		argv[i] = (char *)"argument";
	for (int i = 0; i < variables; i++)
		envp[i] = (char *)"NAME=value";
	dump_child(&random, 0, argv, envp);
	dump_child(&plain, ADDR_NO_RANDOMIZE, argv, envp);
	CHECK(plain.top == 0x7ffffffff000);
	CHECK(!place_stack_parse(
		&stack, random.words, dump_size(&random), random.rsp, random.strings));
	CHECK(stack.words[0] == (uint64_t)arguments);
	uint64_t rsp = place_stack_build(&stack, shift_stack, &random, image, &auxv);
	size_t below = rsp - shift_stack(&random, random.rsp);
	CHECK(below <= 8192 + 16);
	for (size_t i = 0; i < below; i++)
		CHECK(!image[i]);
	CHECK(auxv == rsp + stack.auxv * 8);
	compare(&plain, image + below, rsp, &stack);
}

/* Stacks of another make are refused, not misread. */
static void test_refused(char **argv)
{
	static struct dump good, bad;
	struct place_stack stack;

	take_dump(&good, argv);
	CHECK(!place_stack_parse(
		&stack, good.words, dump_size(&good), good.rsp, good.strings));
	uint64_t name = place_stack_auxv(&stack, AT_PLATFORM);
	for (size_t size = 0; size < dump_size(&good); size++)
		CHECK(place_stack_parse(
			&stack, good.words, size, good.rsp, good.strings));
	/* Strings may begin anywhere in the random gap, but not below the name. */
	for (size_t size = 0; size <= name - good.rsp; size += 8)
		CHECK(place_stack_parse(
			&stack, good.words, size, good.rsp, good.rsp + size));
	CHECK(!place_stack_parse(
		&stack, good.words, dump_size(&good), good.rsp, good.strings));
	size_t auxv = stack.auxv, words = stack.auxv_words;
	bad = good;
	bad.words[0]++;
	CHECK(place_stack_parse(
		&stack, bad.words, dump_size(&bad), bad.rsp, bad.strings));
	for (size_t i = auxv; i < auxv + words; i += 2) {
		if (good.words[i] != AT_RANDOM && good.words[i] != AT_PLATFORM)
			continue;
		bad = good;
		bad.words[i + 1] += 16;
		CHECK(place_stack_parse(
			&stack, bad.words, dump_size(&bad), bad.rsp, bad.strings));
		bad.words[i + 1] = ~0UL;
		CHECK(place_stack_parse(
			&stack, bad.words, dump_size(&bad), bad.rsp, bad.strings));
	}
	bad = good;
	memset(bad.words + auxv, 1, dump_size(&bad) - auxv * 8);
	CHECK(place_stack_parse(
		&stack, bad.words, dump_size(&bad), bad.rsp, bad.strings));
}

int main(int argc, char **argv)
{
	if (argc > 0 && !strcmp(argv[0], "dump")) {
		static struct dump dump;
		take_dump(&dump, argv);
		return write(1, &dump, sizeof(dump)) != sizeof(dump);
	}
	test_refused(argv);
	/* Both parities of the number of words, and many draws of the random gap. */
	for (int round = 0; round < 8; round++) {
		test_kernel(1, 0);
		test_kernel(2, 0);
		test_kernel(1, 1 + round);
		test_kernel(40, 40 + round);
	}
	return 0;
}
