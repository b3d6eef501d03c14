/* What the parts of the text output share. */
#ifndef ANNOTATE_TEXT_H
#define ANNOTATE_TEXT_H

#include "annotate/writer.h"

#define TEXT_RESET  "\033[0m"
#define TEXT_BOLD   "\033[1m"
#define TEXT_DIM    "\033[2m"
#define TEXT_SOURCE "\033[34m"
#define TEXT_NOTE   "\033[36m"
#define TEXT_WAS    "\033[35m"

/* The escape sequence where colours are wanted, else "". */
const char *text_paint(const struct writer *writer, const char *code);

/* That of a share of the whole: hot, warm, lukewarm or none. */
const char *text_heat(const struct writer *writer, uint64_t samples, uint64_t total);

const char *text_kind(enum function_kind kind);

/* The last part of the path of the function's file. */
const char *text_module(const struct function *function);

double text_share(uint64_t part, uint64_t whole);

/* One listing, with its heading. */
void text_listing(struct writer *writer, const struct listing *listing);

#endif
