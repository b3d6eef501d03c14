/* A program's first stack, as the kernel builds it without randomisation. Pure.
 *
 * place_stack.h says what lies where; here all of it is made. */
#ifndef LAUNCHER_PLACE_LOAD_STACK_H
#define LAUNCHER_PLACE_LOAD_STACK_H

#include <stddef.h>
#include <stdint.h>

/* What goes onto it; all borrowed. */
struct load_stack_input {
	uint64_t top; /* where it ends */
	const char *path;
	char *const *argv, *const *envp;
	const uint64_t *auxv; /* AT_NULL included; pointers into the stack are set here */
	size_t auxv_words;
	const char *platform;
	const uint8_t *random; /* 16 bytes */
};

struct load_stack {
	uint8_t *bytes; /* owned: from rsp to the top */
	uint64_t rsp, auxv;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t low; /* where its mapping begins, given room enough */
};

/* Release by free(stack->bytes). */
void load_stack_build(struct load_stack *stack, const struct load_stack_input *input);

#endif
