/* An output file of the symbols: each write goes out at once, so that whatever ends the
 * process leaves a usable file; the first failure is one warning, and then it is over. */
#ifndef JIT_OUTFILE_H
#define JIT_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

struct outfile {
	int fd;	    /* -1: not open, or given up */
	char *path; /* owned */
};

/* Creates DIRECTORY/NAME for the user alone to write. An earlier regular file of the same
 * user is replaced; a symbolic link or somebody else's file never is. False: one warning
 * has been written, and everything else does nothing. */
bool outfile_open(struct outfile *file, const char *directory, const char *name);
/* Writes all pieces (which it changes). A record is written whole or cut off again. */
bool outfile_write(struct outfile *file, struct iovec *pieces, int count);
void outfile_close(struct outfile *file);

#endif
