/* An ELF file in this process, as the kernel's loader maps it (fs/binfmt_elf.c). */
#ifndef LAUNCHER_PLACE_LOAD_FILE_H
#define LAUNCHER_PLACE_LOAD_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "launcher/place_elf.h"
#include "launcher/place_maps.h"

/* The page that an address is in, and the first one that begins there or behind. */
static inline uint64_t load_floor(uint64_t address)
{
	return address & ~(uint64_t)4095;
}

static inline uint64_t load_ceiling(uint64_t address)
{
	return load_floor(address + 4095);
}

struct load_file {
	int fd; /* owned, or -1 */
	Elf64_Ehdr header;
	Elf64_Phdr *phdrs; /* owned */
	struct place_elf elf;
	uint64_t bias; /* from linked addresses to where it is mapped for now */
	bool executable_stack;
};

/* Opens and reads it. Returns NULL, or why it cannot be loaded (static). */
const char *load_file_read(struct load_file *file, const char *path);

/* Maps it at an address of the kernel's choice. What is between and around its segments
 * stays taken, so that nothing else gets there and becomes one with them. Returns as
 * above. */
const char *load_file_map(struct load_file *file);

/* Whether a mapping is of one of its segments; of a file that is not open none is. */
bool load_file_has(const struct load_file *file, const struct place_map *map);

/* Of a mapped file: where its program headers are, or 0; where a way out of a page of
 * calls is (remote.h), or 0; where the kernel says that its code and data are. */
uint64_t load_file_phdrs(const struct load_file *file);
uint64_t load_file_gadget(const struct load_file *file);
void load_file_marks(const struct load_file *file, struct place_marks *marks);

#endif
