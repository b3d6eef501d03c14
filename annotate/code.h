/* Code objects: what a JIT put where and when, told by its jitdump, its perf map and the
 * code that was kept at exit, of one process. */
#ifndef ANNOTATE_CODE_H
#define ANNOTATE_CODE_H

#include "annotate/elffile.h"
#include "annotate/jitdump.h"
#include "annotate/patches.h"
#include "annotate/perfmap.h"
#include "annotate/spans.h"

/* Where a code object is known from; a higher one tells more and wins. */
enum code_source {
	CODE_REGION, /* executable memory that was kept, without a name for it */
	CODE_ELF,
	CODE_MAP,
	CODE_DUMP,
};

struct code_place { /* where a code object stood, for a time */
	struct code *code;
	uint64_t address;
	uint64_t from, to;
};

struct code {
	const char *name; /* owned by the set */
	uint64_t address; /* the last place it had */
	uint64_t size;
	uint64_t from;	      /* when it was loaded; 0: always */
	const uint8_t *bytes; /* as loaded, borrowed; NULL: not known */
	const uint8_t *final; /* as it stood at exit, borrowed; NULL: not known */
	enum code_source source;
	uint32_t machine;	     /* e_machine; 0: that of the process */
	const char *origin;	     /* path of the file that tells of it, borrowed */
	struct jitdump_record lines; /* its DEBUG_INFO; line_count 0: none */
	uint64_t line_shift;	     /* what the writer added to line addresses */
	struct bytes unwind;	     /* its .eh_frame; empty: none */
	struct patch **patches;	     /* made to it, by time; owned by the set */
	size_t patch_count;
	struct code_set *set;
	void *function; /* for the profile's use */
	bool sampled;
};

/* Everything of one process. Names, bytes and lines point into the files it holds. */
struct code_set {
	uint32_t pid;
	struct spans spans; /* struct code_place */
	struct code **list;
	size_t count, room;
	struct code_place **places;
	size_t place_count;
	char **names; /* owned */
	size_t name_count;
	struct jitdump *dump;	 /* owned; NULL: none */
	struct perfmap *map;	 /* owned; NULL: none */
	struct elffile *final;	 /* owned; NULL: none */
	struct patches *patches; /* owned; NULL: none */
	struct symbols final_symbols;
	char *dump_path, *map_path, *final_path, *patches_path; /* owned */
	size_t dump_count, map_count, overlaps;
	uint64_t first_stamp, last_stamp; /* of the dump's LOADs */
	bool at_exit; /* samples have no time: what stood at an address last counts, and
		       * that it was given up at the exit does not */
};

struct code_set *code_set_new(uint32_t pid);
void code_set_free(struct code_set *set);

/* Each takes the path. 0, or -1 with the fault worded; a cut jitdump gives what it holds
 * and leaves the fault in set->dump. */
int code_set_add_dump(struct code_set *set, char *path, struct fault *fault);
int code_set_add_map(struct code_set *set, char *path, struct fault *fault);
int code_set_add_final(struct code_set *set, char *path, struct fault *fault);
int code_set_add_patches(struct code_set *set, char *path, struct fault *fault);

/* Stamps of the dump become (stamp - zero) * mult >> shift … as the kernel's TIME_CONV
 * has it, or are ignored altogether. To be called between adding and indexing. */
void code_set_convert_stamps(
	struct code_set *set, uint64_t zero, uint64_t mult, uint64_t shift);
void code_set_ignore_stamps(struct code_set *set);

/* After the last addition: makes spans and final bytes findable. */
void code_set_index(struct code_set *set);

/* What stood at `address` at `time`, or NULL; where nothing did, what came there within
 * 10 ms after it (a runtime may report code late), with *late set. */
struct code_place *code_set_find(const struct code_set *set, uint64_t address,
	uint64_t time, struct spans_validity *validity, bool *late);

/* For code_set_index(): ends the places that the log says were given up, before spans are
 * made; hands each patch to the object at its address, after. */
void code_apply_unloads(struct code_set *set);
void code_spread_patches(struct code_set *set);

/* Patches made to `code` until `time`; narrows `validity`, where given, to the time for
 * which that number holds. */
uint32_t code_epoch(
	const struct code *code, uint64_t time, struct spans_validity *validity);

/* Writes the code's bytes as they were after its first `epoch` patches into `bytes` (of
 * code->size). False where neither the bytes loaded nor those at exit are known. */
bool code_bytes_at(const struct code *code, uint32_t epoch, uint8_t *bytes);

#endif
