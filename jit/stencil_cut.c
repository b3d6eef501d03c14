/* stencil_cut OUTPUT OBJECT...: cuts the stencils out of compiled object files at build
 * time and writes them as a C table. Each function `op_NAME` in a section of its own
 * (gcc's -ffunction-sections) is a stencil; its relocations are the holes. */
#include "jit/stencil_cut.h"

#include "jit/holes.h"
#include "jit/stencil_kinds.h"
#include "launcher/base.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "stencil_cut";

#define HOT_PREFIX  ".text.op_"
#define COLD_PREFIX ".text.unlikely.op_"

/* The object file being read. */
struct object {
	const char *path;
	size_t number;
	Elf *elf;
	size_t section_names, section_count;
	Elf_Data *symbols;
	size_t symbol_names, symbol_count;
	/* Which stencil and part a section holds; stencil -1: none. */
	struct {
		ssize_t stencil;
		int part;
	} * sections;
};

static const char *const hole_names[] = {
#define NAME_(symbol, field) #symbol,
	HOLES_ALL(NAME_)
#undef NAME_
};

void cut_refuse(struct cut *cut, const struct cut_stencil *stencil, int part,
	size_t offset, const char *format, ...)
{
	va_list list;
	char text[512];

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	warn("op_%s%s+0x%zx: %s", stencil->name, part == CUT_COLD ? ".cold" : "", offset,
		text);
	cut->errors++;
}

const char *cut_hole_name(const struct cut *cut, const struct cut_hole *hole)
{
	switch (hole->class) {
	case STENCIL_HOLE: return hole_names[hole->index];
	case STENCIL_SYMBOL: return cut->symbols[hole->index].name;
	case STENCIL_HOT: return "hot";
	default: return "cold";
	}
}

void cut_disassemble(struct cut *cut, struct cut_stencil *stencil)
{
	for (int i = 0; i < CUT_PARTS; i++) {
		struct cut_part *part = stencil->parts + i;
		size_t end = 0;

		if (part->insns)
			cs_free(part->insns, part->insn_count);
		part->insns = NULL;
		part->insn_count = 0;
		if (part->size == 0)
			continue;
		part->insn_count = cs_disasm(
			cut->capstone, part->bytes, part->size, 0, 0, &part->insns);
		if (part->insn_count > 0) {
			const cs_insn *last = part->insns + part->insn_count - 1;

			end = last->address + last->size;
		}
		if (end != part->size)
			cut_refuse(cut, stencil, i, end, "unknown instruction");
	}
}

const struct cut_hole *cut_hole_in(
	const struct cut_stencil *stencil, int part, const cs_insn *insn)
{
	for (size_t i = 0; i < stencil->hole_count; i++) {
		const struct cut_hole *hole = stencil->holes + i;

		if (hole->part == part && hole->offset >= insn->address &&
			hole->offset < insn->address + insn->size)
			return hole;
	}
	return NULL;
}

static _Noreturn void die_elf(const struct object *object)
{
	die(1, "cannot read '%s': %s", object->path, elf_errmsg(-1));
}

static const char *section_name(
	const struct object *object, Elf_Scn *section, GElf_Shdr *header)
{
	const char *name;

	if (!gelf_getshdr(section, header))
		die_elf(object);
	name = elf_strptr(object->elf, object->section_names, header->sh_name);
	if (!name)
		die_elf(object);
	return name;
}

static struct cut_stencil *find_stencil(struct cut *cut, const char *name)
{
	for (size_t i = 0; i < cut->stencil_count; i++) {
		if (strcmp(cut->stencils[i].name, name) == 0)
			return cut->stencils + i;
	}
	return NULL;
}

static void add_part(struct cut *cut, struct object *object, Elf_Scn *section,
	const char *name, int part)
{
	struct cut_stencil *stencil = find_stencil(cut, name);
	Elf_Data *data = elf_getdata(section, NULL);

	if (!data)
		die_elf(object);
	if (!stencil) {
		cut->stencils = xreallocarray(
			cut->stencils, cut->stencil_count + 1, sizeof(*cut->stencils));
		stencil = cut->stencils + cut->stencil_count++;
		memset(stencil, 0, sizeof(*stencil));
		stencil->name = xstrdup(name);
	}
	if (stencil->parts[part].bytes)
		die(1, "'%s' has a second stencil 'op_%s'", object->path, name);
	if (data->d_size > UINT16_MAX)
		die(1, "'%s': stencil 'op_%s' has %zu bytes: too many", object->path,
			name, data->d_size);
	stencil->parts[part].size = data->d_size;
	stencil->parts[part].bytes = xmalloc(data->d_size + 1);
	memcpy(stencil->parts[part].bytes, data->d_buf, data->d_size);
	object->sections[elf_ndxscn(section)].stencil = stencil - cut->stencils;
	object->sections[elf_ndxscn(section)].part = part;
}

static void read_sections(struct cut *cut, struct object *object)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(object->elf, section))) {
		GElf_Shdr header;
		const char *name = section_name(object, section, &header);

		object->sections[elf_ndxscn(section)].stencil = -1;
		if (header.sh_type == SHT_SYMTAB) {
			object->symbols = elf_getdata(section, NULL);
			object->symbol_names = header.sh_link;
			object->symbol_count = header.sh_size / header.sh_entsize;
			continue;
		}
		if (!(header.sh_flags & SHF_EXECINSTR) || header.sh_size == 0)
			continue;
		if (strncmp(name, HOT_PREFIX, strlen(HOT_PREFIX)) == 0)
			add_part(
				cut, object, section, name + strlen(HOT_PREFIX), CUT_HOT);
		else if (strncmp(name, COLD_PREFIX, strlen(COLD_PREFIX)) == 0)
			add_part(cut, object, section, name + strlen(COLD_PREFIX),
				CUT_COLD);
		else
			die(1,
				"'%s': code in section '%s' is no stencil: inline it, or "
				"call "
				"it op_NAME",
				object->path, name);
	}
	if (!object->symbols)
		die(1, "'%s' has no symbol table", object->path);
}

static unsigned symbol_index(struct cut *cut, const char *name)
{
	struct cut_symbol *symbol;

	for (size_t i = 0; i < cut->symbol_count; i++) {
		if (!cut->symbols[i].bytes && strcmp(cut->symbols[i].name, name) == 0)
			return (unsigned)i;
	}
	cut->symbols =
		xreallocarray(cut->symbols, cut->symbol_count + 1, sizeof(*cut->symbols));
	symbol = cut->symbols + cut->symbol_count;
	*symbol = (struct cut_symbol){.name = xstrdup(name)};
	return (unsigned)cut->symbol_count++;
}

/* A constant's section becomes one more symbol, with the section's bytes. */
static unsigned literal_index(struct cut *cut, const struct object *object, size_t index,
	const GElf_Shdr *header, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	struct cut_symbol *symbol;

	for (size_t i = 0; i < cut->symbol_count; i++) {
		symbol = cut->symbols + i;
		if (symbol->bytes && symbol->object == object->number &&
			symbol->section == index)
			return (unsigned)i;
	}
	if (!data)
		die_elf(object);
	cut->symbols =
		xreallocarray(cut->symbols, cut->symbol_count + 1, sizeof(*cut->symbols));
	symbol = cut->symbols + cut->symbol_count;
	*symbol = (struct cut_symbol){
		.name = xasprintf("literal_%zu_%zu", object->number, index),
		.bytes = xmalloc(data->d_size + 1),
		.size = data->d_size,
		.align = header->sh_addralign,
		.object = object->number,
		.section = index,
	};
	memcpy(symbol->bytes, data->d_buf, data->d_size);
	return (unsigned)cut->symbol_count++;
}

static bool store_of(unsigned type, unsigned *store)
{
	switch (type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32: *store = STENCIL_REL32; return true;
	case R_X86_64_32: *store = STENCIL_U32; return true;
	case R_X86_64_32S: *store = STENCIL_S32; return true;
	case R_X86_64_64: *store = STENCIL_U64; return true;
	default: return false;
	}
}

static bool has_relocations(const struct object *object, size_t index)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(object->elf, section))) {
		GElf_Shdr header;

		section_name(object, section, &header);
		if (header.sh_type == SHT_RELA && header.sh_info == index &&
			header.sh_size > 0)
			return true;
	}
	return false;
}

/* An undefined symbol: one of the reserved ones, or a function of the program. */
static void resolve_external(struct cut *cut, const struct cut_stencil *stencil,
	struct cut_hole *hole, const char *name)
{
	for (unsigned i = 0; i < HOLES_COUNT; i++) {
		if (strcmp(name, hole_names[i]) == 0) {
			hole->class = STENCIL_HOLE;
			hole->index = i;
			return;
		}
	}
	if (strncmp(name, "HOLE_", strlen("HOLE_")) == 0)
		cut_refuse(cut, stencil, hole->part, hole->offset,
			"'%s' is not in jit/holes.h", name);
	hole->class = STENCIL_SYMBOL;
	hole->index = symbol_index(cut, name);
}

/* A symbol defined in the object: the stencil's other part, or a constant. */
static void resolve_section(struct cut *cut, const struct object *object,
	const struct cut_stencil *stencil, struct cut_hole *hole, const GElf_Sym *symbol)
{
	Elf_Scn *section = elf_getscn(object->elf, symbol->st_shndx);
	GElf_Shdr header;
	const char *name = section_name(object, section, &header);

	hole->addend += (int64_t)symbol->st_value;
	if (header.sh_flags & SHF_EXECINSTR) {
		if (cut->stencils + object->sections[symbol->st_shndx].stencil != stencil)
			cut_refuse(cut, stencil, hole->part, hole->offset,
				"refers to another stencil, in section '%s'", name);
		hole->class = object->sections[symbol->st_shndx].part == CUT_COLD
				      ? STENCIL_COLD
				      : STENCIL_HOT;
		return;
	}
	if (!(header.sh_flags & SHF_ALLOC) || header.sh_flags & SHF_WRITE ||
		header.sh_type != SHT_PROGBITS) {
		cut_refuse(cut, stencil, hole->part, hole->offset,
			"refers to data in section '%s': a stencil has none of its own",
			name);
		return;
	}
	if (has_relocations(object, symbol->st_shndx)) {
		cut_refuse(cut, stencil, hole->part, hole->offset,
			"refers to a table of addresses in section '%s': a jump table?",
			name);
		return;
	}
	hole->class = STENCIL_SYMBOL;
	hole->index = literal_index(cut, object, symbol->st_shndx, &header, section);
}

static void add_relocation(struct cut *cut, const struct object *object, size_t target,
	const GElf_Rela *relocation)
{
	struct cut_stencil *stencil = cut->stencils + object->sections[target].stencil;
	struct cut_hole hole = {
		.offset = relocation->r_offset,
		.part = object->sections[target].part,
		.addend = relocation->r_addend,
	};
	GElf_Sym symbol;
	const char *name;

	if (!gelf_getsym(object->symbols, (int)GELF_R_SYM(relocation->r_info), &symbol))
		die_elf(object);
	name = elf_strptr(object->elf, object->symbol_names, symbol.st_name);
	if (!store_of((unsigned)GELF_R_TYPE(relocation->r_info), &hole.store)) {
		cut_refuse(cut, stencil, hole.part, hole.offset,
			"unknown relocation type %u against '%s'",
			(unsigned)GELF_R_TYPE(relocation->r_info), name ? name : "");
		return;
	}
	if (hole.offset + (hole.store == STENCIL_U64 ? 8 : 4) >
		stencil->parts[hole.part].size) {
		cut_refuse(cut, stencil, hole.part, hole.offset,
			"a relocation lies outside the code");
		return;
	}
	if (symbol.st_shndx == SHN_UNDEF)
		resolve_external(cut, stencil, &hole, name ? name : "");
	else if (symbol.st_shndx < object->section_count)
		resolve_section(cut, object, stencil, &hole, &symbol);
	else
		cut_refuse(cut, stencil, hole.part, hole.offset,
			"refers to a common or absolute symbol '%s'", name ? name : "");
	if (hole.addend != (int32_t)hole.addend)
		cut_refuse(cut, stencil, hole.part, hole.offset,
			"the addend %lld has more than 32 bits", (long long)hole.addend);
	stencil->holes = xreallocarray(
		stencil->holes, stencil->hole_count + 1, sizeof(*stencil->holes));
	stencil->holes[stencil->hole_count++] = hole;
}

static void read_relocations(struct cut *cut, const struct object *object)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(object->elf, section))) {
		GElf_Shdr header;
		GElf_Rela relocation;
		Elf_Data *data;

		section_name(object, section, &header);
		if (header.sh_type != SHT_RELA ||
			header.sh_info >= object->section_count ||
			object->sections[header.sh_info].stencil < 0)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; gelf_getrela(data, i, &relocation); i++)
			add_relocation(cut, object, header.sh_info, &relocation);
	}
}

static void read_object(struct cut *cut, const char *path, size_t number)
{
	struct object object = {.path = path, .number = number};
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	GElf_Ehdr header;

	if (fd < 0)
		die(1, "cannot open '%s': %s", path, strerror(errno));
	object.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!object.elf || elf_kind(object.elf) != ELF_K_ELF ||
		!gelf_getehdr(object.elf, &header) || header.e_machine != EM_X86_64 ||
		header.e_type != ET_REL)
		die(1, "'%s' is not an object file for x86-64", path);
	if (elf_getshdrstrndx(object.elf, &object.section_names) != 0 ||
		elf_getshdrnum(object.elf, &object.section_count) != 0)
		die_elf(&object);
	object.sections = xcalloc(object.section_count + 1, sizeof(*object.sections));
	for (size_t i = 0; i <= object.section_count; i++)
		object.sections[i].stencil = -1;
	read_sections(cut, &object);
	read_relocations(cut, &object);
	free(object.sections);
	elf_end(object.elf);
}

static void release(struct cut *cut)
{
	for (size_t i = 0; i < cut->stencil_count; i++) {
		struct cut_stencil *stencil = cut->stencils + i;

		for (int k = 0; k < CUT_PARTS; k++) {
			if (stencil->parts[k].insns)
				cs_free(stencil->parts[k].insns,
					stencil->parts[k].insn_count);
			free(stencil->parts[k].bytes);
		}
		free(stencil->name);
		free(stencil->holes);
	}
	for (size_t i = 0; i < cut->symbol_count; i++) {
		free(cut->symbols[i].name);
		free(cut->symbols[i].bytes);
	}
	free(cut->stencils);
	free(cut->symbols);
	cs_close(&cut->capstone);
}

int main(int argc, char **argv)
{
	struct cut cut = {0};
	unsigned errors;

	if (argc < 3)
		die(2, "usage: stencil_cut OUTPUT OBJECT...");
	elf_version(EV_CURRENT);
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &cut.capstone) != CS_ERR_OK ||
		cs_option(cut.capstone, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK ||
		cs_option(cut.capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT) != CS_ERR_OK)
		die(1, "cannot start capstone");
	for (int i = 2; i < argc; i++)
		read_object(&cut, argv[i], (size_t)(i - 2));
	for (size_t i = 0; i < cut.stencil_count; i++) {
		cut_disassemble(&cut, cut.stencils + i);
		stencil_lint(&cut, cut.stencils + i);
		stencil_thread_jumps(&cut, cut.stencils + i);
	}
	errors = cut.errors;
	if (errors == 0 && stencil_write(&cut, argv[1]) != 0)
		die(1, "cannot write '%s': %s", argv[1], strerror(errno));
	release(&cut);
	return errors ? 1 : 0;
}
