/* What went wrong in a reader, in words that name the place and the cause; the caller
 * adds the file's name and decides whether it is fatal. */
#ifndef ANNOTATE_FAULT_H
#define ANNOTATE_FAULT_H

struct fault {
	char text[256];
};

/* Words a fault and returns -1, so that a reader can `return fault_set(…)`. */
int fault_set(struct fault *fault, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
