/* What the steps of moving a program share: place_read.c finds out what is there,
 * place_move.c decides and does. */
#ifndef LAUNCHER_PLACE_STEPS_H
#define LAUNCHER_PLACE_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "launcher/place_calls.h"
#include "launcher/place_layout.h"
#include "launcher/place_move.h"
#include "launcher/place_stack.h"
#include "launcher/remote.h"

/* The large ones are elsewhere, as touching their memory takes longer than all that is
 * done with it. */
struct move {
	struct place_result *result;
	struct remote remote;
	struct user_regs_struct regs; /* as the program is to begin */
	uint64_t mask;		      /* the program's own signal mask */
	struct place_image *image;
	struct place_stack stack;
	uint64_t *block;  /* owned: the stack's words from rsp to the strings */
	uint8_t *rebuilt; /* owned: what replaces them */
	struct place_range vdso;
	int interpreter; /* a descriptor of its file, as named by the program, or -1 */
	uint64_t gadget, trap; /* see remote_page; 0 where there is none */
	struct place_layout layout;
	struct place_top top;
	struct place_calls *calls;
	struct place_numbers *numbers;
	struct remote_page page;
	/* What has been done so far. */
	bool masked, left_execve, stack_written, page_mapped, moving;
};

/* Notes why, with errno's text where `error` is set; returns -1. */
int place_fail(struct move *move, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The steps that read, in this order; 0 or -1 after place_fail(). */
int place_read_memory(struct move *move); /* opens it */
int place_read_maps(struct move *move);
int place_read_stack(struct move *move);
int place_read_program(struct move *move);
int place_read_interpreter(struct move *move);
int place_read_syscall(struct move *move);
int place_read_limit(struct move *move);
int place_read_draws(struct move *move);

#endif
