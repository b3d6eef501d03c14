/* A bounded reader of ELF64 little-endian files: dynamic entries, sections, notes. */
#include "launcher/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base.h"

/* Every access goes through here: `count` things of `size` bytes at `offset`, or NULL.
 * The pointer may be unaligned: copy out of it. */
static const unsigned char *at(
	const struct elf_file *file, uint64_t offset, uint64_t count, uint64_t size)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || offset > file->size ||
		bytes > file->size - offset)
		return NULL;
	return file->bytes + offset;
}

/* A NUL-terminated string that ends inside [offset, limit), or NULL. */
static const char *string_at(const struct elf_file *file, uint64_t offset, uint64_t limit)
{
	if (limit > file->size)
		limit = file->size;
	if (offset >= limit || !memchr(file->bytes + offset, '\0', limit - offset))
		return NULL;
	return (const char *)file->bytes + offset;
}

/* Tables have 100,000 names: the shell's matching only for what needs it. */
static bool matches(const char *pattern, const char *name)
{
	if (!pattern[strcspn(pattern, "*?[\\")])
		return strcmp(pattern, name) == 0;
	return fnmatch(pattern, name, 0) == 0;
}

static Elf64_Ehdr header_of(const struct elf_file *file)
{
	Elf64_Ehdr header;

	memcpy(&header, file->bytes, sizeof(header));
	return header;
}

static bool is_elf(const struct elf_file *file)
{
	if (file->size < sizeof(Elf64_Ehdr))
		return false;
	Elf64_Ehdr header = header_of(file);
	return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB;
}

/* A FIFO or a terminal of that name must not block or be touched. */
static int open_quietly(int directory, const char *path)
{
	return openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static int map(struct elf_file *file, int fd)
{
	struct stat status;

	*file = (struct elf_file){0};
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
		return -1;
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -1;
	file->bytes = bytes;
	file->size = (size_t)status.st_size;
	if (is_elf(file))
		return 0;
	elf_file_close(file);
	return -1;
}

int elf_file_open(struct elf_file *file, const char *path)
{
	return elf_file_open_at(file, AT_FDCWD, path);
}

int elf_file_open_at(struct elf_file *file, int directory, const char *path)
{
	cleanup_fd int fd = open_quietly(directory, path);

	*file = (struct elf_file){0};
	return fd < 0 ? -1 : map(file, fd);
}

void elf_file_close(struct elf_file *file)
{
	if (file->bytes)
		munmap((void *)file->bytes, file->size);
	*file = (struct elf_file){0};
}

static bool segment_get(const struct elf_file *file, unsigned index, Elf64_Phdr *segment)
{
	Elf64_Ehdr header = header_of(file);
	const unsigned char *table =
		at(file, header.e_phoff, header.e_phnum, sizeof(*segment));

	if (!table || index >= header.e_phnum || header.e_phentsize != sizeof(*segment))
		return false;
	memcpy(segment, table + index * sizeof(*segment), sizeof(*segment));
	return true;
}

static bool section_get(const struct elf_file *file, unsigned index, Elf64_Shdr *section)
{
	Elf64_Ehdr header = header_of(file);
	const unsigned char *table =
		at(file, header.e_shoff, header.e_shnum, sizeof(*section));

	if (!table || index >= header.e_shnum || header.e_shentsize != sizeof(*section))
		return false;
	memcpy(section, table + index * sizeof(*section), sizeof(*section));
	return true;
}

/* The place in the file of a virtual address, or UINT64_MAX. */
static uint64_t offset_of(const struct elf_file *file, uint64_t address)
{
	Elf64_Phdr segment;

	for (unsigned i = 0; segment_get(file, i, &segment); i++) {
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
			address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	}
	return UINT64_MAX;
}

struct dynamic {
	uint64_t offset; /* of the entries in the file */
	uint64_t count;
	uint64_t strings; /* of the string table in the file */
	uint64_t strings_end;
};

static bool dynamic_get(const struct elf_file *file, uint64_t index, Elf64_Dyn *entry)
{
	const unsigned char *bytes = at(file, index, 1, sizeof(*entry));

	if (!bytes)
		return false;
	memcpy(entry, bytes, sizeof(*entry));
	return entry->d_tag != DT_NULL;
}

static bool dynamic_find(const struct elf_file *file, struct dynamic *dynamic)
{
	Elf64_Phdr segment;
	Elf64_Dyn entry;
	uint64_t strings = UINT64_MAX, size = 0;
	unsigned i = 0;

	while (segment_get(file, i, &segment) && segment.p_type != PT_DYNAMIC)
		i++;
	if (!segment_get(file, i, &segment))
		return false;
	*dynamic = (struct dynamic){
		.offset = segment.p_offset, .count = segment.p_filesz / sizeof(entry)};
	for (uint64_t j = 0; j < dynamic->count; j++) {
		if (!dynamic_get(file, dynamic->offset + j * sizeof(entry), &entry))
			break;
		if (entry.d_tag == DT_STRTAB)
			strings = offset_of(file, entry.d_un.d_ptr);
		if (entry.d_tag == DT_STRSZ)
			size = entry.d_un.d_val;
	}
	dynamic->strings = strings;
	return strings != UINT64_MAX &&
	       !__builtin_add_overflow(strings, size, &dynamic->strings_end);
}

bool elf_file_needs(const struct elf_file *file, const char *pattern)
{
	struct dynamic dynamic;
	Elf64_Dyn entry;

	if (!dynamic_find(file, &dynamic))
		return false;
	for (uint64_t i = 0; i < dynamic.count; i++) {
		if (!dynamic_get(file, dynamic.offset + i * sizeof(entry), &entry))
			break;
		if (entry.d_tag != DT_NEEDED || entry.d_un.d_val > file->size)
			continue;
		const char *name = string_at(
			file, dynamic.strings + entry.d_un.d_val, dynamic.strings_end);
		if (name && matches(pattern, name))
			return true;
	}
	return false;
}

bool elf_file_has_section(const struct elf_file *file, const char *pattern)
{
	Elf64_Shdr names, section;

	if (!section_get(file, header_of(file).e_shstrndx, &names) ||
		names.sh_size > file->size || names.sh_offset > file->size)
		return false;
	for (unsigned i = 1; section_get(file, i, &section); i++) {
		const char *name = string_at(file, names.sh_offset + section.sh_name,
			names.sh_offset + names.sh_size);
		if (name && matches(pattern, name))
			return true;
	}
	return false;
}

static bool table_exports(
	const struct elf_file *file, const Elf64_Shdr *table, const char *pattern)
{
	Elf64_Shdr strings;
	Elf64_Sym symbol;
	uint64_t count = table->sh_size / sizeof(symbol);
	const unsigned char *bytes = at(file, table->sh_offset, count, sizeof(symbol));

	if (!bytes || !section_get(file, table->sh_link, &strings) ||
		strings.sh_size > file->size || strings.sh_offset > file->size)
		return false;
	for (uint64_t i = 1; i < count; i++) {
		memcpy(&symbol, bytes + i * sizeof(symbol), sizeof(symbol));
		if (symbol.st_shndx == SHN_UNDEF)
			continue;
		const char *name = string_at(file, strings.sh_offset + symbol.st_name,
			strings.sh_offset + strings.sh_size);
		if (name && matches(pattern, name))
			return true;
	}
	return false;
}

bool elf_file_exports(const struct elf_file *file, const char *pattern)
{
	Elf64_Shdr section;

	for (unsigned i = 1; section_get(file, i, &section); i++) {
		if (section.sh_type == SHT_DYNSYM &&
			table_exports(file, &section, pattern))
			return true;
	}
	return false;
}

/* ---- functions and their bytes ---- */

static void table_functions(const struct elf_file *file, const Elf64_Shdr *table,
	void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
	void *context)
{
	Elf64_Shdr strings;
	Elf64_Sym symbol;
	uint64_t count = table->sh_size / sizeof(symbol);
	const unsigned char *bytes = at(file, table->sh_offset, count, sizeof(symbol));

	if (!bytes || !section_get(file, table->sh_link, &strings) ||
		strings.sh_size > file->size || strings.sh_offset > file->size)
		return;
	for (uint64_t i = 1; i < count; i++) {
		memcpy(&symbol, bytes + i * sizeof(symbol), sizeof(symbol));
		const char *name = string_at(file, strings.sh_offset + symbol.st_name,
			strings.sh_offset + strings.sh_size);
		if (name && symbol.st_size && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
			each(context, name, symbol.st_value, symbol.st_size);
	}
}

void elf_file_each_function(const struct elf_file *file,
	void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
	void *context)
{
	Elf64_Shdr section;

	for (unsigned i = 1; section_get(file, i, &section); i++) {
		if (section.sh_type == SHT_SYMTAB)
			table_functions(file, &section, each, context);
	}
}

static bool is_code(const Elf64_Shdr *section)
{
	return section->sh_type == SHT_PROGBITS && (section->sh_flags & SHF_EXECINSTR);
}

void elf_file_each_code(const struct elf_file *file,
	void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
	void *context)
{
	Elf64_Shdr names, section;

	if (!section_get(file, header_of(file).e_shstrndx, &names) ||
		names.sh_size > file->size || names.sh_offset > file->size)
		return;
	for (unsigned i = 1; section_get(file, i, &section); i++) {
		const char *name = string_at(file, names.sh_offset + section.sh_name,
			names.sh_offset + names.sh_size);
		if (name && is_code(&section))
			each(context, name, section.sh_addr, section.sh_size);
	}
}

uint64_t elf_file_code_bytes(const struct elf_file *file)
{
	Elf64_Shdr section;
	uint64_t bytes = 0;

	for (unsigned i = 1; section_get(file, i, &section); i++) {
		if (is_code(&section) && at(file, section.sh_offset, 1, section.sh_size))
			bytes += section.sh_size;
	}
	return bytes;
}

const unsigned char *elf_file_at(
	const struct elf_file *file, uint64_t address, uint64_t size)
{
	Elf64_Shdr section;

	for (unsigned i = 1; section_get(file, i, &section); i++) {
		uint64_t inside = address - section.sh_addr;
		if (is_code(&section) && address >= section.sh_addr &&
			inside <= section.sh_size && size <= section.sh_size - inside)
			return at(file, section.sh_offset + inside, 1, size);
	}
	return NULL;
}

/* ---- notes ---- */

struct note {
	uint32_t type;
	const unsigned char *owner;
	uint32_t owner_size; /* with its NUL */
	const unsigned char *body;
	uint32_t body_size;
};

/* Takes the note at *offset and moves on to the next one; false at the end. Names and
 * bodies are padded to 4 bytes, or to 8 where the segment says so (gABI; the 8 is what
 * .note.gnu.property uses). */
static bool note_next(const struct elf_file *file, uint64_t *offset, uint64_t end,
	uint64_t align, struct note *note)
{
	Elf64_Nhdr header;
	const unsigned char *bytes = at(file, *offset, 1, sizeof(header));

	if (*offset >= end || !bytes)
		return false;
	memcpy(&header, bytes, sizeof(header));
	uint64_t name = *offset + sizeof(header);
	uint64_t body = (name + header.n_namesz + align - 1) & ~(align - 1);
	note->type = header.n_type;
	note->owner_size = header.n_namesz;
	note->body_size = header.n_descsz;
	note->owner = at(file, name, 1, header.n_namesz);
	note->body = at(file, body, 1, header.n_descsz);
	*offset = (body + header.n_descsz + align - 1) & ~(align - 1);
	return note->owner && note->body;
}

static bool note_is(const struct note *note, const char *owner)
{
	return note->owner_size == strlen(owner) + 1 &&
	       memcmp(note->owner, owner, note->owner_size) == 0;
}

static bool notes_search(const struct elf_file *file, uint64_t offset, uint64_t size,
	uint64_t align, const char *owner, int type, struct note *note)
{
	uint64_t end;

	if (__builtin_add_overflow(offset, size, &end) || end > file->size)
		return false;
	while (note_next(file, &offset, end, align == 8 ? 8 : 4, note)) {
		if (note_is(note, owner) && (type < 0 || note->type == (uint32_t)type))
			return true;
	}
	return false;
}

/* type -1: any. Objects that are not loaded (a .o) have their notes in sections only. */
static bool note_find(
	const struct elf_file *file, const char *owner, int type, struct note *note)
{
	Elf64_Phdr segment;
	Elf64_Shdr section;

	for (unsigned i = 0; segment_get(file, i, &segment); i++) {
		if (segment.p_type == PT_NOTE &&
			notes_search(file, segment.p_offset, segment.p_filesz,
				segment.p_align, owner, type, note))
			return true;
	}
	for (unsigned i = 1; section_get(file, i, &section); i++) {
		if (section.sh_type == SHT_NOTE &&
			notes_search(file, section.sh_offset, section.sh_size,
				section.sh_addralign, owner, type, note))
			return true;
	}
	return false;
}

bool elf_file_has_note(const struct elf_file *file, const char *owner)
{
	struct note note;

	return note_find(file, owner, -1, &note);
}

static int format_build_id(const struct elf_file *file, char hex[ELF_BUILD_ID_TEXT])
{
	struct note note;

	if (!note_find(file, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &note) ||
		note.body_size == 0 || note.body_size > ELF_BUILD_ID_LIMIT)
		return -1;
	for (uint32_t i = 0; i < note.body_size; i++)
		sprintf(hex + 2 * i, "%02x", note.body[i]);
	return 0;
}

int elf_file_build_id(const char *path, char hex[ELF_BUILD_ID_TEXT])
{
	enum { HEAD = 4096 };
	_Alignas(16) unsigned char head[HEAD];
	struct elf_file file = {.bytes = head};

	/* Linkers put the note right behind the headers: reading a page costs a tenth of
	 * mapping the whole. */
	cleanup_fd int fd = open_quietly(AT_FDCWD, path);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	ssize_t size = pread(fd, head, sizeof(head), 0);
	file.size = size > 0 ? (size_t)size : 0;
	if (!is_elf(&file))
		return -1;
	if (format_build_id(&file, hex) == 0)
		return 0;
	if (map(&file, fd) < 0)
		return -1;
	int result = format_build_id(&file, hex);
	elf_file_close(&file);
	return result;
}
