/* The sampled JIT code as an ELF executable at its true addresses, with symbols: objdump,
 * gdb and perf can open it. Laid out by hand: header, segments, code, symbols, names. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 4096,
};

struct piece { /* the bytes of one code object */
	const struct function *function;
	const uint8_t *bytes;
	uint64_t offset; /* in the file */
};

struct image {
	struct piece *pieces;
	size_t count;
	Elf64_Sym *symbols;
	char *names;
	size_t names_size;
	FILE *file;
};

static int compare(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return left->function->address < right->function->address
		       ? -1
		       : left->function->address > right->function->address;
}

/* Of objects that shared addresses the hottest one stays. */
static void choose(struct image *image, const struct profile *profile)
{
	size_t room = 0;

	for (size_t i = 0; i < profile->function_count; i++)
		room += profile->functions[i]->code != NULL;
	image->pieces = xcalloc(room, sizeof(*image->pieces));
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct function *function = profile->functions[i];
		const struct code *code = function->code;
		const uint8_t *bytes = !code	     ? NULL
				       : code->final ? code->final
						     : code->bytes;
		if (!bytes || !function->samples)
			continue;
		bool overlaps = false;
		for (size_t k = 0; k < image->count && !overlaps; k++) {
			const struct function *other = image->pieces[k].function;
			overlaps = function->address < other->address + other->size &&
				   other->address < function->address + function->size;
		}
		if (!overlaps)
			image->pieces[image->count++] =
				(struct piece){function, bytes, 0};
	}
	qsort(image->pieces, image->count, sizeof(*image->pieces), compare);
}

static uint32_t add_name(struct image *image, const char *name)
{
	size_t length = strlen(name) + 1, place = image->names_size;

	image->names = xrealloc(image->names, image->names_size + length);
	memcpy(image->names + place, name, length);
	image->names_size += length;
	return (uint32_t)place;
}

static void pad_to(FILE *file, uint64_t offset)
{
	while ((uint64_t)ftell(file) < offset)
		putc(0, file);
}

/* Each object has a segment of its own; offsets agree with addresses within a page. */
static uint64_t place_pieces(struct image *image, uint64_t at)
{
	for (size_t i = 0; i < image->count; i++) {
		struct piece *piece = &image->pieces[i];
		uint64_t within = piece->function->address % PAGE;
		at += (within + PAGE - at % PAGE) % PAGE;
		piece->offset = at;
		at += piece->function->size;
	}
	return at;
}

static void write_segments(struct image *image)
{
	for (size_t i = 0; i < image->count; i++) {
		const struct piece *piece = &image->pieces[i];
		uint64_t address = piece->function->address, size = piece->function->size;
		Elf64_Phdr segment = {.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = piece->offset,
			.p_vaddr = address,
			.p_paddr = address,
			.p_filesz = size,
			.p_memsz = size,
			.p_align = PAGE};
		fwrite(&segment, sizeof(segment), 1, image->file);
	}
}

static void write_sections(struct image *image, uint64_t symbols_at, uint64_t names_at,
	const uint32_t *names)
{
	Elf64_Shdr none = {0};

	fwrite(&none, sizeof(none), 1, image->file);
	for (size_t i = 0; i < image->count; i++) {
		const struct piece *piece = &image->pieces[i];
		Elf64_Shdr section = {.sh_name = names[0],
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = piece->function->address,
			.sh_offset = piece->offset,
			.sh_size = piece->function->size,
			.sh_addralign = 1};
		fwrite(&section, sizeof(section), 1, image->file);
	}
	Elf64_Shdr symbols = {.sh_name = names[1],
		.sh_type = SHT_SYMTAB,
		.sh_offset = symbols_at,
		.sh_size = (image->count + 1) * sizeof(Elf64_Sym),
		.sh_link = (uint32_t)image->count + 2,
		.sh_info = 1,
		.sh_addralign = 8,
		.sh_entsize = sizeof(Elf64_Sym)};
	Elf64_Shdr strings = {.sh_name = names[2],
		.sh_type = SHT_STRTAB,
		.sh_offset = names_at,
		.sh_size = image->names_size,
		.sh_addralign = 1};
	fwrite(&symbols, sizeof(symbols), 1, image->file);
	fwrite(&strings, sizeof(strings), 1, image->file);
}

static void write_header(struct image *image, unsigned machine, uint64_t sections_at)
{
	Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = (Elf64_Half)machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = sections_at,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)image->count,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)(image->count + 3),
		.e_shstrndx = (Elf64_Half)(image->count + 2)};

	fwrite(&header, sizeof(header), 1, image->file);
}

static void make_symbols(struct image *image)
{
	image->symbols = xcalloc(image->count + 1, sizeof(*image->symbols));
	for (size_t i = 0; i < image->count; i++) {
		const struct function *function = image->pieces[i].function;
		image->symbols[i + 1] =
			(Elf64_Sym){.st_name = add_name(image, function->name),
				.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				.st_shndx = (Elf64_Section)(i + 1),
				.st_value = function->address,
				.st_size = function->size};
	}
}

int elf_write(struct writer *writer, const char *path)
{
	struct image image = {0};

	choose(&image, writer->profile);
	/* Section numbers of 0xff00 and more are reserved; the hottest do for a file. */
	if (image.count > SHN_LORESERVE - 4)
		image.count = SHN_LORESERVE - 4;
	image.file = fopen(path, "we");
	if (!image.file) {
		free(image.pieces);
		return -1;
	}
	add_name(&image, "");
	uint32_t names[] = {add_name(&image, ".text"), add_name(&image, ".symtab"),
		add_name(&image, ".strtab")};
	make_symbols(&image);
	uint64_t end = place_pieces(
		&image, sizeof(Elf64_Ehdr) + image.count * sizeof(Elf64_Phdr));
	uint64_t symbols_at = (end + 7) & ~(uint64_t)7;
	uint64_t names_at = symbols_at + (image.count + 1) * sizeof(Elf64_Sym);
	uint64_t sections_at = (names_at + image.names_size + 7) & ~(uint64_t)7;
	const struct code *code = image.count ? image.pieces[0].function->code : NULL;

	write_header(
		&image, code && code->machine ? code->machine : EM_X86_64, sections_at);
	write_segments(&image);
	for (size_t i = 0; i < image.count; i++) {
		pad_to(image.file, image.pieces[i].offset);
		fwrite(image.pieces[i].bytes, 1, image.pieces[i].function->size,
			image.file);
	}
	pad_to(image.file, symbols_at);
	fwrite(image.symbols, sizeof(*image.symbols), image.count + 1, image.file);
	fwrite(image.names, 1, image.names_size, image.file);
	pad_to(image.file, sections_at);
	write_sections(&image, symbols_at, names_at, names);
	free(image.pieces);
	free(image.symbols);
	free(image.names);
	bool failed = ferror(image.file);
	return fclose(image.file) == 0 && !failed ? 0 : -1;
}
