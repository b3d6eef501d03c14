/* ELF files by libelf. Everything that libelf hands out is checked against its section
 * before use: the files may be anybody's. */
#include "annotate/elffile.h"
#include "annotate/xz.h"
#include "launcher/base.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slot { /* a GOT entry */
	uint64_t address;
	const char *name;
};

struct elffile {
	int fd;
	Elf *elf;
	GElf_Ehdr header;
	size_t names; /* index of the section names */
	size_t segment_count;
	GElf_Phdr *segments;
	struct slot *slots;
	size_t slot_count;
	bool slots_read;
	struct elffile *mini; /* .gnu_debugdata */
	uint8_t *mini_image;
};

static struct elffile *begin(int fd, Elf *elf, struct fault *fault)
{
	struct elffile *file = xcalloc(1, sizeof(*file));

	file->fd = fd;
	file->elf = elf;
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &file->header) ||
		elf_getshdrstrndx(elf, &file->names) < 0) {
		fault_set(fault, "it is no ELF file");
		elffile_close(file);
		return NULL;
	}
	size_t count = 0;
	if (elf_getphdrnum(elf, &count) < 0)
		count = 0;
	file->segments = xcalloc(count, sizeof(*file->segments));
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &file->segments[file->segment_count]) &&
			file->segments[file->segment_count].p_type == PT_LOAD)
			file->segment_count++;
	return file;
}

struct elffile *elffile_open(const char *path, struct fault *fault)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		fault_set(fault, "%s", strerror(errno));
		return NULL;
	}
	elf_version(EV_CURRENT);
	return begin(fd, elf_begin(fd, ELF_C_READ_MMAP, NULL), fault);
}

struct elffile *elffile_open_memory(const void *image, size_t size, struct fault *fault)
{
	elf_version(EV_CURRENT);
	return begin(-1, elf_memory((char *)image, size), fault);
}

void elffile_close(struct elffile *file)
{
	if (!file)
		return;
	elffile_close(file->mini);
	elf_end(file->elf);
	base_close_descriptor(&file->fd);
	free(file->segments);
	free(file->slots);
	free(file->mini_image);
	free(file);
}

unsigned elffile_machine(struct elffile *file)
{
	return file->header.e_machine;
}

static Elf_Scn *find_section(struct elffile *file, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, header))
			continue;
		const char *found = elf_strptr(file->elf, file->names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

const uint8_t *elffile_section(
	struct elffile *file, const char *name, size_t *size, uint64_t *address)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(file, name, &header);
	Elf_Data *data = section && header.sh_type != SHT_NOBITS
				 ? elf_rawdata(section, NULL)
				 : NULL;

	if (!data || !data->d_buf)
		return NULL;
	*size = data->d_size;
	if (address)
		*address = header.sh_addr;
	return data->d_buf;
}

static unsigned id_in_notes(Elf_Data *data, uint8_t *id)
{
	size_t at = 0, name_at, content_at;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name_at, &content_at)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			memcmp((char *)data->d_buf + name_at, "GNU", 4) != 0)
			continue;
		unsigned size = note.n_descsz < ELFFILE_BUILD_ID_ROOM
					? note.n_descsz
					: ELFFILE_BUILD_ID_ROOM;
		memcpy(id, (char *)data->d_buf + content_at, size);
		return size;
	}
	return 0;
}

unsigned elffile_build_id(struct elffile *file, uint8_t *id)
{
	Elf_Scn *section = NULL;
	unsigned size = 0;

	while (!size && (section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			size = id_in_notes(elf_getdata(section, NULL), id);
	}
	size_t count = 0;
	if (size || elf_getphdrnum(file->elf, &count) < 0)
		return size;
	/* Without section headers: by the segments. */
	for (size_t i = 0; i < count && !size; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(file->elf, (int)i, &segment) &&
			segment.p_type == PT_NOTE)
			size = id_in_notes(
				elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset,
					segment.p_filesz, ELF_T_NHDR),
				id);
	}
	return size;
}

const char *elffile_debug_link(struct elffile *file)
{
	size_t size = 0;
	const uint8_t *link = elffile_section(file, ".gnu_debuglink", &size, NULL);

	return link && memchr(link, 0, size) ? (const char *)link : NULL;
}

static bool in_code(struct elffile *file, unsigned index)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(file->elf, index);

	return section && gelf_getshdr(section, &header) &&
	       header.sh_flags & SHF_EXECINSTR;
}

/* ARM's and RISC-V's mapping symbols, and the compiler's own labels. */
static bool is_marker(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

/* All but the name: most files have more symbols than samples, and names are far away. */
static bool to_symbol(struct elffile *file, const GElf_Sym *from, struct symbol *symbol)
{
	unsigned type = GELF_ST_TYPE(from->st_info), bind = GELF_ST_BIND(from->st_info);

	if (!from->st_name || from->st_shndx == SHN_UNDEF || from->st_shndx == SHN_ABS)
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT &&
		type != STT_NOTYPE)
		return false;
	*symbol = (struct symbol){
		from->st_value, from->st_size, NULL, SYMBOLS_LOCAL, false, NULL};
	if (symbol->address + symbol->size < symbol->address)
		return false;
	if (bind == STB_GLOBAL)
		symbol->rank = SYMBOLS_GLOBAL;
	else if (bind == STB_WEAK)
		symbol->rank = SYMBOLS_WEAK;
	symbol->data = type == STT_OBJECT;
	if (type != STT_NOTYPE)
		return true;
	symbol->rank = SYMBOLS_LABEL;
	return in_code(file, from->st_shndx);
}

/* A string table whose last string ends needs no check of each: its bytes, else NULL. */
static const char *whole_strings(struct elffile *file, size_t index, size_t *size)
{
	Elf_Scn *section = elf_getscn(file->elf, index);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;

	if (!data || !data->d_buf || !data->d_size ||
		((const char *)data->d_buf)[data->d_size - 1])
		return NULL;
	*size = data->d_size;
	return data->d_buf;
}

static void read_symbols(struct elffile *file, Elf_Data *data, size_t count,
	size_t names_index, struct symbols *symbols)
{
	size_t names_size = 0;
	const char *names = whole_strings(file, names_index, &names_size);

	symbols_reserve(symbols, count);
	for (size_t i = 0; i < count; i++) {
		GElf_Sym from;
		struct symbol symbol;
		if (!gelf_getsym(data, (int)i, &from))
			break;
		if (!to_symbol(file, &from, &symbol))
			continue;
		symbol.name = !names ? elf_strptr(file->elf, names_index, from.st_name)
			      : from.st_name < names_size ? names + from.st_name
							  : NULL;
		if (symbol.name &&
			(symbol.rank >= SYMBOLS_WEAK || !is_marker(symbol.name)))
			symbols_add(symbols, symbol);
	}
}

static bool read_table(struct elffile *file, unsigned kind, struct symbols *symbols)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	bool found = false;

	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != kind ||
			!header.sh_entsize)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		size_t count = data ? data->d_size / header.sh_entsize : 0;
		read_symbols(file, data, count, header.sh_link, symbols);
		found |= count > 1;
	}
	return found;
}

bool elffile_may_name(struct elffile *file, const char *word)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	bool full = false, found = false;

	while (!found && (section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) ||
			(header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		full |= header.sh_type == SHT_SYMTAB;
		Elf_Scn *names = elf_getscn(file->elf, header.sh_link);
		Elf_Data *data = names ? elf_getdata(names, NULL) : NULL;
		found = data && data->d_buf &&
			memmem(data->d_buf, data->d_size, word, strlen(word));
	}
	return found || !full;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static void add_slot(struct elffile *file, const GElf_Rela *relocation, Elf_Scn *table)
{
	GElf_Shdr table_header;
	GElf_Sym symbol;
	Elf_Data *data = table ? elf_getdata(table, NULL) : NULL;

	if (!data || !gelf_getshdr(table, &table_header) ||
		!gelf_getsym(data, (int)GELF_R_SYM(relocation->r_info), &symbol))
		return;
	const char *name = elf_strptr(file->elf, table_header.sh_link, symbol.st_name);
	if (!name || !name[0])
		return;
	if ((file->slot_count & (file->slot_count - 1)) == 0)
		file->slots = xreallocarray(file->slots,
			file->slot_count ? file->slot_count * 2 : 1,
			sizeof(*file->slots));
	file->slots[file->slot_count++] = (struct slot){relocation->r_offset, name};
}

static void read_slots(struct elffile *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	file->slots_read = true;
	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
			!header.sh_entsize)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		size_t count = data ? data->d_size / header.sh_entsize : 0;
		for (size_t i = 0; i < count; i++) {
			GElf_Rela relocation;
			if (gelf_getrela(data, (int)i, &relocation) &&
				GELF_R_SYM(relocation.r_info))
				add_slot(file, &relocation,
					elf_getscn(file->elf, header.sh_link));
		}
	}
	if (file->slot_count)
		qsort(file->slots, file->slot_count, sizeof(*file->slots), compare_slots);
}

const char *elffile_slot(struct elffile *file, uint64_t address)
{
	struct slot key = {.address = address};

	if (!file->slots_read)
		read_slots(file);
	struct slot *found = !file->slot_count
				     ? NULL
				     : bsearch(&key, file->slots, file->slot_count,
					       sizeof(key), compare_slots);
	return found ? found->name : NULL;
}

/* An entry of the PLT jumps through a GOT slot (jmp *x(%rip): ff 25 and 32 bits); the
 * slot's relocation has the name. Entries are 16 bytes, those of .plt.got may be 8. */
static void read_plt(struct elffile *file, const char *name, struct symbols *symbols)
{
	size_t size = 0, entry = 16;
	uint64_t address = 0;
	const uint8_t *bytes = elffile_section(file, name, &size, &address);

	if (!bytes || file->header.e_machine != EM_X86_64)
		return;
	if (strcmp(name, ".plt.got") == 0 && size >= 8 && bytes[0] == 0xff)
		entry = 8;
	for (size_t at = 0; at + entry <= size; at += entry) {
		for (size_t k = at; k + 6 <= at + entry; k++) {
			int32_t distance;
			if (bytes[k] != 0xff || bytes[k + 1] != 0x25)
				continue;
			memcpy(&distance, bytes + k + 2, sizeof(distance));
			const char *slot = elffile_slot(
				file, address + k + 6 + (uint64_t)(int64_t)distance);
			if (!slot)
				break;
			slot = symbols_own(symbols, xasprintf("%s@plt", slot));
			symbols_add(symbols, (struct symbol){address + at, entry, slot,
						     SYMBOLS_LOCAL, false, NULL});
			break;
		}
	}
}

static void read_mini(struct elffile *file, struct symbols *symbols)
{
	size_t size = 0, unpacked = 0;
	const uint8_t *packed = elffile_section(file, ".gnu_debugdata", &size, NULL);
	struct fault fault;

	if (!packed || file->mini)
		return;
	file->mini_image = xz_unpack(packed, size, &unpacked);
	if (!file->mini_image)
		return;
	file->mini = elffile_open_memory(file->mini_image, unpacked, &fault);
	if (file->mini)
		read_table(file->mini, SHT_SYMTAB, symbols);
}

bool elffile_symbols(struct elffile *file, struct symbols *symbols)
{
	bool full = read_table(file, SHT_SYMTAB, symbols);

	read_table(file, SHT_DYNSYM, symbols);
	if (!full)
		read_mini(file, symbols);
	read_plt(file, ".plt", symbols);
	read_plt(file, ".plt.sec", symbols);
	read_plt(file, ".plt.got", symbols);
	return full;
}

/* .eh_frame_hdr (LSB, "Exception Frames") has a sorted table of functions; in the one encoding
 * that linkers make: 32 bits, relative to the section. */
uint64_t *elffile_frames(struct elffile *file, size_t *count)
{
	static const uint8_t usual[] = {1, 0x1b, 0x03, 0x3b};
	size_t size = 0;
	uint64_t base = 0;
	const uint8_t *table = elffile_section(file, ".eh_frame_hdr", &size, &base);
	uint32_t entries = 0;

	*count = 0;
	if (!table || size < 12 || memcmp(table, usual, sizeof(usual)) != 0)
		return NULL;
	memcpy(&entries, table + 8, sizeof(entries));
	if (entries > (size - 12) / 8)
		entries = (uint32_t)((size - 12) / 8);
	uint64_t *list = xreallocarray(NULL, entries, sizeof(*list));
	for (uint32_t i = 0; i < entries; i++) {
		int32_t distance;
		memcpy(&distance, table + 12 + (size_t)i * 8, sizeof(distance));
		list[(*count)++] = base + (uint64_t)(int64_t)distance;
	}
	return list;
}

int elffile_address(struct elffile *file, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const GElf_Phdr *segment = &file->segments[i];
		/* The kernel maps whole pages: the first one may begin before. */
		uint64_t start = segment->p_offset & ~(uint64_t)4095;
		if (offset >= start && offset < segment->p_offset + segment->p_filesz &&
			segment->p_flags & PF_X) {
			*address = offset - segment->p_offset + segment->p_vaddr;
			return 0;
		}
	}
	for (size_t i = 0; i < file->segment_count; i++) {
		const GElf_Phdr *segment = &file->segments[i];
		if (offset >= segment->p_offset &&
			offset - segment->p_offset < segment->p_filesz) {
			*address = offset - segment->p_offset + segment->p_vaddr;
			return 0;
		}
	}
	return -1;
}

const uint8_t *elffile_code(
	struct elffile *file, size_t index, uint64_t *address, uint64_t *size)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const GElf_Phdr *segment = &file->segments[i];
		size_t available = 0;
		if (!(segment->p_flags & PF_X) || !segment->p_filesz || index-- > 0)
			continue;
		*address = segment->p_vaddr;
		const uint8_t *bytes = elffile_bytes(
			file, segment->p_vaddr, segment->p_filesz, &available);
		*size = available;
		return bytes;
	}
	return NULL;
}

void elffile_extent(struct elffile *file, uint64_t *low, uint64_t *high)
{
	*low = *high = 0;
	for (size_t i = 0; i < file->segment_count; i++) {
		const GElf_Phdr *segment = &file->segments[i];
		uint64_t end = segment->p_vaddr + segment->p_memsz;
		if (i == 0 || segment->p_vaddr < *low)
			*low = segment->p_vaddr;
		if (end > *high)
			*high = end;
	}
}

const uint8_t *elffile_bytes(
	struct elffile *file, uint64_t address, size_t size, size_t *available)
{
	size_t raw_size = 0;
	const char *raw = elf_rawfile(file->elf, &raw_size);

	for (size_t i = 0; raw && i < file->segment_count; i++) {
		const GElf_Phdr *segment = &file->segments[i];
		if (address < segment->p_vaddr ||
			address - segment->p_vaddr >= segment->p_filesz)
			continue;
		uint64_t within = address - segment->p_vaddr;
		uint64_t left = segment->p_filesz - within;
		uint64_t offset = segment->p_offset + within;
		if (offset >= raw_size)
			return NULL;
		if (left > raw_size - offset)
			left = raw_size - offset;
		*available = left < size ? left : size;
		return (const uint8_t *)raw + offset;
	}
	return NULL;
}
