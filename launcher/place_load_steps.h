/* What the steps of loading a program share: place_load.c finds out what is there, decides
 * and leaves for the program; place_load_page.c makes the page of calls that it leaves by. */
#ifndef LAUNCHER_PLACE_LOAD_STEPS_H
#define LAUNCHER_PLACE_LOAD_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "launcher/place_calls.h"
#include "launcher/place_layout.h"
#include "launcher/place_load_file.h"
#include "launcher/place_load_stack.h"
#include "launcher/remote.h"

struct load {
	const char *path;
	char *const *argv, *const *envp;
	struct load_file program, interpreter;
	struct place_image image;
	struct place_layout layout;
	struct place_calls calls;
	struct place_numbers numbers;
	struct load_stack stack;
	size_t auxv_words;
	struct remote_page page;
	uint64_t gadget, entry;
	int *closed; /* owned: descriptors */
	size_t closed_count;
	/* Room that is had in time; owned. */
	struct place_maps *others; /* mappings that are the launcher's */
	struct place_calls *moves;
	char *text;
};

/* The page's steps, in this order; NULL, or why it cannot be (static). */
const char *load_page_reserve(struct load *load); /* before the last look at mappings */
const char *load_page_calls(struct load *load);
const char *load_page_make(struct load *load); /* after which it can be run */

#endif
