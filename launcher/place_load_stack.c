/* A program's first stack, as the kernel builds it without randomisation
 * (fs/binfmt_elf.c: create_elf_tables, fs/exec.c: setup_arg_pages). */
#include "launcher/place_load_stack.h"

#include <elf.h>
#include <string.h>

#include "launcher/base.h"

enum { WORD = 8, PAGE = 4096, RANDOM_SIZE = 16, EXPAND = 128 << 10 };

static uint64_t align_down(uint64_t address, uint64_t alignment)
{
	return address & ~(alignment - 1);
}

static size_t count_words(char *const *list, uint64_t *bytes)
{
	size_t count = 0;

	for (*bytes = 0; list[count]; count++)
		*bytes += strlen(list[count]) + 1;
	return count;
}

/* Where things are written, by their addresses. */
struct writer {
	uint8_t *bytes;
	uint64_t begin;
};

static void put(const struct writer *to, uint64_t address, const void *data, size_t size)
{
	memcpy(to->bytes + (address - to->begin), data, size);
}

/* The strings from `at` on and pointers to them, with a NULL, from `vector` on. */
static void put_list(
	const struct writer *to, char *const *list, uint64_t at, uint64_t vector)
{
	uint64_t null = 0;

	for (; *list; list++, vector += WORD) {
		size_t size = strlen(*list) + 1;

		put(to, at, *list, size);
		put(to, vector, &at, sizeof(at));
		at += size;
	}
	put(to, vector, &null, sizeof(null));
}

static void put_auxv(const struct writer *to, const struct load_stack_input *input,
	uint64_t at, uint64_t path, uint64_t platform, uint64_t random)
{
	for (size_t i = 0; i < input->auxv_words; i += 2) {
		uint64_t entry[2] = {input->auxv[i], input->auxv[i + 1]};

		if (entry[0] == AT_EXECFN)
			entry[1] = path;
		else if (entry[0] == AT_PLATFORM)
			entry[1] = platform;
		else if (entry[0] == AT_RANDOM)
			entry[1] = random;
		put(to, at + i * WORD, entry, sizeof(entry));
	}
}

void load_stack_build(struct load_stack *stack, const struct load_stack_input *input)
{
	uint64_t arg_bytes, env_bytes, path_size = strlen(input->path) + 1;
	uint64_t argc = count_words(input->argv, &arg_bytes);
	uint64_t envc = count_words(input->envp, &env_bytes);
	uint64_t path = input->top - WORD - path_size;
	size_t platform_size = strlen(input->platform) + 1;

	stack->env_end = path;
	stack->arg_end = stack->env_start = path - env_bytes;
	stack->arg_start = stack->arg_end - arg_bytes;
	uint64_t platform = align_down(stack->arg_start, 16) - platform_size;
	uint64_t random = platform - RANDOM_SIZE;
	uint64_t words = 1 + argc + 1 + envc + 1 + input->auxv_words;
	stack->rsp = align_down(random - words * WORD, 16);
	stack->auxv = stack->rsp + (1 + argc + 1 + envc + 1) * WORD;
	stack->low = align_down(stack->arg_start, PAGE) - EXPAND;
	if (align_down(stack->rsp, PAGE) < stack->low)
		stack->low = align_down(stack->rsp, PAGE);

	size_t size = input->top - stack->rsp;
	stack->bytes = xcalloc(1, size);
	struct writer to = {stack->bytes, stack->rsp};
	put(&to, path, input->path, path_size);
	put(&to, platform, input->platform, platform_size);
	put(&to, random, input->random, RANDOM_SIZE);
	put(&to, stack->rsp, &argc, sizeof(argc));
	put_list(&to, input->argv, stack->arg_start, stack->rsp + WORD);
	put_list(&to, input->envp, stack->env_start, stack->rsp + (1 + argc + 1) * WORD);
	put_auxv(&to, input, stack->auxv, path, platform, random);
}
