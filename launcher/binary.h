/* Why the kernel would not execute a file. */
#ifndef LAUNCHER_BINARY_H
#define LAUNCHER_BINARY_H

/* The cause in words, for execve's `error` on `path`: what is wrong with the file rather
 * than what the error is called. Returns owned. */
char *binary_explain(const char *path, int error);

#endif
