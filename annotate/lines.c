/* DWARF line tables by libdw. */
#include "annotate/lines.h"
#include "launcher/base.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct lines {
	int fd;
	Dwarf *dwarf;
};

struct lines *lines_open(struct module *module)
{
	const char *path = module->found_debug ? module->found_debug : module->found;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;

	if (!dwarf) {
		base_close_descriptor(&fd);
		return NULL;
	}
	struct lines *lines = xcalloc(1, sizeof(*lines));
	lines->fd = fd;
	lines->dwarf = dwarf;
	return lines;
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	dwarf_end(lines->dwarf);
	base_close_descriptor(&lines->fd);
	free(lines);
}

static bool covers(Dwarf_Die *unit, uint64_t address)
{
	return dwarf_haspc(unit, address) > 0;
}

/* Most files have .debug_aranges; what clang makes may not, and is searched. */
static bool find_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *unit)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	if (dwarf_addrdie(dwarf, address, unit))
		return true;
	while (dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL) == 0) {
		if (dwarf_offdie(dwarf, offset + header, unit) && covers(unit, address))
			return true;
		offset = next;
	}
	return false;
}

struct lines_entry *lines_of(
	struct lines *lines, uint64_t start, uint64_t end, size_t *count)
{
	Dwarf_Die unit;
	Dwarf_Attribute attribute;
	Dwarf_Lines *table;
	size_t size = 0;
	struct lines_entry *list = NULL;

	*count = 0;
	if (!find_unit(lines->dwarf, start, &unit) ||
		dwarf_getsrclines(&unit, &table, &size) != 0)
		return NULL;
	const char *directory =
		dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
	for (size_t i = 0; i < size; i++) {
		Dwarf_Line *line = dwarf_onesrcline(table, i);
		Dwarf_Addr address;
		int number;
		bool ends = false;
		if (!line || dwarf_lineaddr(line, &address) != 0 || address < start ||
			address >= end || dwarf_lineno(line, &number) != 0 ||
			dwarf_lineendsequence(line, &ends) != 0 || ends)
			continue;
		const char *file = dwarf_linesrc(line, NULL, NULL);
		if (!file)
			continue;
		if ((*count & (*count - 1)) == 0)
			list = xreallocarray(
				list, *count ? *count * 2 : 1, sizeof(*list));
		list[(*count)++] = (struct lines_entry){
			address, number > 0 ? (unsigned)number : 0, file, directory};
	}
	return list;
}

enum {
	DEEPEST = 64, /* levels of scopes that are followed */
};

struct search {
	uint64_t start, end;
	struct lines_inline *list;
	size_t count;
};

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static void add_inline(struct search *search, Dwarf_Die *die, unsigned depth)
{
	const char *name = name_of(die);
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (name && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end || end <= search->start || start >= search->end)
			continue;
		if ((search->count & (search->count - 1)) == 0)
			search->list = xreallocarray(search->list,
				search->count ? search->count * 2 : 1,
				sizeof(*search->list));
		search->list[search->count++] =
			(struct lines_inline){start, end, depth, name};
	}
}

static bool touches(Dwarf_Die *die, const struct search *search)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start < search->end && end > search->start)
			return true;
	return false;
}

/* Scopes are within scopes: only those that touch the function are looked into. */
static void walk(struct search *search, Dwarf_Die *parent, unsigned depth, unsigned level)
{
	Dwarf_Die die;

	if (level > DEEPEST || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);
		bool inlined = tag == DW_TAG_inlined_subroutine;
		if (tag == DW_TAG_namespace) {
			walk(search, &die, depth, level + 1);
			continue;
		}
		if (!inlined && tag != DW_TAG_subprogram && tag != DW_TAG_lexical_block)
			continue;
		if (!touches(&die, search))
			continue;
		if (inlined)
			add_inline(search, &die, depth + 1);
		walk(search, &die, depth + inlined, level + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

struct lines_inline *lines_inlines(
	struct lines *lines, uint64_t start, uint64_t end, size_t *count)
{
	struct search search = {.start = start, .end = end};
	Dwarf_Die unit;

	if (find_unit(lines->dwarf, start, &unit))
		walk(&search, &unit, 0, 0);
	*count = search.count;
	return search.list;
}
