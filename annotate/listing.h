/* The listing of one function: instructions with samples, labels and meanings. */
#ifndef ANNOTATE_LISTING_H
#define ANNOTATE_LISTING_H

#include "annotate/disasm.h"
#include "annotate/profile.h"

enum listing_bytes {
	LISTING_EXIT, /* as they stood at exit, where that was kept; else as loaded */
	LISTING_LOAD,
	LISTING_SAMPLE, /* as they stood when the samples were taken */
};

struct listing_row {
	uint64_t offset; /* bytes from the function's start */
	uint32_t size;
	enum disasm_flow flow;
	uint32_t nops; /* instructions in this row where it is a run of nops; else 0 */
	int label;     /* 1…: jumps within the function come here; 0: none */
	int target;    /* 1…: the label it jumps to; 0: none */
	bool patched;  /* these bytes are not those that were loaded */
	bool leader;   /* a basic block begins here */
	uint64_t samples;
	uint64_t block; /* samples of the block, at its leader */
	size_t text;	/* in listing->text */
	size_t note;	/* in listing->text: what its constant means; 0: nothing */
	size_t was;	/* in listing->text: the instruction as loaded; 0: the same */
};

struct listing {
	const struct function *function;
	const uint8_t *bytes;  /* borrowed; NULL: not known */
	const uint8_t *loaded; /* borrowed; NULL: not known */
	uint64_t size;
	const char *what;    /* which bytes these are, in words */
	const char *missing; /* why there are none */
	struct listing_row *rows;
	size_t count, room;
	char *text; /* owned: NUL-terminated strings, the first is empty */
	size_t text_size, text_room;
	uint64_t outside; /* samples beyond the bytes that are known */
};

struct listing_options {
	enum listing_bytes bytes;
	bool att;
};

struct lister; /* disassemblers and caches for many listings */

struct lister *lister_new(struct profile *profile, const struct listing_options *options);
void lister_free(struct lister *lister);

/* Builds the listing of `function`; to be released, or built into again. */
void listing_build(
	struct lister *lister, struct listing *listing, const struct function *function);
void listing_release(struct listing *listing);

static inline const char *listing_text(const struct listing *listing, size_t place)
{
	return listing->text + place;
}

#endif
