/* Messages, memory and cleanup that the three programs share. */
#ifndef LAUNCHER_BASE_H
#define LAUNCHER_BASE_H

#include <stddef.h>

/* The name every message begins with; each program's main file defines it. */
extern const char program_name[];

/* Writes "NAME: MESSAGE\n" to stderr in one write, so that lines of several processes do
 * not mix. Control characters come out as escapes: it is one line whatever a name holds.
 * Messages are lower case, without a full stop, failure first, the subject in quotes:
 * "cannot open 'x': No such file or directory". errno is kept. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* warn(), then exit(status). */
_Noreturn void die(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Memory that is there or the program dies with status 125; what they return is owned by
 * the caller and released by free(). Not for the JIT, which never exits. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *memory, size_t size);
void *xreallocarray(void *memory, size_t count, size_t size);
char *xstrdup(const char *string);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Has the whole pages of memory that is about to be written made at once: a fault for each
 * costs several times as much. Older kernels than 5.14 refuse, which is as good. */
void base_populate(void *memory, size_t size);

/* Scope-bound release: `cleanup_free char *s = …;`, `cleanup_fd int fd = -1;`. */
#define cleanup_free __attribute__((cleanup(base_free_pointer)))
#define cleanup_fd   __attribute__((cleanup(base_close_descriptor)))
void base_free_pointer(void *pointer);
void base_close_descriptor(int *descriptor);

/* Hands out the pointer that a cleanup_free variable holds and clears the variable. */
#define steal_pointer(variable)                                \
	({                                                     \
		__typeof__(*(variable)) stolen_ = *(variable); \
		*(variable) = NULL;                            \
		stolen_;                                       \
	})

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
