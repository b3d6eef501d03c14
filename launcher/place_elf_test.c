/* place_elf: this program's own headers against what the linker's symbols and the kernel
 * say, and broken ones. */
#include "launcher/place_elf.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "launcher/check.h"

const char program_name[] = "place_elf_test";

/* From the linker's script: the program's first byte and its last. */
extern const char __ehdr_start[], _end[];

static void read_own(Elf64_Ehdr *header, Elf64_Phdr *phdrs, size_t room)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	CHECK(pread(fd, header, sizeof(*header), 0) == sizeof(*header));
	CHECK(header->e_phnum <= room);
	size_t size = header->e_phnum * sizeof(*phdrs);
	CHECK(pread(fd, phdrs, size, (off_t)header->e_phoff) == (ssize_t)size);
	close(fd);
}

int main(void)
{
	Elf64_Ehdr header, bad;
	Elf64_Phdr phdrs[64], broken[64];
	struct place_elf elf;

	read_own(&header, phdrs, 64);
	CHECK(place_elf_header(&header));
	CHECK(place_elf_parse(&elf, &header, phdrs, header.e_phnum));
	uint64_t bias = getauxval(AT_ENTRY) - elf.entry;
	CHECK(elf.low + bias == (uint64_t)(uintptr_t)__ehdr_start);
	CHECK(elf.end + bias == (uint64_t)(uintptr_t)_end);
	CHECK(elf.high - elf.end < 4096 && elf.high % 4096 == 0);
	CHECK(elf.interpreter == (getauxval(AT_BASE) != 0));
	CHECK(elf.fixed == (header.e_type == ET_EXEC) && elf.alignment >= 4096);

	memset(&bad, 0, sizeof(bad));
	CHECK(!place_elf_header(&bad));
	bad = header, bad.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(!place_elf_header(&bad));
	bad = header, bad.e_machine = EM_AARCH64;
	CHECK(!place_elf_header(&bad));
	bad = header, bad.e_type = ET_REL;
	CHECK(!place_elf_header(&bad));
	bad = header, bad.e_phnum = 0;
	CHECK(!place_elf_header(&bad));
	bad = header, bad.e_phnum = 0xffff;
	CHECK(!place_elf_header(&bad));
	bad = header, bad.e_phentsize = 32;
	CHECK(!place_elf_header(&bad));

	CHECK(!place_elf_parse(&elf, &header, phdrs, 0));
	for (int i = 0; i < 2; i++) {
		memcpy(broken, phdrs, sizeof(broken));
		for (size_t j = 0; j < header.e_phnum; j++)
			if (broken[j].p_type == PT_LOAD)
				broken[j].p_memsz = ~0ULL - (i ? broken[j].p_vaddr : 0);
		broken[0].p_type = PT_LOAD;
		broken[0].p_vaddr = 8;
		broken[0].p_memsz = ~0ULL - (i ? 8 : 0);
		CHECK(!place_elf_parse(&elf, &header, broken, header.e_phnum));
	}
	/* An alignment that is no power of two counts as none. */
	memcpy(broken, phdrs, sizeof(broken));
	for (size_t j = 0; j < header.e_phnum; j++)
		broken[j].p_align = 3 << 20;
	CHECK(place_elf_parse(&elf, &header, broken, header.e_phnum));
	CHECK(elf.alignment == 4096);
	return 0;
}
