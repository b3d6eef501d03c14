/* Programs looked up along PATH, and whether they can be executed. */
#ifndef LAUNCHER_LOOKUP_H
#define LAUNCHER_LOOKUP_H

/* 0 where `path` is a file that may be executed, else the errno that execve would give
 * (EISDIR for a directory, where that would be EACCES). */
int lookup_check(const char *path);

/* What lookup_check()'s error on `path` means, in words. */
const char *lookup_describe(const char *path, int error);

/* Searches a PATH's value. Returns owned; else NULL with *error, and in *refused (owned,
 * to be NULL before) the first file of that name that may not be executed. */
char *lookup_search(const char *path, const char *name, int *error, char **refused);

#endif
