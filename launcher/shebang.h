/* The first line of a script, read as the kernel reads it. */
#ifndef LAUNCHER_SHEBANG_H
#define LAUNCHER_SHEBANG_H

#include <stddef.h>

enum {
	SHEBANG_SIZE = 256, /* BINPRM_BUF_SIZE: what the kernel looks at */
	SHEBANG_DEPTH = 5,  /* scripts that may name scripts, before ELOOP */
};

struct shebang {
	char interpreter[SHEBANG_SIZE];
	char argument[SHEBANG_SIZE]; /* everything after it, in one piece */
	int has_argument;
};

/* Parses the first `size` bytes of a file (SHEBANG_SIZE at most are looked at). Returns 1
 * for a script, 0 where the file does not begin with "#!", -1 where it does and the
 * kernel would not accept the line (no interpreter, or its name is cut off). */
int shebang_parse(struct shebang *shebang, const char *bytes, size_t size);

#endif
