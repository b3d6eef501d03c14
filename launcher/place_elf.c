/* What the kernel's loader takes from an ELF file's headers. */
#include "launcher/place_elf.h"

#include <string.h>

enum { PAGE = 4096 };

bool place_elf_header(const Elf64_Ehdr *header)
{
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_ident[EI_DATA] == ELFDATA2LSB &&
	       header->e_machine == EM_X86_64 &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN) &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum > 0 &&
	       header->e_phnum <= PLACE_PHDRS;
}

static bool add_segment(struct place_elf *elf, const Elf64_Phdr *phdr)
{
	uint64_t end;

	if (__builtin_add_overflow(phdr->p_vaddr, phdr->p_memsz, &end) ||
		end > UINT64_MAX - PAGE)
		return false;
	if (phdr->p_vaddr < elf->low)
		elf->low = phdr->p_vaddr;
	if (end > elf->end)
		elf->end = end;
	/* The kernel ignores alignments that are no power of two. */
	if (phdr->p_align > elf->alignment && !(phdr->p_align & (phdr->p_align - 1)))
		elf->alignment = phdr->p_align;
	return true;
}

bool place_elf_parse(struct place_elf *elf, const Elf64_Ehdr *header,
	const Elf64_Phdr *phdrs, size_t count)
{
	*elf = (struct place_elf){
		.fixed = header->e_type == ET_EXEC,
		.entry = header->e_entry,
		.low = UINT64_MAX,
		.alignment = PAGE,
	};
	for (size_t i = 0; i < count; i++) {
		if (phdrs[i].p_type == PT_INTERP) {
			elf->interpreter = true;
			elf->path = phdrs[i].p_offset;
			elf->path_size = phdrs[i].p_filesz;
		}
		if (phdrs[i].p_type == PT_LOAD && !add_segment(elf, &phdrs[i]))
			return false;
	}
	elf->low &= ~(uint64_t)(PAGE - 1);
	elf->high = (elf->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return elf->low < elf->high;
}
