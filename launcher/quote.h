/* Words as a shell would want them typed. */
#ifndef LAUNCHER_QUOTE_H
#define LAUNCHER_QUOTE_H

#include <stdio.h>

/* Writes `word` so that bash reads it back as it is: bare where it is plain, in single
 * quotes, or as $'...' where it has bytes that would spoil a terminal. */
void quote_print(FILE *stream, const char *word);

/* Writes `word` in single quotes, whatever it holds: for any Bourne shell. */
void quote_single(FILE *stream, const char *word);

/* Writes running text with its control characters as escapes, followed by blanks up to
 * `width` bytes. */
void quote_text(FILE *stream, const char *text, int width);

#endif
