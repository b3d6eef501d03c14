/* What annotate asks of ELF files: symbols, bytes, build-id, code sections. */
#ifndef ANNOTATE_ELFFILE_H
#define ANNOTATE_ELFFILE_H

#include "annotate/fault.h"
#include "annotate/symbols.h"

struct elffile;

enum {
	ELFFILE_BUILD_ID_ROOM = 20,
};

/* Opens a file, or an image in memory that outlives the result. Owned, or NULL with the
 * fault worded. Close with elffile_close(), after the last use of any name or byte. */
struct elffile *elffile_open(const char *path, struct fault *fault);
struct elffile *elffile_open_memory(const void *image, size_t size, struct fault *fault);
void elffile_close(struct elffile *file);

/* Copies at most ELFFILE_BUILD_ID_ROOM bytes; returns the length, 0 where there is none.
 */
unsigned elffile_build_id(struct elffile *file, uint8_t *id);

/* The name and checksum in .gnu_debuglink, borrowed, or NULL. */
const char *elffile_debug_link(struct elffile *file);

unsigned elffile_machine(struct elffile *file); /* e_machine */

/* Adds the symbols of .symtab, .dynsym and .gnu_debugdata, and names for PLT entries.
 * Returns whether the full table, .symtab, was there. */
bool elffile_symbols(struct elffile *file, struct symbols *symbols);

/* Whether any of those may have `word` in its name; true where that cannot be ruled out. */
bool elffile_may_name(struct elffile *file, const char *word);

/* Where functions begin by the unwind table, for files without symbols. Owned array of
 * *count addresses, ascending. */
uint64_t *elffile_frames(struct elffile *file, size_t *count);

/* The address that the byte at `offset` of the file has by the program headers, or -1. */
int elffile_address(struct elffile *file, uint64_t offset, uint64_t *address);

/* The executable segment number `index` (0…): its address and how many bytes of it the file
 * holds, borrowed. NULL where there are no more. */
const uint8_t *elffile_code(
	struct elffile *file, size_t index, uint64_t *address, uint64_t *size);

/* The addresses that the file's segments take up; both 0 where it has none. */
void elffile_extent(struct elffile *file, uint64_t *low, uint64_t *high);

/* Up to `size` bytes at an address, borrowed; `*available` says how many. Or NULL. */
const uint8_t *elffile_bytes(
	struct elffile *file, uint64_t address, size_t size, size_t *available);

/* The section's bytes by name, borrowed, or NULL. */
const uint8_t *elffile_section(
	struct elffile *file, const char *name, size_t *size, uint64_t *address);

/* What the dynamic linker puts at `address` (a GOT slot): the symbol's name, or NULL. */
const char *elffile_slot(struct elffile *file, uint64_t address);

#endif
