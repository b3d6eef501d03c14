/* patches.log: what happened to live code after it was loaded, one event a line, in the
 * order in which it happened:
 *
 *	# stablerun patches 1 pid PID
 *	patch CLOCK ADDRESS OLD NEW WHY...
 *	unload CLOCK ADDRESS SIZE
 *	object CLOCK ADDRESS TYPE REPR...
 *
 * CLOCK is CLOCK_MONOTONIC in nanoseconds, decimal; ADDRESS is hexadecimal without 0x,
 *SIZE decimal bytes; OLD and NEW are the bytes in hexadecimal in the order of memory,
 *both of the same length; WHY and REPR are the rest of the line. `object` says what code
 *embeds: type and short repr of the Python object at ADDRESS. In TYPE and REPR,
 *characters below space and DEL are written as '?', spaces in TYPE as '_'. Lines that
 *begin with '#' and events that a reader does not know are skipped; a last line without
 *its end is half written. */
#ifndef JIT_PATCHLOG_H
#define JIT_PATCHLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/buffer.h"
#include "jit/outfile.h"

enum patchlog_kind {
	PATCHLOG_PATCH,
	PATCHLOG_UNLOAD,
	PATCHLOG_OBJECT,
};

/* One line, taken apart. The strings point into it and have no terminating zero. */
struct patchlog_event {
	enum patchlog_kind kind;
	uint64_t clock;
	uint64_t address;
	uint64_t size;	       /* of unloaded code, or of the bytes patched */
	const char *old, *new; /* 2 * size hexadecimal digits */
	const char *type;
	size_t type_length;
	const char *text; /* why, or the repr */
	size_t text_length;
};

/* Reads the next event from `text`, which holds `*size` bytes, and moves both on. 1:
 * there is one; 0: the end (what is left has no complete line); -1: the line is
 * malformed, and the next call goes on behind it. Any bytes are safe. */
int patchlog_next(const char **text, size_t *size, struct patchlog_event *event);
/* The bytes that hexadecimal digits stand for; `digits` of an event are always valid. */
void patchlog_bytes(const char *digits, uint64_t size, uint8_t *bytes);

struct patchlog {
	struct outfile file;
	struct buffer lines;
};

/* Creates DIRECTORY/jit-PID.patches. False: one warning has been written. */
bool patchlog_open(struct patchlog *log, const char *directory);
void patchlog_patch(struct patchlog *log, const void *address, const void *bytes,
	size_t size, const char *why);
void patchlog_unload(struct patchlog *log, const void *address, size_t size);
/* Kept back until the next event, since objects come in groups. */
void patchlog_object(
	struct patchlog *log, const void *object, const char *type, const char *repr);
void patchlog_flush(struct patchlog *log);
void patchlog_close(struct patchlog *log);

#endif
