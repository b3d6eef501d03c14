/* What the kernel's loader takes from an ELF file's headers. Pure: bytes in. */
#ifndef LAUNCHER_PLACE_ELF_H
#define LAUNCHER_PLACE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place_elf {
	bool fixed;	  /* ET_EXEC: linked for its addresses */
	bool interpreter; /* asks for ld.so */
	uint64_t entry;
	uint64_t low, high;	  /* its pages, as linked */
	uint64_t end;		  /* of its data, as linked: where the heap begins */
	uint64_t alignment;	  /* the largest of its segments, a page at least */
	uint64_t path, path_size; /* its interpreter's name, in the file */
};

/* The kernel takes no more (fs/binfmt_elf.c: load_elf_phdrs). */
enum { PLACE_PHDRS = 65536 / sizeof(Elf64_Phdr) };

/* Return false where it is no x86-64 ELF file that can be executed. The header says how
 * many program headers there are (e_phnum, at e_phoff). */
bool place_elf_header(const Elf64_Ehdr *header);
bool place_elf_parse(struct place_elf *elf, const Elf64_Ehdr *header,
	const Elf64_Phdr *phdrs, size_t count);

#endif
