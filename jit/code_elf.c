/* ELF images of code objects. Built by hand and not with libelf: gdb's are built in
 * memory while the program compiles, which has to cost microseconds. */
#include "jit/code_elf.h"

#include "jit/code_info.h"
#include "jit/codemem.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Code objects that are no further apart than their alignment and the room behind
	 * each share a section: nobody else's code can lie between them. */
	GAP_MAX = CODEMEM_ALIGN - 1 + CODEMEM_ROOM,
	PAGE = 4096,
	DATA_ALIGN = 8,
};

/* Sections but those with code, in their order. */
enum {
	SYMTAB,
	STRTAB,
	ABBREV,
	INFO,
	LINE,
	RANGES,
	ARANGES,
	FRAME,
	SHSTRTAB,
	OTHERS,
};

/* Code objects that lie together: a section and a segment. */
struct region {
	uintptr_t start, end;
	size_t offset; /* in the file */
};

struct image {
	struct code_elf *elf;
	struct buffer *out;
	struct code_info *const *codes;
	size_t count;
	bool bytes;
	struct region *regions; /* in the builder's scratch */
	size_t region_count;
	struct {
		uint32_t name;
		size_t offset, size;
	} others[OTHERS];
};

static bool find_regions(struct image *image)
{
	struct region *region = NULL;

	const struct region none = {0};
	struct buffer *scratch = &image->elf->regions;

	buffer_clear(scratch);
	for (size_t i = 0; i <= image->count; i++)
		buffer_put(scratch, &none, sizeof(none));
	if (scratch->failed)
		return false;
	image->regions = (struct region *)scratch->bytes;
	for (size_t i = 0; i < image->count; i++) {
		const struct code_info *code = image->codes[i];

		if (!region || code->address - region->end > GAP_MAX) {
			region = image->regions + image->region_count++;
			region->start = code->address;
		}
		region->end = code->address + code->size;
	}
	return true;
}

static void put_symbols(struct image *image)
{
	struct buffer *symbols = &image->elf->symbols, *strings = &image->elf->strings;
	Elf64_Sym symbol = {0};
	size_t region = 0;

	buffer_put(symbols, &symbol, sizeof(symbol));
	buffer_u8(strings, 0);
	for (size_t i = 0; i < image->count; i++) {
		const struct code_info *code = image->codes[i];

		while (code->address >= image->regions[region].end)
			region++;
		symbol = (Elf64_Sym){
			.st_name = (uint32_t)strings->size,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = region + 1 < SHN_LORESERVE ? (uint16_t)(region + 1)
							       : SHN_ABS,
			.st_value = code->address,
			.st_size = code->size,
		};
		buffer_put(symbols, &symbol, sizeof(symbol));
		buffer_string(strings, code->symbol);
	}
}

/* The header and the program headers are written last, over these zeroes. */
static size_t headers_size(const struct image *image)
{
	return sizeof(Elf64_Ehdr) +
	       (image->bytes ? image->region_count * sizeof(Elf64_Phdr) : 0);
}

/* A segment's file offset must agree with its address modulo the page size. */
static void put_bytes(struct image *image)
{
	static const uint8_t zeroes[PAGE];
	size_t next = 0;

	for (size_t i = 0; i < image->region_count && image->bytes; i++) {
		struct region *region = image->regions + i;

		buffer_put(image->out, zeroes, (region->start - image->out->size) % PAGE);
		region->offset = image->out->size;
		while (next < image->count && image->codes[next]->address < region->end) {
			const struct code_info *code = image->codes[next++];
			size_t before = image->out->size - region->offset;

			/* The room between two is not read: it may be unmapped by now. */
			buffer_put(image->out, zeroes,
				code->address - region->start - before);
			buffer_put(image->out, code_info_bytes(code), code->size);
		}
	}
}

static void put_others(struct image *image)
{
	struct code_elf *elf = image->elf;
	const struct {
		const char *name;
		const struct buffer *data;
	} list[OTHERS] = {
		[SYMTAB] = {".symtab", &elf->symbols},
		[STRTAB] = {".strtab", &elf->strings},
		[ABBREV] = {".debug_abbrev", &elf->debug.abbrev},
		[INFO] = {".debug_info", &elf->debug.info},
		[LINE] = {".debug_line", &elf->debug.line},
		[RANGES] = {".debug_ranges", &elf->debug.ranges},
		[ARANGES] = {".debug_aranges", &elf->debug.aranges},
		[FRAME] = {".debug_frame", &elf->debug.frame},
		[SHSTRTAB] = {".shstrtab", &elf->names},
	};

	buffer_u8(&elf->names, 0);
	buffer_string(&elf->names, ".text");
	for (int i = 0; i < OTHERS; i++) {
		image->others[i].name = (uint32_t)elf->names.size;
		buffer_string(&elf->names, list[i].name);
	}
	for (int i = 0; i < OTHERS; i++) {
		buffer_align(image->out, DATA_ALIGN, 0);
		image->others[i].offset = image->out->size;
		image->others[i].size = list[i].data->size;
		buffer_put(image->out, list[i].data->bytes, list[i].data->size);
	}
}

static void put_code_headers(struct image *image)
{
	for (size_t i = 0; i < image->region_count; i++) {
		const struct region *region = image->regions + i;
		Elf64_Shdr header = {
			.sh_name = 1, /* ".text" */
			.sh_type = image->bytes ? SHT_PROGBITS : SHT_NOBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = region->start,
			.sh_offset = region->offset,
			.sh_size = region->end - region->start,
			.sh_addralign = CODEMEM_ALIGN,
		};

		buffer_put(image->out, &header, sizeof(header));
	}
}

/* Returns the offset of the section headers. */
static size_t put_section_headers(struct image *image)
{
	size_t table, first = image->region_count + 1;
	size_t count = first + OTHERS, names = first + SHSTRTAB;
	Elf64_Shdr header = {0};

	buffer_align(image->out, DATA_ALIGN, 0);
	table = image->out->size;
	/* Numbers too large for the ELF header stand in section 0 (gABI). */
	if (count >= SHN_LORESERVE)
		header.sh_size = count;
	if (names >= SHN_LORESERVE)
		header.sh_link = (uint32_t)names;
	if (image->bytes && image->region_count >= PN_XNUM)
		header.sh_info = (uint32_t)image->region_count;
	buffer_put(image->out, &header, sizeof(header));
	put_code_headers(image);
	for (int i = 0; i < OTHERS; i++) {
		header = (Elf64_Shdr){
			.sh_name = image->others[i].name,
			.sh_type = i == SYMTAB			  ? SHT_SYMTAB
				   : i == STRTAB || i == SHSTRTAB ? SHT_STRTAB
								  : SHT_PROGBITS,
			.sh_offset = image->others[i].offset,
			.sh_size = image->others[i].size,
			.sh_addralign = i == SYMTAB || i == FRAME ? DATA_ALIGN : 1,
		};
		if (i == SYMTAB) {
			header.sh_link = (uint32_t)(first + STRTAB);
			header.sh_info = 1; /* the first global symbol */
			header.sh_entsize = sizeof(Elf64_Sym);
		}
		buffer_put(image->out, &header, sizeof(header));
	}
	return table;
}

static void fill_headers(struct image *image, size_t table)
{
	size_t sections = image->region_count + 1 + OTHERS;
	size_t segments = image->bytes ? image->region_count : 0;
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			EV_CURRENT, ELFOSABI_SYSV},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = segments ? sizeof(header) : 0,
		.e_shoff = table,
		.e_ehsize = sizeof(header),
		.e_phentsize = segments ? sizeof(Elf64_Phdr) : 0,
		.e_phnum = (uint16_t)(segments < PN_XNUM ? segments : PN_XNUM),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(sections < SHN_LORESERVE ? sections : 0),
		.e_shstrndx = (uint16_t)(sections - 1 < SHN_LORESERVE ? sections - 1
								      : SHN_XINDEX),
	};

	memcpy(image->out->bytes, &header, sizeof(header));
	for (size_t i = 0; i < segments; i++) {
		const struct region *region = image->regions + i;
		Elf64_Phdr segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = region->offset,
			.p_vaddr = region->start,
			.p_paddr = region->start,
			.p_filesz = region->end - region->start,
			.p_memsz = region->end - region->start,
			.p_align = PAGE,
		};

		memcpy(image->out->bytes + sizeof(header) + i * sizeof(segment), &segment,
			sizeof(segment));
	}
}

static void put_zeroes(struct buffer *out, size_t size)
{
	while (size-- > 0)
		buffer_u8(out, 0);
}

bool code_elf_build(struct code_elf *elf, struct buffer *out,
	struct code_info *const *codes, size_t count, const char *directory, bool bytes)
{
	struct image image = {
		.elf = elf,
		.out = out,
		.codes = codes,
		.count = count,
		.bytes = bytes,
	};
	size_t table;
	bool failed;

	buffer_clear(&elf->symbols);
	buffer_clear(&elf->strings);
	buffer_clear(&elf->names);
	debug_info_clear(&elf->debug);
	if (!find_regions(&image))
		return false;
	put_symbols(&image);
	debug_info_build(&elf->debug, codes, count, directory);
	put_zeroes(out, headers_size(&image));
	put_bytes(&image);
	put_others(&image);
	table = put_section_headers(&image);
	failed = out->failed || elf->symbols.failed || elf->strings.failed ||
		 elf->names.failed || debug_info_failed(&elf->debug);
	if (!failed)
		fill_headers(&image, table);
	return !failed;
}

void code_elf_reserve(struct code_elf *elf, size_t room)
{
	struct buffer *parts[] = {&elf->symbols, &elf->strings, &elf->names,
		&elf->regions, &elf->debug.files, &elf->debug.abbrev, &elf->debug.info,
		&elf->debug.line, &elf->debug.ranges, &elf->debug.aranges,
		&elf->debug.frame};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		buffer_reserve(parts[i], room);
}

void code_elf_release(struct code_elf *elf)
{
	buffer_release(&elf->symbols);
	buffer_release(&elf->strings);
	buffer_release(&elf->names);
	buffer_release(&elf->regions);
	debug_info_release(&elf->debug);
}
