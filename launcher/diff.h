/* What moved between two kept runs, and why. */
#ifndef LAUNCHER_DIFF_H
#define LAUNCHER_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct run;

/* What can move; a cause says which of them it explains. */
enum diff_part {
	DIFF_STACK = 1,	   /* the initial stack pointer */
	DIFF_HEAP = 2,	   /* the beginning of the heap */
	DIFF_PROGRAM = 4,  /* the program's own mappings */
	DIFF_MAPPINGS = 8, /* all other mappings */
	DIFF_CODE = 16,	   /* JIT code objects */
	DIFF_BYTES = 32,   /* bytes of JIT code */
};

/* Neighbouring mappings that moved by the same distance. */
struct diff_group {
	char *first; /* name of the one that was mapped first: the highest */
	uint64_t from;
	uint64_t to;
	size_t count;
	bool program;
};

struct diff_cause {
	const char *name;  /* "environment count", "stack limit", …: stable words */
	char *text;	   /* the evidence, with what to do; owned */
	unsigned explains; /* enum diff_part */
	bool likely;	   /* one of those moved */
};

/* A code object that is the first to differ. */
struct diff_first {
	char *name; /* NULL: none */
	size_t index;
	uint64_t from;
	uint64_t to;
};

struct diff {
	unsigned moved; /* enum diff_part */
	struct {
		size_t compared, moved;
		struct diff_group *groups;
		size_t group_count;
		struct diff_group
			*only; /* files mapped in one run only: from or to is 0 */
		size_t only_count;
		const char *file; /* which of the RUN's files was compared, or NULL */
	} mappings;
	struct {
		bool known;
		uint64_t from, to;
	} stack, heap;
	struct {
		size_t compared, moved, only_a, only_b;
		struct diff_first first;
		/* How the two sequences part, where they do. */
		bool resized; /* the first differing one has another size at the same address */
		bool reordered; /* the same objects in another order */
	} code;
	struct {
		size_t compared, different;
		struct diff_first first; /* from and to: the offset of the first byte */
	} bytes;
	struct diff_cause *causes; /* likely ones first */
	size_t cause_count;
};

/* Compares. Returns 0, or -1 after one message. */
int diff_runs(struct diff *diff, const struct run *a, const struct run *b);
void diff_release(struct diff *diff);

/* The steps of diff_runs(), in this order (diff_maps.c, diff_code.c, diff_causes.c). */
int diff_compare_maps(struct diff *diff, const struct run *a, const struct run *b);
void diff_compare_code(struct diff *diff, const struct run *a, const struct run *b);
void diff_find_causes(struct diff *diff, const struct run *a, const struct run *b);

void diff_print(const struct diff *diff, const char *a, const char *b);
/* One JSON object; 0, or -1 where the stream failed (diff_json.c). */
int diff_print_json(const struct diff *diff, const char *a, const char *b, FILE *stream);

/* `stablerun diff RUN RUN` */
int diff_main(int argc, char **argv);

#endif
