/* Writing text by hand. */
#include "annotate/pen.h"

void pen_flush(struct pen *pen)
{
	if (pen->used)
		fwrite(pen->text, 1, pen->used, pen->out);
	pen->used = 0;
}

void pen_put_long(struct pen *pen, const char *text, size_t length)
{
	pen_flush(pen);
	if (length > PEN_ROOM) {
		fwrite(text, 1, length, pen->out);
		return;
	}
	memcpy(pen->text, text, length);
	pen->used = length;
}

void pen_blanks(struct pen *pen, size_t count)
{
	static const char blanks[] = "                                ";

	for (; count > sizeof(blanks) - 1; count -= sizeof(blanks) - 1)
		pen_put_bytes(pen, blanks, sizeof(blanks) - 1);
	pen_put_bytes(pen, blanks, count);
}

void pen_number(struct pen *pen, uint64_t number, unsigned base, int width)
{
	char digits[24];
	int at = (int)sizeof(digits);

	do
		digits[--at] = "0123456789abcdef"[number % base];
	while ((number /= base) && at > 0);
	int length = (int)sizeof(digits) - at;
	if (length < width)
		pen_blanks(pen, (size_t)(width - length));
	pen_put_bytes(pen, digits + at, (size_t)length);
}

void pen_percent(struct pen *pen, uint64_t part, uint64_t whole, int least)
{
	uint64_t hundredths = whole ? (part * 10000 + whole / 2) / whole : 0;

	pen_number(pen, hundredths / 100, 10, least);
	pen_put(pen, hundredths % 100 < 10 ? ".0" : ".");
	pen_number(pen, hundredths % 100, 10, 1);
	pen_put(pen, "%");
}
