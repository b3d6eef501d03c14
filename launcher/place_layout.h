/* Where everything of a program goes that the kernel has put at random addresses. Pure:
 * from what is there to the moves and the values that go with them.
 *
 * The places are those of a process without randomisation, but for what is mapped from
 * the top down (ld.so, the vdso, later every library): the kernel goes on searching from
 * its random base, which cannot be changed. So all from a ceiling below any such base up
 * to the highest is filled with an inaccessible mapping, and what would begin at
 * 0x7ffff7fff000 begins at the ceiling. */
#ifndef LAUNCHER_PLACE_LAYOUT_H
#define LAUNCHER_PLACE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/place_elf.h"
#include "launcher/place_maps.h"
#include "launcher/remote.h"

enum { PLACE_DRAWS = 4 };

/* A stopped program as it was found. */
struct place_image {
	struct place_maps maps;
	struct place_marks marks;
	struct place_elf program, interpreter;
	uint64_t program_bias, interpreter_bias; /* from linked to actual addresses */
	uint64_t vdso;				 /* AT_SYSINFO_EHDR, or 0 */
	/* Addresses that other processes got: their programs' and their vdsos'. */
	uint64_t draws[PLACE_DRAWS];
	size_t draw_count;
	unsigned random_bits; /* vm.mmap_rnd_bits, or 0 where it cannot be read */
	bool loaded; /* by ourselves: even a program with fixed addresses is elsewhere */
	bool vdso_written; /* its code is overwritten for a while */
	bool silent; /* memory cannot be made executable again: perf will not know */
};

/* Empty. */
void place_image_init(struct place_image *image);

/* The program's parts that keep their inner distances. */
enum place_part {
	PLACE_PROGRAM,
	PLACE_INTERPRETER,
	PLACE_KERNEL,
	PLACE_TOP,
	PLACE_PARTS
};

struct place_range {
	uint64_t start, end; /* before */
	uint64_t shift;	     /* to be added, modulo 2^64 */
	bool sealed;	     /* stays, as the kernel does not let it move */
};

enum { PLACE_PAGE_ROOM = REMOTE_PAGE_MOST };

struct place_layout {
	struct place_range parts[PLACE_PARTS]; /* empty ones where there is none */
	bool hop; /* old and new places overlap: all goes by way of `hop_shift` */
	uint64_t hop_shift[PLACE_PARTS];
	uint64_t ceiling, fill_end;
	/* What is sealed leaves its room below the ceiling free, which is filled as well,
	 * so that all others are where they would be. */
	uint64_t room_start, room_end;
	uint64_t brk;  /* where the heap will begin */
	uint64_t page; /* PLACE_PAGE_ROOM free bytes, for the calls */
};

/* Ends of what is filled: the highest bases with and without randomisation for stacks of
 * up to 128 MiB (arch/x86/mm/mmap.c: mmap_base). */
#define PLACE_FILL_END	   0x7ffff7fff000
#define PLACE_CEILING	   0x7efbf7fff000 /* below every base of 28 random bits */
#define PLACE_CEILING_FAR  0x6ffbf7fff000 /* below every base of 32 random bits */
#define PLACE_STACK_TOP	   0x7ffffffff000
#define PLACE_PROGRAM_BASE 0x555555554000

/* Returns NULL, or why this program cannot be moved. With `sealed` the kernel's own
 * mappings stay where they are. */
const char *place_layout_make(
	struct place_layout *layout, const struct place_image *image, bool sealed);

/* Where an address of before is afterwards; unchanged outside of all parts. */
uint64_t place_layout_shift(const struct place_layout *layout, uint64_t address);

/* The part that a mapping belongs to, or -1. */
int place_layout_part(const struct place_layout *layout, const struct place_map *map);

#endif
