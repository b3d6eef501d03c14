/* The few facts of an ELF file that the launcher asks for, read from the file's own bytes
 * through one bounded reader: a broken or hostile file gives "not there", never a fault.
 */
#ifndef LAUNCHER_ELF_FILE_H
#define LAUNCHER_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ELF_BUILD_ID_LIMIT = 64, /* bytes; GNU ld writes 20, lld 8, others up to 32 */
	ELF_BUILD_ID_TEXT = 2 * ELF_BUILD_ID_LIMIT + 1,
};

struct elf_file {
	const unsigned char *bytes; /* NULL while closed */
	size_t size;
};

/* Maps the file. Returns 0 where it is a 64-bit little-endian ELF file, else -1. */
int elf_file_open(struct elf_file *file, const char *path);
int elf_file_open_at(struct elf_file *file, int directory, const char *path);
void elf_file_close(struct elf_file *file);

/* Calls back for each DT_NEEDED name. The dynamic segment is read, as the loader does. */
bool elf_file_needs(const struct elf_file *file, const char *pattern);
/* A section of this name (shell pattern); stripped files keep their section table. */
bool elf_file_has_section(const struct elf_file *file, const char *pattern);
/* A defined symbol of .dynsym. */
bool elf_file_exports(const struct elf_file *file, const char *pattern);
/* A note whose owner is `owner`, in any PT_NOTE segment or SHT_NOTE section. */
bool elf_file_has_note(const struct elf_file *file, const char *owner);

/* Calls back for each function of .symtab with a size; the name is borrowed. */
void elf_file_each_function(const struct elf_file *file,
	void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
	void *context);

/* Calls back for each section that holds code. */
void elf_file_each_code(const struct elf_file *file,
	void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
	void *context);

/* The bytes of executable sections, and those at an address; NULL where not all are there. */
uint64_t elf_file_code_bytes(const struct elf_file *file);
const unsigned char *elf_file_at(
	const struct elf_file *file, uint64_t address, uint64_t size);

/* The GNU build-id of the file at `path` in lower-case hex. Returns 0, or -1 where there
 * is none or the file cannot be read. */
int elf_file_build_id(const char *path, char hex[ELF_BUILD_ID_TEXT]);

#endif
