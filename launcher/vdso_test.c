/* Edits of this process' own vDSO, and of broken ones. */
#include "launcher/vdso.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static int failures;

static void check(int holds, const char *what)
{
	printf("%s: %s\n", holds ? "PASS" : "FAIL", what);
	failures += !holds;
}

enum { PAGE = 4096, FROZEN = 1500000000 };

static size_t image_size(const uint8_t *image)
{
	Elf64_Ehdr header;

	memcpy(&header, image, sizeof(header));
	uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
	return (end + PAGE - 1) / PAGE * PAGE;
}

static void apply(uint8_t *copy, const struct vdso_edits *edits)
{
	for (size_t i = 0; i < edits->count; i++)
		memcpy(copy + edits->items[i].offset, edits->items[i].bytes,
			edits->items[i].size);
}

/* The value of a dynamic symbol, found through the section headers; 0 where there is none. */
static uint64_t symbol(const uint8_t *image, const char *name)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		const char *names =
			(const char *)image + sections[sections[i].sh_link].sh_offset;
		const Elf64_Sym *symbols =
			(const Elf64_Sym *)(image + sections[i].sh_offset);
		for (size_t j = 0; j < sections[i].sh_size / sizeof(*symbols); j++)
			if (!strcmp(names + symbols[j].st_name, name))
				return symbols[j].st_value;
	}
	return 0;
}

static void test_clock(const uint8_t *image, size_t size, uint8_t *copy)
{
	struct vdso_edits edits = {.count = 0};
	uint64_t at = 0, original = symbol(image, "__vdso_clock_gettime");

	check(!vdso_hold_clock(&edits, image, size, FROZEN, UINT64_MAX, &at) && at < size,
		"the clock can be held");
	memcpy(copy, image, size);
	apply(copy, &edits);
	uint64_t stub = symbol(copy, "__vdso_clock_gettime");
	check(stub != original && stub == symbol(copy, "clock_gettime"),
		"both names lead to the stub");
	check(copy[at] == 1, "the switch is on");
	/* The stub's last instruction: jmp rel32 to the original. */
	int32_t distance;
	uint64_t jump = stub + 0x36;
	memcpy(&distance, copy + jump + 1, sizeof(distance));
	check(copy[jump] == 0xe9 && jump + 5 + (uint64_t)(int64_t)distance == original,
		"the stub goes on to the original");
	int changed = 0;
	for (size_t i = 0; i < edits.count; i++)
		for (size_t j = 0; j < edits.items[i].size; j++)
			if (edits.items[i].offset >= stub)
				changed += image[edits.items[i].offset + j] != 0;
	check(changed == 0, "the stub stands where nothing was");
}

static void test_random(const uint8_t *image, size_t size, uint8_t *copy)
{
	static const uint8_t answer[] = {0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3};
	struct vdso_edits edits = {.count = 0};
	uint64_t function = symbol(image, "__vdso_getrandom");

	check(!vdso_silence_random(&edits, image, size), "randomness can be silenced");
	memcpy(copy, image, size);
	apply(copy, &edits);
	check(function ? !memcmp(copy + function, answer, sizeof(answer)) : !edits.count,
		"getrandom answers ENOSYS, where there is one");
}

/* Whatever is broken: no edit outside of the image, and no fault (see SAN=1). */
static void test_broken(const uint8_t *image, size_t size, uint8_t *copy)
{
	int outside = 0;

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		struct vdso_edits edits = {.count = 0};
		uint64_t at = 0;
		size_t cut = i % 2 ? (size_t)random() % (size + 1) : size;
		memcpy(copy, image, size);
		for (int j = 0; j < 4; j++)
			copy[(size_t)random() % (j ? size : 64)] = (uint8_t)random();
		vdso_silence_random(&edits, copy, cut);
		vdso_hold_clock(&edits, copy, cut, FROZEN, 0, &at);
		for (size_t j = 0; j < edits.count; j++)
			outside += edits.items[j].offset > cut ||
				   edits.items[j].size > cut - edits.items[j].offset;
	}
	check(outside == 0, "broken images lead to no edit outside");
}

int main(void)
{
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);

	if (!image) {
		printf("SKIP: this machine has no vDSO\n");
		return 0;
	}
	size_t size = image_size(image);
	uint8_t *copy = malloc(size);
	test_clock(image, size, copy);
	test_random(image, size, copy);
	test_broken(image, size, copy);
	free(copy);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
