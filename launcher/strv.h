/* A growing vector of strings, always ended by NULL: argv and envp in the making. */
#ifndef LAUNCHER_STRV_H
#define LAUNCHER_STRV_H

#include <stdbool.h>
#include <stddef.h>

struct strv {
	char **items; /* owned, as is each string; NULL-terminated once anything was added
		       */
	size_t count;
	size_t capacity;
};

/* An empty vector with its terminator, so that items can be handed to execve. */
void strv_init(struct strv *strv);
void strv_release(struct strv *strv);

/* Both take `string`, which must come from malloc. */
void strv_add(struct strv *strv, char *string);
void strv_insert(struct strv *strv, size_t index, char *string);

/* Frees the string at `index` and closes the gap. */
void strv_remove(struct strv *strv, size_t index);

/* Whether one of the strings equals `string`. */
bool strv_has(const struct strv *strv, const char *string);

/* Adds copies of every string of a NULL-terminated array. */
void strv_copy(struct strv *strv, char *const *strings);

#endif
