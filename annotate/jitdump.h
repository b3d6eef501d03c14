/* jitdump: what a runtime tells of its code as it emits it. Format: the kernel's
 * tools/perf/Documentation/jitdump-specification.txt. */
#ifndef ANNOTATE_JITDUMP_H
#define ANNOTATE_JITDUMP_H

#include "annotate/bytes.h"
#include "annotate/fault.h"
#include "annotate/file.h"

enum jitdump_kind {
	JITDUMP_LOAD = 0,
	JITDUMP_MOVE = 1,
	JITDUMP_DEBUG_INFO = 2,
	JITDUMP_CLOSE = 3,
	JITDUMP_UNWINDING_INFO = 4,
};

struct jitdump {
	struct file file;
	bool swap, cut, arch_stamps;
	uint32_t version, machine; /* ELF's e_machine */
	uint32_t pid;		   /* as the process saw itself */
	uint64_t position;
	struct fault fault; /* where `cut` */
};

/* One record. Everything is borrowed from the file. */
struct jitdump_record {
	uint32_t kind;
	uint64_t time; /* ns of the clock that the runtime chose */
	uint64_t offset;

	/* LOAD and MOVE */
	uint32_t pid, tid;
	uint64_t address, old_address, size, index;
	const char *name;
	const uint8_t *code; /* `size` bytes */

	/* DEBUG_INFO: of the next LOAD at `address`; read it by jitdump_line(). */
	uint64_t line_count;
	struct bytes lines;

	/* UNWINDING_INFO, of the next LOAD: .eh_frame, then .eh_frame_hdr. */
	struct bytes unwind;
	uint64_t unwind_header_size;
};

/* Opens and checks the header: 0, or -1 with the fault worded. */
int jitdump_open(struct jitdump *dump, const char *path, struct fault *fault);
void jitdump_close(struct jitdump *dump);

/* The next record: 1; 0 at the end, or where the rest is not usable (then `cut` is set).
 */
int jitdump_next(struct jitdump *dump, struct jitdump_record *record);

/* One entry of a DEBUG_INFO record: 1, or 0 at the end. `*file` is kept from entry to
 * entry, where the format says "as before". */
int jitdump_line(struct jitdump_record *record, uint64_t *address, uint32_t *line,
	uint32_t *discriminator, const char **file);

#endif
