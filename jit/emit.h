/* Emission of a code object: stencils are copied into a buffer, and nothing is visible
 *until emit_commit() has found a place in code memory, filled all holes and written it
 *there.
 *
 *	emit_begin(e, memory);
 *	loop = emit_label(e);
 *	emit_align(e, 16);
 *	emit_bind(e, loop);
 *	emit_line(e, 7, 12, LOAD_FAST);
 *	emit_stencil(e, STENCIL_LOAD_FAST, &(struct emit_holes){.a = 8 * i, .deopt =
 *exit});
 *	...
 *	code = emit_commit(e);          (NULL: e->failure says why; interpret instead)
 *	... emit_address(e, loop), e->patchpoints, e->lines, e->size ...
 *	emit_end(e);
 *
 * Errors stick: after the first one every call does nothing and emit_commit() gives NULL.
 */
#ifndef JIT_EMIT_H
#define JIT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/holes.h"
#include "jit/patchpoint.h"
#include "jit/stencil.h"
#include "jit/symbols.h"

struct codemem;

enum emit_failure {
	EMIT_OK,
	EMIT_NO_MEMORY, /* of the heap */
	EMIT_NO_CODE,	/* no code memory, or it could not be written */
	EMIT_UNBOUND,	/* a label was used and never bound, or a jump hole left out */
	EMIT_RANGE,	/* a value does not fit its hole */
};

enum { EMIT_PARTS = 3 };

/* Values for the holes of one stencil. Data holes take numbers; the others take labels.
 */
struct emit_holes {
#define EMIT_DATA_(symbol, field)  uint64_t field;
#define EMIT_LABEL_(symbol, field) int field;
	HOLES_DATA(EMIT_DATA_)
	HOLES_JUMP(EMIT_LABEL_)
	HOLES_CALL(EMIT_LABEL_)
#undef EMIT_DATA_
#undef EMIT_LABEL_
	/* Masks of `1 << HOLES_X`. */
	uint32_t labels;  /* data holes whose number is a label: its address is stored */
	uint32_t patches; /* holes that become patchpoints, aligned to be written at once
			   */
	uint32_t tag;	  /* the engine's name for those patchpoints */
};

struct emit_patch {
	struct patchpoint point; /* its address is valid after emit_commit() */
	uint32_t tag;
	uint32_t hole;	 /* enum holes */
	uint32_t offset; /* private: within its part */
	int part;
};

/* Bytes of a part, and its lines with offsets within the part. */
struct emit_part {
	uint8_t *bytes;
	size_t size, room;
	struct symbols_line *lines;
	size_t line_count, line_room;
};

struct emit {
	struct codemem *memory; /* borrowed */
	enum emit_failure failure;
	const char *failed_at; /* name of the stencil where it failed, or NULL */

	/* After emit_commit(), until emit_end(). */
	uint8_t *code; /* its address */
	size_t size;   /* of both parts */
	size_t hot_size;
	struct symbols_line *lines; /* of both parts, ascending */
	size_t line_count;
	struct emit_patch *patchpoints; /* in the order of emission */
	size_t patch_count, patch_room;

	/* Private. */
	/* Hot, cold, and the cold blocks of stencils that are in the cold part
	 * themselves. */
	struct emit_part parts[EMIT_PARTS];
	int part;
	struct symbols_line line; /* what the next byte came from */
	struct emit_label *labels;
	size_t label_count, label_room;
	struct emit_fixup *fixups;
	size_t fixup_count, fixup_room;
	unsigned fail_in; /* see emit_fail() */
};

/* Starts a code object. `e` is zeroed memory or comes from an earlier emit_end(). */
void emit_begin(struct emit *e, struct codemem *memory);
/* Forgets the code object (abort where it was not committed); keeps the buffers. */
void emit_end(struct emit *e);
/* Frees the buffers. */
void emit_release(struct emit *e);

/* A new label, not bound yet; 0 on failure, and 0 is never a label. */
int emit_label(struct emit *e);
/* A label for a fixed address (a helper, other code). */
int emit_label_at(struct emit *e, const void *address);
/* Binds a label to the place of the next byte in the current part. */
void emit_bind(struct emit *e, int label);

/* Copies a stencil to the current part (its cold blocks to the cold part). `holes` may be
 * NULL where it has none but CONT. */
void emit_stencil(struct emit *e, enum stencils id, const struct emit_holes *holes);
/* Raw bytes, for what is not worth a stencil: prologues, alignment. */
void emit_bytes(struct emit *e, const void *bytes, size_t size);
/* `jmp label`. */
void emit_jump(struct emit *e, int label);
/* `jcc label`: 0F 8x with the condition x. */
void emit_branch(struct emit *e, int condition, int label);
/* Nops up to a multiple of `alignment` (a power of two, at most 16): heads of loops. */
void emit_align(struct emit *e, size_t alignment);
/* What follows goes to the cold part (exits, slow paths) or back to the hot one. */
void emit_cold(struct emit *e, bool cold);
/* What follows comes from this source line and bytecode. */
void emit_line(struct emit *e, int line, uint32_t bytecode, uint8_t opcode);
/* Bytes emitted so far, both parts. */
size_t emit_size(const struct emit *e);

/* Makes the code object. Returns its address (owned by the code memory; release it with
 * codemem_release()), or NULL: nothing has changed outside `e`. */
void *emit_commit(struct emit *e);
/* Where a bound label is, after emit_commit(). */
void *emit_address(const struct emit *e, int label);
const char *emit_failure_text(enum emit_failure failure);

/* For tests: the `count`th allocation from now on fails (0: never). */
void emit_fail(struct emit *e, unsigned count);

#endif
