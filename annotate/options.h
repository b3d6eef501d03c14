/* The command line of annotate. */
#ifndef ANNOTATE_OPTIONS_H
#define ANNOTATE_OPTIONS_H

#include "annotate/input.h"
#include "annotate/listing.h"

enum options_colour {
	OPTIONS_COLOUR_AUTO,
	OPTIONS_COLOUR_ALWAYS,
	OPTIONS_COLOUR_NEVER,
};

struct options {
	struct input_options input;
	struct listing_options listing;
	const char *event;
	const char *function; /* name or address asked for; NULL: the hottest */
	bool json, all, table_only, raw, folded, gdb_script, diff, no_pager, full;
	const char *html, *pprof, *elf, *firefox; /* files to write; NULL: not wanted */
	bool top_given;
	size_t top;
	enum options_colour colour;
	char **paths; /* borrowed from argv; at least one */
	size_t path_count;
};

/* Exits by itself for --help, --version and bad usage (status 2). */
void options_read(struct options *options, int argc, char **argv);

#endif
