/* The pad: one environment variable sized so that the program's initial stack pointer
 * does not depend on what the other variables, the arguments and the executed path weigh.
 */
#ifndef LAUNCHER_PAD_H
#define LAUNCHER_PAD_H

#include <stddef.h>

#define PAD_NAME "STABLERUN_PAD="
#define PAD_EVEN "STABLERUN_PAD_EVEN="

/* The longest string that execve takes, its terminator included (MAX_ARG_STRLEN). */
enum { PAD_MOST = 128 * 1024 };

/* What a process's start block holds. Strings are counted with their terminators. */
struct pad_block {
	size_t string_bytes; /* executed path, arguments and variables, without the pad */
	size_t pointers;     /* argc + envc + 3, with the pad in envc: argc itself, both
			      * arrays and their NULLs */
};

/* Bytes of the pad variable, name and terminator included. */
size_t pad_size(const struct pad_block *block);

/* What the kernel charges against a quarter of the stack limit once the pad is there. */
size_t pad_total(const struct pad_block *block);

/* The variable itself. Returns owned. */
char *pad_string(size_t size);

#endif
