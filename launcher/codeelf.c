/* code.elf, written with libelf: a segment and a section for each run of code, .symtab,
 * .strtab, .shstrtab. File offsets and addresses agree within a page, so that segments
 * can be mapped. */
#include "launcher/codeelf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/codekeep.h"
#include "launcher/codesym.h"

enum {
	PAGE = 4096,
	/* Section numbers from SHN_LORESERVE (0xff00) on need another table. */
	MOST_SECTIONS = 0xff00 - 8,
	NAME_SIZE = 32,
};

/* A growing string table; offset 0 is the empty string. */
struct strings {
	char *bytes;
	size_t size, room;
};

static uint32_t strings_add(struct strings *strings, const char *text)
{
	size_t length = strlen(text) + 1, offset = strings->size;

	if (offset + length > strings->room) {
		strings->room = (offset + length) * 2;
		strings->bytes = xrealloc(strings->bytes, strings->room);
	}
	memcpy(strings->bytes + offset, text, length);
	strings->size += length;
	return (uint32_t)offset;
}

/* Pieces that follow each other without a gap. */
struct run {
	uint64_t address, size;
	size_t first, count;
};

struct writer {
	Elf *elf;
	const struct codekeep *keep;
	const struct codesyms *syms;
	struct run *runs;
	size_t run_count;
	struct strings names;	/* of sections */
	struct strings strings; /* of symbols */
	Elf64_Sym *symbols;
	size_t symbol_count;
	uint64_t offset; /* where the next section goes in the file */
};

static void find_runs(struct writer *writer)
{
	const struct codekeep *keep = writer->keep;

	writer->runs = xcalloc(keep->count, sizeof(*writer->runs));
	for (size_t i = 0; i < keep->count; i++) {
		const struct codekeep_piece *piece = &keep->pieces[i];
		struct run *run =
			writer->run_count ? &writer->runs[writer->run_count - 1] : NULL;
		if (!run || run->address + run->size != piece->address) {
			if (writer->run_count == MOST_SECTIONS)
				break;
			run = &writer->runs[writer->run_count++];
			*run = (struct run){.address = piece->address, .first = i};
		}
		run->size += piece->size;
		run->count++;
	}
}

static Elf_Scn *add_section(
	struct writer *writer, const char *name, const Elf64_Shdr *template)
{
	Elf_Scn *section = elf_newscn(writer->elf);
	Elf64_Shdr *header = section ? elf64_getshdr(section) : NULL;

	if (!header)
		return NULL;
	*header = *template;
	header->sh_name = strings_add(&writer->names, name);
	header->sh_offset = writer->offset;
	writer->offset += header->sh_size;
	return section;
}

static int add_data(
	Elf_Scn *section, void *bytes, size_t size, size_t offset, Elf_Type type)
{
	Elf_Data *data = elf_newdata(section);

	if (!data)
		return -1;
	data->d_buf = bytes;
	data->d_size = size;
	data->d_off = (int64_t)offset;
	data->d_type = type;
	data->d_align = 1;
	data->d_version = EV_CURRENT;
	return 0;
}

static int add_code(struct writer *writer, const struct run *run, Elf64_Phdr *segment)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), ".jit.%llx", (unsigned long long)run->address);
	writer->offset = (writer->offset + PAGE - 1) / PAGE * PAGE + run->address % PAGE;
	*segment = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = writer->offset,
		.p_vaddr = run->address,
		.p_paddr = run->address,
		.p_filesz = run->size,
		.p_memsz = run->size,
		.p_align = PAGE,
	};
	Elf_Scn *section = add_section(writer, name,
		&(Elf64_Shdr){
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = run->address,
			.sh_size = run->size,
			.sh_addralign = 1,
		});
	if (!section)
		return -1;
	for (size_t i = 0; i < run->count; i++) {
		const struct codekeep_piece *piece =
			&writer->keep->pieces[run->first + i];
		if (add_data(section, piece->bytes, piece->size,
			    piece->address - run->address, ELF_T_BYTE))
			return -1;
	}
	return 0;
}

/* The section, counted from 1, that holds the first byte of a symbol; 0: none. */
static size_t section_of(const struct writer *writer, uint64_t address)
{
	size_t low = 0, high = writer->run_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (writer->runs[middle].address + writer->runs[middle].size > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < writer->run_count && writer->runs[low].address <= address ? low + 1
									       : 0;
}

static void make_symbols(struct writer *writer)
{
	const struct codesyms *syms = writer->syms;

	writer->symbols = xcalloc(syms->count + 1, sizeof(*writer->symbols));
	writer->symbol_count = 1;
	strings_add(&writer->strings, "");
	for (size_t i = 0; i < syms->count; i++) {
		const struct codesym *symbol = &syms->items[i];
		size_t section = section_of(writer, symbol->address);
		if (!section)
			continue;
		writer->symbols[writer->symbol_count++] = (Elf64_Sym){
			.st_name = strings_add(&writer->strings, symbol->name),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = (Elf64_Section)section,
			.st_value = symbol->address,
			.st_size = symbol->size,
		};
	}
}

static void align(struct writer *writer)
{
	writer->offset = (writer->offset + 7) / 8 * 8;
}

static int add_symbols(struct writer *writer)
{
	size_t size = writer->symbol_count * sizeof(*writer->symbols);

	align(writer);
	Elf_Scn *symtab = add_section(writer, ".symtab",
		&(Elf64_Shdr){
			.sh_type = SHT_SYMTAB,
			.sh_size = size,
			.sh_link = (Elf64_Word)writer->run_count + 2,
			.sh_info = 1, /* the first global symbol */
			.sh_addralign = 8,
			.sh_entsize = sizeof(*writer->symbols),
		});
	if (!symtab || add_data(symtab, writer->symbols, size, 0, ELF_T_SYM))
		return -1;
	Elf_Scn *strtab = add_section(writer, ".strtab",
		&(Elf64_Shdr){
			.sh_type = SHT_STRTAB,
			.sh_size = writer->strings.size,
			.sh_addralign = 1,
		});
	return strtab ? add_data(strtab, writer->strings.bytes, writer->strings.size, 0,
				ELF_T_BYTE)
		      : -1;
}

static int add_names(struct writer *writer)
{
	static const char name[] = ".shstrtab";
	Elf_Scn *section = add_section(writer, name,
		&(Elf64_Shdr){
			.sh_type = SHT_STRTAB,
			/* Its own name is added after its size was asked for. */
			.sh_size = writer->names.size + sizeof(name),
			.sh_addralign = 1,
		});

	return section ? add_data(section, writer->names.bytes, writer->names.size, 0,
				 ELF_T_BYTE)
		       : -1;
}

static int build(struct writer *writer)
{
	Elf64_Ehdr *header = elf64_newehdr(writer->elf);
	Elf64_Phdr *segments =
		header ? elf64_newphdr(writer->elf, writer->run_count) : NULL;

	if (!header || (writer->run_count && !segments))
		return -1;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	/* Addresses that are final. */
	header->e_type = ET_EXEC;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_phoff = sizeof(*header);
	writer->offset = header->e_phoff + writer->run_count * sizeof(*segments);
	strings_add(&writer->names, "");
	for (size_t i = 0; i < writer->run_count; i++)
		if (add_code(writer, &writer->runs[i], &segments[i]))
			return -1;
	make_symbols(writer);
	if (add_symbols(writer) || add_names(writer))
		return -1;
	align(writer);
	header->e_shoff = writer->offset;
	header->e_shstrndx = (Elf64_Half)(writer->run_count + 3);
	return elf_update(writer->elf, ELF_C_WRITE) < 0 ? -1 : 0;
}

int codeelf_write(int file, const struct codekeep *keep, const struct codesyms *syms,
	char message[CODEELF_MESSAGE])
{
	struct writer writer = {.keep = keep, .syms = syms};
	int result = -1;

	elf_version(EV_CURRENT);
	errno = 0;
	writer.elf = elf_begin(file, ELF_C_WRITE, NULL);
	if (writer.elf) {
		elf_flagelf(writer.elf, ELF_C_SET, ELF_F_LAYOUT);
		find_runs(&writer);
		result = build(&writer);
	}
	if (result)
		snprintf(message, CODEELF_MESSAGE, "%s%s%s", elf_errmsg(-1),
			errno ? ": " : "", errno ? strerror(errno) : "");
	elf_end(writer.elf);
	free(writer.runs);
	free(writer.names.bytes);
	free(writer.strings.bytes);
	free(writer.symbols);
	return result;
}
