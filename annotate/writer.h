/* Writers: each turns a finished profile into one form of output. */
#ifndef ANNOTATE_WRITER_H
#define ANNOTATE_WRITER_H

#include "annotate/listing.h"
#include "annotate/stacks.h"

#include <stdio.h>

struct writer {
	FILE *out;
	struct profile *profile;
	struct lister *lister;
	struct function **chosen; /* functions to list, or NULL with count 0 */
	size_t chosen_count;
	const char *sides[2]; /* what is compared */
	bool colour;	      /* escape sequences are welcome */
	bool listings;	      /* instructions are wanted */
	bool table;	      /* the table of functions is wanted */
	bool wrote;	      /* something, which a blank line sets off */
	bool full;	      /* also rows far from any sample */
	bool raw;	      /* with the bytes of each instruction */
	bool top_given;	      /* by the user */
	size_t top;	      /* rows of the table; 0: all */
};

void text_write(struct writer *writer);
void json_write(struct writer *writer);
void json_string(FILE *out, const char *text);
/* Those that write a file of their own give 0, or -1 with errno. */
int html_write(struct writer *writer, const char *path);
int pprof_write(struct writer *writer, const char *path);
int elf_write(struct writer *writer, const char *path);
int firefox_write(struct writer *writer, const char *path);
/* A script for gdb with breakpoints on the hottest instructions. */
void gdbscript_write(struct writer *writer);
/* Two sides compared. */
void diff_write(struct writer *writer);
/* "comm;outermost;…;innermost COUNT" a line, as flame graph tools take it. */
void folded_write(struct writer *writer);

#endif
