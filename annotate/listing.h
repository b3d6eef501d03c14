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

enum {
	LISTING_EVERY_EPOCH = UINT32_MAX,
};

struct listing_row {
	uint64_t offset; /* bytes from the function's start */
	uint32_t size;
	enum disasm_flow flow;
	uint32_t nops; /* instructions in this row where it is a run of nops; else 0 */
	int label;     /* 1…: jumps within the function come here; 0: none */
	int target;    /* 1…: the label it jumps to; 0: none */
	uint32_t line; /* of the source, 1…; 0: not known */
	uint32_t runs; /* that had samples here */
	bool patched;  /* these bytes are not those that were loaded */
	bool leader;   /* a basic block begins here */
	bool slow;     /* of a kind that takes long: division, load, … */
	bool culprit;  /* samples behind it are likely its own */
	uint64_t samples;
	uint64_t second; /* of them, those of the second side, where two are compared */
	uint64_t block;	 /* samples of the block, at its leader */
	/* Places in listing->text; 0: nothing. */
	size_t text;
	size_t note;	 /* what its constant means */
	size_t was;	 /* the instruction as loaded */
	size_t file;	 /* of the source line */
	size_t source;	 /* the text of the line, where it differs from the row before */
	size_t bytecode; /* the bytecode it came from, where another one begins */
	size_t inlined;	 /* functions inlined here, outermost first, one a line */
	size_t first_patch, patch_count; /* in listing->patches */
};

struct listing_patch {
	const struct patch *patch;
	size_t row;
};

struct listing {
	const struct function *function;
	uint32_t epoch;	       /* patches made before what is listed; EVERY_EPOCH */
	const uint8_t *bytes;  /* borrowed or `made`; NULL: not known */
	const uint8_t *loaded; /* borrowed; NULL: not known */
	uint8_t *made;	       /* owned */
	uint64_t size;
	uint64_t samples;    /* that this listing counts */
	const char *what;    /* which bytes these are, in words */
	const char *missing; /* why there are none */
	struct listing_row *rows;
	size_t count, room;
	char *text; /* owned: NUL-terminated strings, the first is empty */
	size_t text_size, text_room;
	struct listing_patch *patches; /* owned, by row, then by time */
	size_t patch_count, patch_room;
	uint64_t outside; /* samples beyond the bytes that are known */
};

struct listing_options {
	enum listing_bytes bytes;
	bool att;
	bool precise; /* the samples have no skid */
	const char *symfs;
	struct input *const
		*inputs; /* of the profile, where two sides are compared; or NULL */
};

struct lister; /* disassemblers and caches for many listings */

struct lister *lister_new(const struct listing_options *options);
void lister_free(struct lister *lister);

/* Builds the listing of `function`, or of one version of its bytes; to be released, or
 * built into again. */
void listing_build(struct lister *lister, struct listing *listing,
	const struct function *function, uint32_t epoch);
void listing_release(struct listing *listing);

/* The versions of the function's bytes that are to be listed: all in one unless bytes at
 * the time of the samples were asked for; hottest first. Owned array. */
uint32_t *listing_epochs(
	struct lister *lister, const struct function *function, size_t *count);

/* Which version of the bytes an epoch of listing_epochs() is. */
struct function_version listing_version(const struct function *function, uint32_t epoch);

static inline const char *listing_text(const struct listing *listing, size_t place)
{
	return listing->text + place;
}

/* For the parts of this module. */

size_t listing_keep(struct listing *listing, const char *text, size_t length);

/* Lines and bytecodes of each row (listing_lines.c). */
struct listing_sources;
struct listing_sources *listing_sources_new(const char *symfs);
void listing_sources_free(struct listing_sources *sources);
void listing_add_lines(struct listing_sources *sources, struct listing *listing);

/* Jump arrows of a listing for text (listing_arrows.c); free with listing_arrows_free(). */
struct listing_arrows;
struct listing_arrows *listing_arrows_new(const struct listing *listing);
void listing_arrows_free(struct listing_arrows *arrows);

enum {
	LISTING_ARROWS_ROOM = 64, /* bytes that a row's arrows take at most */
};

/* What stands beside a row, and between it and the row before; empty where no row has an
 * arrow. */
void listing_arrows_at(struct listing_arrows *arrows, size_t row, char *text);
void listing_arrows_between(struct listing_arrows *arrows, size_t row, char *text);

/* Samples, blocks and the marks that follow from them (listing_marks.c). */
void listing_count(struct listing *listing, struct input *const *inputs);
void listing_mark_culprits(struct listing *listing);
void listing_add_patches(struct listing *listing);

#endif
