/* The stack as the kernel builds it for a new program, and the same without the random
 * part. */
#include "launcher/place_stack.h"

#include <elf.h>
#include <string.h>

enum { WORD = 8, RANDOM_SIZE = 16, GAP_MOST = 8192 + 16 };

static uint64_t align_down(uint64_t address, uint64_t alignment)
{
	return address & ~(alignment - 1);
}

/* Skips pointers up to and with the NULL that ends them; false where none does. */
static bool skip_pointers(const struct place_stack *stack, size_t *index)
{
	size_t count = stack->size / WORD;

	while (*index < count)
		if (!stack->words[(*index)++])
			return true;
	return false;
}

static bool find_auxv(struct place_stack *stack)
{
	size_t count = stack->size / WORD, index = 1;

	if (count < 4 || !skip_pointers(stack, &index) || stack->words[0] != index - 2 ||
		!skip_pointers(stack, &index))
		return false;
	stack->auxv = index;
	while (index + 1 < count) {
		index += 2;
		if (stack->words[index - 2] != AT_NULL)
			continue;
		stack->auxv_words = index - stack->auxv;
		return true;
	}
	return false;
}

uint64_t place_stack_auxv(const struct place_stack *stack, uint64_t type)
{
	const uint64_t *auxv = stack->words + stack->auxv;

	for (size_t i = 0; i < stack->auxv_words; i += 2)
		if (auxv[i] == type)
			return auxv[i + 1];
	return 0;
}

/* Where the kernel puts argc, given the lowest address of what lies above the vectors. */
static uint64_t vectors_start(const struct place_stack *stack, uint64_t above)
{
	return align_down(above - (stack->auxv + stack->auxv_words) * WORD, 16);
}

const char *place_stack_parse(struct place_stack *stack, const uint64_t *words,
	size_t size, uint64_t rsp, uint64_t strings)
{
	*stack = (struct place_stack){
		.words = words, .size = size, .rsp = rsp, .strings = strings};
	if (rsp % 16 || size != strings - rsp || !find_auxv(stack))
		return "the program's stack begins in an unknown way";

	uint64_t platform = place_stack_auxv(stack, AT_PLATFORM);
	uint64_t random = place_stack_auxv(stack, AT_RANDOM);
	if (platform < rsp || platform >= strings || random < rsp ||
		random != platform - RANDOM_SIZE)
		return "the program's stack has no platform's name above its random "
		       "bytes";
	const char *name = (const char *)words + (platform - rsp);
	const char *end = memchr(name, '\0', strings - platform);
	if (!end)
		return "the platform's name on the program's stack has no end";
	stack->platform_size = (uint64_t)(end - name) + 1;
	uint64_t gap = platform + stack->platform_size;
	if (gap % 16 || strings - gap > GAP_MOST || vectors_start(stack, random) != rsp)
		return "the program's stack is aligned in an unknown way";
	return NULL;
}

/* Entries that are addresses. The two that point into what is built anew are the
 * caller's. */
static bool auxv_is_address(uint64_t type)
{
	return type == AT_SYSINFO_EHDR || type == AT_PHDR || type == AT_BASE ||
	       type == AT_ENTRY || type == AT_EXECFN;
}

uint64_t place_stack_build(const struct place_stack *stack, place_stack_shift *shift,
	const void *data, uint8_t *image, uint64_t *auxv)
{
	/* First in the old coordinates, at the old distance from the strings. */
	uint64_t platform = align_down(stack->strings, 16) - stack->platform_size;
	uint64_t random = platform - RANDOM_SIZE;
	uint64_t rsp = vectors_start(stack, random);
	const uint8_t *old = (const uint8_t *)stack->words;
	uint8_t *to = image + (rsp - stack->rsp);

	memset(image, 0, stack->size);
	memcpy(image + (platform - stack->rsp),
		old + (place_stack_auxv(stack, AT_PLATFORM) - stack->rsp),
		stack->platform_size);
	memcpy(image + (random - stack->rsp),
		old + (place_stack_auxv(stack, AT_RANDOM) - stack->rsp), RANDOM_SIZE);
	for (size_t i = 0; i < stack->auxv + stack->auxv_words; i++) {
		uint64_t word = stack->words[i];

		if (i > 0 && i < stack->auxv)
			word = word ? shift(data, word) : 0;
		if (i >= stack->auxv && (i - stack->auxv) % 2) {
			uint64_t type = stack->words[i - 1];

			if (type == AT_PLATFORM)
				word = shift(data, platform);
			else if (type == AT_RANDOM)
				word = shift(data, random);
			else if (word && auxv_is_address(type))
				word = shift(data, word);
		}
		memcpy(to + i * WORD, &word, WORD);
	}
	*auxv = shift(data, rsp + stack->auxv * WORD);
	return shift(data, rsp);
}
