/* A whole input file in memory: mapped where it is a regular file, read where it is a
 * pipe. */
#ifndef ANNOTATE_FILE_H
#define ANNOTATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file {
	const uint8_t *data;
	size_t size;
	unsigned owner; /* user id */
	bool mapped;
};

/* Opens `path` ("-" is stdin). 0, or -1 with errno. Release with file_close(). */
int file_open(struct file *file, const char *path);
void file_close(struct file *file);

/* Lets the pages of a part go; they are read again when they are touched. */
void file_forget(const struct file *file, uint64_t offset, uint64_t size);

#endif
