/* Executable memory without a file, asked from /proc/PID/maps: by its PROCMAP_QUERY where
 * the kernel has it (Linux 6.11), which finds one mapping in a microsecond, else by
 * reading the whole. */
#include "launcher/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/task.h"

/* include/uapi/linux/fs.h, newer than the headers we build with. */
struct procmap_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size;
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};
#define PROCMAP_QUERY_IOCTL _IOWR('f', 17, struct procmap_query)
enum {
	QUERY_EXECUTABLE = 0x04,
	QUERY_SHARED = 0x08,
	QUERY_COVERING_OR_NEXT = 0x10,
};

enum {
	NAME_SIZE = 4096 + 64,
	PAGE = 4096,
	LINE_SIZE = NAME_SIZE + 128,
};

/* One executable mapping, however it was found. */
struct mapping {
	uint64_t begin, end, inode;
	bool shared;
	char name[NAME_SIZE];
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

static bool is_code_without_file(const struct mapping *mapping)
{
	if (mapping->inode)
		return mapping->shared || ends_with(mapping->name, " (deleted)");
	/* [anon:NAME] is what the program itself called it (PR_SET_VMA_ANON_NAME). */
	return mapping->name[0] != '[' || !strncmp(mapping->name, "[anon", 5) ||
	       !strcmp(mapping->name, "[heap]") || !strcmp(mapping->name, "[stack]");
}

/* 1, 0 at the end, -1 with errno: ENOTTY where the kernel does not know the question. */
static int query(int maps, uint64_t from, struct mapping *mapping)
{
	struct procmap_query query = {
		.size = sizeof(query),
		.query_flags = QUERY_EXECUTABLE | QUERY_COVERING_OR_NEXT,
		.query_addr = from,
		.vma_name_size = NAME_SIZE,
		.vma_name_addr = (uint64_t)(uintptr_t)mapping->name,
	};

	mapping->name[0] = '\0';
	if (ioctl(maps, PROCMAP_QUERY_IOCTL, &query))
		return errno == ENOENT ? 0 : -1;
	mapping->begin = query.vma_start;
	mapping->end = query.vma_end;
	mapping->inode = query.inode;
	mapping->shared = query.vma_flags & QUERY_SHARED;
	if (!query.vma_name_size)
		mapping->name[0] = '\0';
	return 1;
}

/* proc(5): "BEGIN-END PERMS OFFSET DEV INODE   NAME". False where it is not executable.
 */
static bool parse_line(const char *line, struct mapping *mapping)
{
	char permissions[5] = "";
	int name = 0;
	unsigned long begin, end, inode;

	if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu %n", &begin, &end, permissions,
		    &inode, &name) < 4 ||
		permissions[2] != 'x')
		return false;
	mapping->begin = begin;
	mapping->end = end;
	mapping->inode = inode;
	mapping->shared = permissions[3] == 's';
	snprintf(mapping->name, sizeof(mapping->name), "%s", name ? line + name : "");
	mapping->name[strcspn(mapping->name, "\n")] = '\0';
	return true;
}

/* The same as query(), from the text. */
static int search(const struct process *process, uint64_t from, struct mapping *mapping)
{
	char path[64], line[LINE_SIZE];
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process->alive);
	FILE *stream = fopen(path, "re");
	if (!stream)
		return -1;
	while (!found && fgets(line, sizeof(line), stream))
		found = parse_line(line, mapping) && mapping->end > from;
	fclose(stream);
	return found;
}

int region_next(
	struct process *process, uint64_t from, uint64_t to, struct region *region)
{
	struct mapping mapping;
	int maps = process_maps(process);

	if (maps < 0)
		return -1;
	while (from < to) {
		int found = query(maps, from, &mapping);
		if (found < 0 && errno == ENOTTY)
			found = search(process, from, &mapping);
		if (found <= 0)
			return found;
		if (mapping.begin >= to)
			return 0;
		if (is_code_without_file(&mapping)) {
			*region = (struct region){
				mapping.begin, mapping.end, mapping.shared};
			return 1;
		}
		from = mapping.end;
	}
	return 0;
}

/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)

enum {
	/* Shared memory up to this size is read whole: a page that this process never
	 * touched through this mapping may have been written through another. */
	SHARED_WHOLE = 16 << 20,
	ENTRIES = 512,
};

/* Pages of from..to that are there, a bit for each of at most ENTRIES. False where the
 * kernel does not say. */
static bool read_pagemap(
	int pagemap, uint64_t from, uint64_t to, uint64_t entries[ENTRIES])
{
	size_t size = (to - from) / PAGE * sizeof(uint64_t);

	return pread(pagemap, entries, size, (off_t)(from / PAGE * sizeof(uint64_t))) ==
	       (ssize_t)size;
}

int region_next_pages(struct process *process, const struct region *region, uint64_t from,
	uint64_t to, uint64_t *begin, uint64_t *end)
{
	uint64_t entries[ENTRIES];
	int pagemap = process_pagemap(process);

	if (from >= to)
		return 0;
	*begin = from;
	*end = to;
	if (pagemap < 0 ||
		(region->shared && region->end - region->begin <= SHARED_WHOLE))
		return 1;
	*end = 0;
	for (uint64_t at = from, next; at < to; at = next) {
		next = to - at > ENTRIES * PAGE ? at + ENTRIES * PAGE : to;
		if (!read_pagemap(pagemap, at, next, entries)) {
			*end = to;
			return 1;
		}
		for (uint64_t page = at; page < next; page += PAGE) {
			bool held = entries[(page - at) / PAGE] &
				    (PAGEMAP_PRESENT | PAGEMAP_SWAPPED);
			if (held && !*end)
				*begin = page;
			else if (!held && *end)
				return 1;
			if (held)
				*end = page + PAGE;
		}
	}
	return *end != 0;
}
