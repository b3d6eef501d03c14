/* Text that is put together by hand and written in large pieces: several times faster than
 * printf(), which counts where a listing has millions of lines. */
#ifndef ANNOTATE_PEN_H
#define ANNOTATE_PEN_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	PEN_ROOM = 1 << 14,
};

struct pen {
	FILE *out; /* borrowed */
	size_t used;
	char text[PEN_ROOM];
};

/* Whatever else writes to `out` needs this before. */
void pen_flush(struct pen *pen);

void pen_put_long(struct pen *pen, const char *text, size_t length);

static inline void pen_put_bytes(struct pen *pen, const char *text, size_t length)
{
	if (length > PEN_ROOM - pen->used) {
		pen_put_long(pen, text, length);
		return;
	}
	memcpy(pen->text + pen->used, text, length);
	pen->used += length;
}

static inline void pen_put(struct pen *pen, const char *text)
{
	pen_put_bytes(pen, text, strlen(text));
}

void pen_blanks(struct pen *pen, size_t count);

/* A number in `width` columns at least, right-aligned. */
void pen_number(struct pen *pen, uint64_t number, unsigned base, int width);

/* A share as "%6.2f%%" has it; `least` columns before the point. */
void pen_percent(struct pen *pen, uint64_t part, uint64_t whole, int least);

#endif
