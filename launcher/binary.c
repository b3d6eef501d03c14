/* Why the kernel would not execute a file: reads what the kernel read, up to the point
 * where it gave up (fs/binfmt_elf.c). */
#include "launcher/binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launcher/base.h"

struct image {
	int fd;
	size_t size;
};

/* Reads exactly `length` bytes at `offset`; false where the file has fewer. */
static bool image_read(
	const struct image *image, uint64_t offset, void *out, size_t length)
{
	char *bytes = out;

	if (offset > image->size || length > image->size - offset)
		return false;
	while (length) {
		ssize_t got = pread(image->fd, bytes, length, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		offset += (uint64_t)got;
		length -= (size_t)got;
	}
	return true;
}

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{EM_386, "32-bit x86"},
		{EM_ARM, "32-bit ARM"},
		{EM_AARCH64, "ARM (aarch64)"},
		{EM_RISCV, "RISC-V"},
		{EM_PPC64, "POWER"},
		{EM_S390, "s390"},
		{EM_MIPS, "MIPS"},
		{EM_SPARCV9, "SPARC"},
		{EM_LOONGARCH, "LoongArch"},
		{EM_BPF, "BPF"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return NULL;
}

static char *explain_type(unsigned type)
{
	switch (type) {
	case ET_REL: return xstrdup("it is an object file that was never linked");
	case ET_CORE: return xstrdup("it is a core file");
	default: return xasprintf("its ELF type is %u, not an executable", type);
	}
}

static bool read_segment(const struct image *image, const Elf64_Ehdr *header,
	unsigned index, Elf64_Phdr *segment)
{
	uint64_t offset;

	return !__builtin_add_overflow(
		       header->e_phoff, (uint64_t)index * sizeof(*segment), &offset) &&
	       image_read(image, offset, segment, sizeof(*segment));
}

/* A path that a file names in its PT_INTERP. Returns owned, or NULL where there is none.
 */
static char *elf_interpreter(const struct image *image, const Elf64_Ehdr *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_segment(image, header, i, &segment))
			return NULL;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz < 2 || segment.p_filesz > PATH_MAX)
			return NULL;
		char *path = xcalloc(1, (size_t)segment.p_filesz + 1);
		if (image_read(image, segment.p_offset, path, (size_t)segment.p_filesz))
			return path;
		base_free_pointer(&path);
		return NULL;
	}
	return NULL;
}

static char *explain_elf(const struct image *image)
{
	Elf64_Ehdr header;

	if (!image_read(image, 0, &header, sizeof(header)))
		return xasprintf("it is a truncated ELF file (%zu bytes)", image->size);
	if (header.e_ident[EI_DATA] != ELFDATA2LSB)
		return xstrdup("it is an ELF file for a big-endian machine");
	if (header.e_machine != EM_X86_64) {
		const char *name = machine_name(header.e_machine);

		return name ? xasprintf("it is for another architecture: %s", name)
			    : xasprintf("it is for another architecture (ELF machine %u)",
				      header.e_machine);
	}
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return xstrdup("it is an x32 program and the kernel does not run those");
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return explain_type(header.e_type);
	if (header.e_phentsize != sizeof(Elf64_Phdr) || !header.e_phnum)
		return xstrdup("it is an ELF file without program headers");
	Elf64_Phdr last;
	if (!read_segment(image, &header, header.e_phnum - 1U, &last))
		return xasprintf(
			"it is a truncated ELF file: program headers at %#llx, file ends at %#zx",
			(unsigned long long)header.e_phoff, image->size);
	return NULL;
}

static bool is_elf(const struct image *image, unsigned char *magic)
{
	return image_read(image, 0, magic, SELFMAG) && !memcmp(magic, ELFMAG, SELFMAG);
}

static char *explain_format(const struct image *image)
{
	unsigned char magic[SELFMAG] = {0};

	if (!image->size)
		return xstrdup("it is empty");
	if (is_elf(image, magic)) {
		char *cause = explain_elf(image);
		return cause ? cause : xstrdup("the kernel rejects its ELF headers");
	}
	if (magic[0] == '#' && magic[1] == '!')
		return xstrdup("its '#!' line names no interpreter");
	char head[64];
	size_t length = image->size < sizeof(head) ? image->size : sizeof(head);
	if (!image_read(image, 0, head, length))
		return xstrdup("it cannot be read");
	/* Text that a shell would have tried to run. */
	if (!memchr(head, '\0', length))
		return xstrdup(
			"it is text without a '#!' line; name the program that reads "
			"it, as in 'sh FILE'");
	return xstrdup("it is neither an ELF file nor a script");
}

static char *explain_missing(const struct image *image)
{
	unsigned char magic[SELFMAG];
	Elf64_Ehdr header;

	if (!is_elf(image, magic) || !image_read(image, 0, &header, sizeof(header)) ||
		header.e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	cleanup_free char *path = elf_interpreter(image, &header);
	if (!path || !access(path, F_OK))
		return NULL;
	return xasprintf("its ELF interpreter '%s' does not exist", path);
}

static char *explain_access(const char *path, const struct image *image)
{
	struct statvfs file_system;
	unsigned char magic[SELFMAG];
	Elf64_Ehdr header;

	if (!statvfs(path, &file_system) && file_system.f_flag & ST_NOEXEC)
		return xstrdup("its file system is mounted noexec");
	if (image->fd < 0 || !is_elf(image, magic) ||
		!image_read(image, 0, &header, sizeof(header)) ||
		header.e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	cleanup_free char *interpreter = elf_interpreter(image, &header);
	if (!interpreter || !access(interpreter, X_OK))
		return NULL;
	return xasprintf("its ELF interpreter '%s' is not executable", interpreter);
}

static char *explain_file(const char *path, int error, const struct image *image)
{
	switch (error) {
	case EACCES: return explain_access(path, image);
	case ENOENT: return image->fd < 0 ? NULL : explain_missing(image);
	case ENOEXEC: return image->fd < 0 ? NULL : explain_format(image);
	case EINVAL:
	case EIO:
	case ELIBBAD: return image->fd < 0 ? NULL : explain_elf(image);
	case E2BIG:
		return xstrdup("its arguments and environment are too large together");
	case ETXTBSY: return xstrdup("it is open for writing");
	case EAGAIN: return xstrdup("the limit on processes (ulimit -u) is reached");
	default: return NULL;
	}
}

char *binary_explain(const char *path, int error)
{
	/* O_NONBLOCK: the file may have become a FIFO since it was looked up. */
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct image image = {.fd = fd};
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode)))
		image.fd = -1;
	else if (fd >= 0)
		image.size = (size_t)status.st_size;
	char *cause = explain_file(path, error, &image);
	return cause ? cause : xstrdup(strerror(error));
}
