/* An ELF file in this process, as the kernel's loader maps it. */
#include "launcher/place_load_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/remote.h"

enum { PAGE = 4096 };

const char *load_file_read(struct load_file *file, const char *path)
{
	struct stat status;

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &status))
		return "it cannot be read";
	if (!S_ISREG(status.st_mode))
		return "it is no regular file";
	if (status.st_mode & (S_ISUID | S_ISGID))
		return "it is set-user-ID or set-group-ID, which only execve can honour";
	if (pread(file->fd, &file->header, sizeof(file->header), 0) !=
			sizeof(file->header) ||
		!place_elf_header(&file->header))
		return "it is no 64-bit x86 program";
	size_t size = file->header.e_phnum * sizeof(Elf64_Phdr);
	file->phdrs = xmalloc(size);
	if (pread(file->fd, file->phdrs, size, (off_t)file->header.e_phoff) !=
			(ssize_t)size ||
		!place_elf_parse(
			&file->elf, &file->header, file->phdrs, file->header.e_phnum))
		return "its program headers cannot be read";
	for (size_t i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *phdr = &file->phdrs[i];
		uint64_t end;

		if (phdr->p_type == PT_GNU_STACK)
			file->executable_stack = phdr->p_flags & PF_X;
		if (phdr->p_type != PT_LOAD)
			continue;
		if (phdr->p_filesz > phdr->p_memsz)
			return "a segment of it is longer in the file than in memory";
		/* Touching what is not there would end this process. */
		if (__builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &end) ||
			end > (uint64_t)status.st_size)
			return "its file is cut off";
	}
	return NULL;
}

static int protection(const Elf64_Phdr *phdr)
{
	return (phdr->p_flags & PF_R ? PROT_READ : 0) |
	       (phdr->p_flags & PF_W ? PROT_WRITE : 0) |
	       (phdr->p_flags & PF_X ? PROT_EXEC : 0);
}

/* Maps one segment; what is beyond the file's bytes is zero. */
static bool map_segment(const struct load_file *file, const Elf64_Phdr *phdr)
{
	uint64_t start = load_floor(phdr->p_vaddr + file->bias);
	uint64_t data_end = phdr->p_vaddr + phdr->p_filesz + file->bias;
	uint64_t end = load_ceiling(phdr->p_vaddr + phdr->p_memsz + file->bias);
	uint64_t mapped_end = phdr->p_filesz ? load_ceiling(data_end) : start;
	int prot = protection(phdr);

	if (phdr->p_filesz &&
		mmap((void *)start, mapped_end - start, prot, MAP_PRIVATE | MAP_FIXED,
			file->fd, (off_t)load_floor(phdr->p_offset)) == MAP_FAILED)
		return false;
	if (phdr->p_memsz > phdr->p_filesz && data_end < mapped_end) {
		/* As the kernel: only where it can be written. */
		if (prot & PROT_WRITE)
			memset((void *)data_end, 0, mapped_end - data_end);
	}
	return end <= mapped_end ||
	       mmap((void *)mapped_end, end - mapped_end, prot,
		       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

const char *load_file_map(struct load_file *file)
{
	uint64_t alignment = file->elf.alignment;
	uint64_t size = file->elf.high - file->elf.low + alignment + 2UL * PAGE;
	void *room = mmap(NULL, size, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return "there is no memory for it";
	uint64_t start = ((uint64_t)room + PAGE + alignment - 1) & ~(alignment - 1);
	file->bias = start - file->elf.low;
	for (size_t i = 0; i < file->header.e_phnum; i++)
		if (file->phdrs[i].p_type == PT_LOAD && file->phdrs[i].p_memsz &&
			!map_segment(file, &file->phdrs[i]))
			return errno == EPERM || errno == EACCES
				       ? "its file may not be mapped executable"
				       : "it cannot be mapped";
	return NULL;
}

bool load_file_has(const struct load_file *file, const struct place_map *map)
{
	for (size_t i = 0; file->fd >= 0 && i < file->header.e_phnum; i++) {
		const Elf64_Phdr *phdr = &file->phdrs[i];
		uint64_t start = phdr->p_vaddr + file->bias;

		if (phdr->p_type == PT_LOAD && map->start >= load_floor(start) &&
			map->start < load_ceiling(start + phdr->p_memsz))
			return true;
	}
	return false;
}

/* As the kernel finds them: by PT_PHDR, or in the segment that has them. */
uint64_t load_file_phdrs(const struct load_file *file)
{
	uint64_t offset = file->header.e_phoff;

	for (size_t i = 0; i < file->header.e_phnum; i++)
		if (file->phdrs[i].p_type == PT_PHDR)
			return file->phdrs[i].p_vaddr + file->bias;
	for (size_t i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *phdr = &file->phdrs[i];

		if (phdr->p_type == PT_LOAD && offset >= phdr->p_offset &&
			offset - phdr->p_offset < phdr->p_filesz)
			return phdr->p_vaddr + (offset - phdr->p_offset) + file->bias;
	}
	return 0;
}

uint64_t load_file_gadget(const struct load_file *file)
{
	for (size_t i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *phdr = &file->phdrs[i];
		const unsigned char *code =
			(const unsigned char *)(phdr->p_vaddr + file->bias);

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X) ||
			!(phdr->p_flags & PF_R))
			continue;
		size_t at = remote_find_gadget(code, phdr->p_filesz);
		if (at < phdr->p_filesz)
			return (uint64_t)code + at;
	}
	return 0;
}

void load_file_marks(const struct load_file *file, struct place_marks *marks)
{
	marks->start_code = UINT64_MAX;
	for (size_t i = 0; i < file->header.e_phnum; i++) {
		const Elf64_Phdr *phdr = &file->phdrs[i];
		uint64_t start = phdr->p_vaddr + file->bias;
		uint64_t end = start + phdr->p_filesz;

		if (phdr->p_type != PT_LOAD)
			continue;
		if (phdr->p_flags & PF_X) {
			if (start < marks->start_code)
				marks->start_code = start;
			if (end > marks->end_code)
				marks->end_code = end;
		}
		if (start > marks->start_data)
			marks->start_data = start;
		if (end > marks->end_data)
			marks->end_data = end;
	}
	if (marks->start_code == UINT64_MAX)
		marks->start_code = marks->end_code = marks->start_data;
}
