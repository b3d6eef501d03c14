/* DWARF line tables by libdw. */
#include "annotate/lines.h"
#include "launcher/base.h"

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
	Dwarf_Lines *table;
	size_t size = 0;
	struct lines_entry *list = NULL;

	*count = 0;
	if (!find_unit(lines->dwarf, start, &unit) ||
		dwarf_getsrclines(&unit, &table, &size) != 0)
		return NULL;
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
			address, number > 0 ? (unsigned)number : 0, file};
	}
	return list;
}
