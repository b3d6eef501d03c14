/* The jitdump, version 1 (the kernel's
 * tools/perf/Documentation/jitdump-specification.txt).
 *
 * Each code object is written as a debug info record, an unwinding info record and a code
 * load record. Stamps are CLOCK_MONOTONIC in nanoseconds (perf record -k mono). Where
 * code is patched later the jitdump keeps its first bytes; patches.log has the rest. In
 * the debug info the column `discrim` holds JITDUMP_DISCRIM() of the bytecode that the
 * line entry came from, and an entry stands wherever line or bytecode change. */
#ifndef JIT_JITDUMP_H
#define JIT_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/buffer.h"
#include "jit/outfile.h"

struct code_info;
struct symbols_line;

/* Index of the code unit in co_code, and CPython's number of the opcode. */
#define JITDUMP_DISCRIM(bytecode, opcode) ((uint32_t)(bytecode) << 8 | (uint8_t)(opcode))
#define JITDUMP_BYTECODE(discrim)	  ((uint32_t)(discrim) >> 8)
#define JITDUMP_OPCODE(discrim)		  ((uint32_t)(discrim)&0xff)

struct jitdump {
	struct outfile file;
	void *marker; /* the mapping that tells perf about the file, or NULL */
	size_t marker_size;
	struct buffer records, unwinding;
};

/* Creates DIRECTORY/jit-PID.dump and maps its first page executable, which is the sign
 * that perf looks for. False: one warning has been written. */
bool jitdump_open(struct jitdump *dump, const char *directory);
/* Writes one code object with the bytes it has now. `lines` are as in struct
 * symbols_code; where they are gone (count 0) the lines of `code` are written. */
void jitdump_load(struct jitdump *dump, const struct code_info *code,
	const struct symbols_line *lines, size_t line_count);
/* Writes the close record, and releases everything. */
void jitdump_close(struct jitdump *dump);
/* Releases everything and writes nothing: the file is another process's. */
void jitdump_abandon(struct jitdump *dump);

#endif
