/* What /proc/PID/maps and /proc/PID/stat say of a process (man proc_pid_maps(5),
 * proc_pid_stat(5)). Pure: text in, numbers out. */
#ifndef LAUNCHER_PLACE_MAPS_H
#define LAUNCHER_PLACE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum place_kind {
	PLACE_PLAIN,	/* a file's or anonymous */
	PLACE_VDSO,	/* code of the kernel's that the program calls */
	PLACE_VVAR,	/* the data that belongs to it */
	PLACE_STACK,	/* the first thread's */
	PLACE_VSYSCALL, /* at its fixed address above all user memory */
	PLACE_ODD,	/* the kernel's, of a kind that is not known here */
};

struct place_map {
	uint64_t start, end;
	int protection;		/* PROT_… */
	uint64_t device, inode; /* of a file (major << 32 | minor), or 0 */
	enum place_kind kind;
};

/* Programs have a handful before their first instruction. */
enum { PLACE_MAPS = 128 };

struct place_maps {
	struct place_map items[PLACE_MAPS];
	size_t count;
};

/* Addresses that the kernel keeps of a process and PR_SET_MM_MAP can set. */
struct place_marks {
	uint64_t parent; /* process */
	uint64_t start_code, end_code, start_data, end_data;
	uint64_t start_brk, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
};

/* Return 0, or -1 where the text is not what it should be or has too many lines. */
int place_maps_parse(struct place_maps *maps, const char *text, size_t size);
int place_marks_parse(struct place_marks *marks, const char *text, size_t size);

/* The mapping that has the address, or NULL. */
const struct place_map *place_maps_find(const struct place_maps *maps, uint64_t address);

#endif
