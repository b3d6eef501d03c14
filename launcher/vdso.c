/* Edits of the vDSO. Its ELF image is untrusted: every offset is checked. */
#include "launcher/vdso.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "launcher/base.h"

struct image {
	const uint8_t *bytes;
	size_t size;
	uint64_t symbols; /* offset of .dynsym */
	uint64_t symbol_count;
	uint64_t names; /* offset of .dynstr */
	uint64_t names_size;
	uint64_t end; /* of what the image uses of its pages */
};

static bool inside(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

static bool fetch(const struct image *image, uint64_t offset, void *to, size_t size)
{
	if (!inside(image, offset, size))
		return false;
	memcpy(to, image->bytes + offset, size);
	return true;
}

static uint64_t greater(uint64_t left, uint64_t right)
{
	return left > right ? left : right;
}

/* Sections say where the symbols are; the vDSO is linked at address 0, so that file
 * offset and address are the same. */
static int image_open(struct image *image, const uint8_t *bytes, size_t size)
{
	Elf64_Ehdr header;

	*image = (struct image){.bytes = bytes, .size = size};
	if (!fetch(image, 0, &header, sizeof(header)) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) ||
		header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_shentsize != sizeof(Elf64_Shdr))
		return -1;
	image->end = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
	for (unsigned i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;
		if (!fetch(image, header.e_shoff + i * sizeof(section), &section,
			    sizeof(section)))
			return -1;
		if (section.sh_type != SHT_NOBITS)
			image->end =
				greater(image->end, section.sh_offset + section.sh_size);
		if (section.sh_type == SHT_DYNSYM) {
			image->symbols = section.sh_offset;
			image->symbol_count = section.sh_size / sizeof(Elf64_Sym);
		} else if (section.sh_type == SHT_STRTAB &&
			   section.sh_flags & SHF_ALLOC) {
			image->names = section.sh_offset;
			image->names_size = section.sh_size;
		}
	}
	return inside(image, image->names, image->names_size) && image->names_size &&
			       image->bytes[image->names + image->names_size - 1] ==
				       '\0' &&
			       inside(image, 0, image->end)
		       ? 0
		       : -1;
}

/* The symbol number of a function, from `index` on; false where there is none. */
static bool find_symbol(
	const struct image *image, const char *name, uint64_t *index, Elf64_Sym *symbol)
{
	for (; *index < image->symbol_count; ++*index) {
		if (!fetch(image, image->symbols + *index * sizeof(*symbol), symbol,
			    sizeof(*symbol)))
			return false;
		if (symbol->st_shndx != SHN_UNDEF &&
			symbol->st_name < image->names_size &&
			!strcmp((const char *)image->bytes + image->names +
					symbol->st_name,
				name))
			return true;
	}
	return false;
}

static struct vdso_edit *add_edit(
	struct vdso_edits *edits, uint64_t offset, const void *bytes, size_t size)
{
	if (edits->count == VDSO_EDITS || size > VDSO_EDIT_BYTES)
		return NULL;
	struct vdso_edit *edit = &edits->items[edits->count++];
	*edit = (struct vdso_edit){.offset = offset, .size = size};
	memcpy(edit->bytes, bytes, size);
	return edit;
}

int vdso_silence_random(struct vdso_edits *edits, const uint8_t *bytes, size_t size)
{
	/* mov $-ENOSYS, %rax; ret */
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3};
	struct image image;
	Elf64_Sym symbol;
	uint64_t index = 0;

	if (image_open(&image, bytes, size))
		return -1;
	if (!find_symbol(&image, "__vdso_getrandom", &index, &symbol))
		return 0;
	if (symbol.st_size < sizeof(code) ||
		!inside(&image, symbol.st_value, sizeof(code)))
		return -1;
	return add_edit(edits, symbol.st_value, code, sizeof(code)) ? 0 : -1;
}

/* What clock_gettime(clock %edi, result %rsi) becomes. Assembled by GNU as from:
 *
 *	stub:	cmp	$1, %edi		CLOCK_MONOTONIC
 *		jne	orig
 *		cmpb	$0, switch(%rip)
 *		je	orig
 *		rdtsc
 *		shl	$32, %rdx
 *		or	%rdx, %rax
 *		cmp	limit(%rip), %rax
 *		jae	orig
 *		mov	seconds(%rip), %eax
 *		mov	%rax, (%rsi)
 *		mov	nanoseconds(%rip), %eax
 *		mov	%rax, 8(%rsi)
 *		xor	%eax, %eax
 *		ret
 *	orig:	jmp	original (rel32)
 *		.balign 8
 *	limit:	.quad; seconds, nanoseconds: .long; switch: .byte
 *
 * The limit ends it also where nobody is left to turn the switch. Once it is turned a
 * read of this clock costs two compares more, any other one. */
static const uint8_t stub[] = {
	0x83, 0xff, 0x01,			  /* 00 cmp */
	0x75, 0x31,				  /* 03 jne */
	0x80, 0x3d, 0x44, 0x00, 0x00, 0x00, 0x00, /* 05 cmpb */
	0x74, 0x28,				  /* 0c je */
	0x0f, 0x31,				  /* 0e rdtsc */
	0x48, 0xc1, 0xe2, 0x20,			  /* 10 shl */
	0x48, 0x09, 0xd0,			  /* 14 or */
	0x48, 0x3b, 0x05, 0x22, 0x00, 0x00, 0x00, /* 17 cmp */
	0x73, 0x16,				  /* 1e jae */
	0x8b, 0x05, 0x22, 0x00, 0x00, 0x00,	  /* 20 mov */
	0x48, 0x89, 0x06,			  /* 26 mov */
	0x8b, 0x05, 0x1d, 0x00, 0x00, 0x00,	  /* 29 mov */
	0x48, 0x89, 0x46, 0x08,			  /* 2f mov */
	0x31, 0xc0,				  /* 33 xor */
	0xc3,					  /* 35 ret */
	0xe9, 0x00, 0x00, 0x00, 0x00,		  /* 36 jmp */
	0x0f, 0x1f, 0x44, 0x00, 0x00,		  /* 3b nop */
};

enum {
	STUB_ORIGINAL = 0x37, /* rel32, from STUB_ORIGINAL_END */
	STUB_ORIGINAL_END = 0x3b,
	STUB_LIMIT = 0x40,
	STUB_SECONDS = 0x48,
	STUB_NANOSECONDS = 0x4c,
	STUB_SWITCH = 0x50,
	STUB_SIZE = 0x51,
	STUB_ALIGN = 64,
};

_Static_assert(sizeof(stub) == STUB_LIMIT, "the stub's data follow its code");

static void fill_stub(uint8_t bytes[STUB_SIZE], uint64_t at, uint64_t original,
	uint64_t frozen, uint64_t tsc_limit)
{
	enum { SECOND = 1000000000 };
	uint32_t distance = (uint32_t)(original - (at + STUB_ORIGINAL_END));
	uint32_t seconds = (uint32_t)(frozen / SECOND);
	uint32_t nanoseconds = (uint32_t)(frozen % SECOND);

	memcpy(bytes, stub, sizeof(stub));
	memcpy(bytes + STUB_ORIGINAL, &distance, sizeof(distance));
	memcpy(bytes + STUB_LIMIT, &tsc_limit, sizeof(tsc_limit));
	memcpy(bytes + STUB_SECONDS, &seconds, sizeof(seconds));
	memcpy(bytes + STUB_NANOSECONDS, &nanoseconds, sizeof(nanoseconds));
	bytes[STUB_SWITCH] = 1;
}

int vdso_hold_clock(struct vdso_edits *edits, const uint8_t *bytes, size_t size,
	uint64_t frozen, uint64_t tsc_limit, uint64_t *switch_offset)
{
	/* The first is what C libraries look for, the second its weak alias. */
	static const char *const names[] = {"__vdso_clock_gettime", "clock_gettime"};
	uint8_t filled[STUB_SIZE];
	struct image image;
	uint64_t original = 0;

	if (image_open(&image, bytes, size))
		return -1;
	/* The rest of the image's last page is mapped, executable and nobody's. */
	uint64_t at = (image.end + STUB_ALIGN - 1) / STUB_ALIGN * STUB_ALIGN;
	if (!inside(&image, at, STUB_SIZE))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		Elf64_Sym symbol;
		uint64_t index = 0;

		if (!find_symbol(&image, names[i], &index, &symbol))
			continue;
		if (!inside(&image, symbol.st_value, 1))
			return -1;
		original = symbol.st_value;
		uint64_t value = image.symbols + index * sizeof(symbol) +
				 offsetof(Elf64_Sym, st_value);
		if (!add_edit(edits, value, &at, sizeof(at)))
			return -1;
	}
	if (!original)
		return -1;
	fill_stub(filled, at, original, frozen, tsc_limit);
	*switch_offset = at + STUB_SWITCH;
	return add_edit(edits, at, filled, sizeof(filled)) ? 0 : -1;
}
