/* place_maps: text of /proc, well formed and not, and this process's own. */
#include "launcher/place_maps.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/check.h"

const char program_name[] = "place_maps_test";

static const char maps_text[] =
	"555555554000-555555556000 r--p 00000000 fe:00 248056       /usr/bin/a [vdso]\n"
	"555555556000-55555555b000 r-xp 00002000 fe:00 248056       /usr/bin/a "
	"(deleted)\n"
	"555555560000-555555581000 rw-p 00000000 00:00 0            [heap]\n"
	"7ffff7fb0000-7ffff7fb1000 ---p 00000000 00:00 0 \n"
	"7ffff7fc0000-7ffff7fc2000 rw-p 00000000 00:00 0            [anon:a name]\n"
	"7ffff7fc2000-7ffff7fc6000 r--p 00000000 00:00 0            [vvar]\n"
	"7ffff7fc6000-7ffff7fc8000 r--p 00000000 00:00 0            [vvar_vclock]\n"
	"7ffff7fc8000-7ffff7fca000 r-xp 00000000 00:00 0            [vdso]\n"
	"7ffff7fcb000-7ffff7fcc000 --xp 00000000 00:00 0            [uprobes]\n"
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0            [stack]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n";

static void test_kinds(void)
{
	static const enum place_kind kinds[] = {PLACE_PLAIN, PLACE_PLAIN, PLACE_PLAIN,
		PLACE_PLAIN, PLACE_PLAIN, PLACE_VVAR, PLACE_VVAR, PLACE_VDSO, PLACE_ODD,
		PLACE_STACK, PLACE_VSYSCALL};
	struct place_maps maps;

	CHECK(!place_maps_parse(&maps, maps_text, strlen(maps_text)));
	CHECK(maps.count == sizeof(kinds) / sizeof(kinds[0]));
	for (size_t i = 0; i < maps.count; i++)
		CHECK(maps.items[i].kind == kinds[i]);
	CHECK(maps.items[1].start == 0x555555556000 &&
		maps.items[1].end == 0x55555555b000);
	CHECK(maps.items[1].protection == (PROT_READ | PROT_EXEC));
	CHECK(maps.items[3].protection == PROT_NONE);
	CHECK(maps.items[9].protection == (PROT_READ | PROT_WRITE));
	CHECK(maps.items[10].end == 0xffffffffff601000);
	CHECK(place_maps_find(&maps, 0x7ffffffde000) == &maps.items[9]);
	CHECK(!place_maps_find(&maps, 0x7ffffffff000));
}

/* A text that is cut off must not be read beyond its end; where it is cut inside a line
 * it is refused. */
static void test_cut(void)
{
	size_t size = strlen(maps_text);
	struct place_maps maps;

	for (size_t cut = 0; cut < size; cut++) {
		char *text = malloc(cut ? cut : 1);
		memcpy(text, maps_text, cut);
		int result = place_maps_parse(&maps, text, cut);
		free(text);
		CHECK(!result == (cut > 0 && maps_text[cut - 1] == '\n'));
	}
}

static void test_refused(void)
{
	static const char *const texts[] = {
		"",
		"\n",
		"5000-4000 r--p 00000000 00:00 0\n",
		"5000-5000 r--p 00000000 00:00 0\n",
		"x000-5000 r--p 00000000 00:00 0\n",
		"4000 5000 r--p 00000000 00:00 0\n",
		"4000-5000 r\n",
		"10000000000000000-20000000000000000 r--p 00000000 00:00 0\n",
	};
	struct place_maps maps;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(place_maps_parse(&maps, texts[i], strlen(texts[i])));
}

static void test_too_many(void)
{
	static const char line[] = "4000-5000 r--p 00000000 00:00 0\n";
	char text[(PLACE_MAPS + 1) * sizeof(line)];
	struct place_maps maps;

	for (size_t i = 0; i <= PLACE_MAPS; i++)
		memcpy(text + i * (sizeof(line) - 1), line, sizeof(line) - 1);
	CHECK(!place_maps_parse(&maps, text, PLACE_MAPS * (sizeof(line) - 1)));
	CHECK(place_maps_parse(&maps, text, (PLACE_MAPS + 1) * (sizeof(line) - 1)));
}

/* Numbers that each are their own field's, behind a name that tries to look like more. */
static void test_marks(void)
{
	char text[1024] = "4242 (a) b ( c)";
	struct place_marks marks;

	for (int field = 3; field <= 52; field++) {
		size_t used = strlen(text);
		if (field == 3)
			snprintf(text + used, sizeof(text) - used, " S");
		else
			snprintf(text + used, sizeof(text) - used, " %d",
				field == 6 ? -1 : 1000 + field);
	}
	strcat(text, "\n");
	CHECK(!place_marks_parse(&marks, text, strlen(text)));
	CHECK(marks.parent == 1004);
	CHECK(marks.start_code == 1026 && marks.end_code == 1027);
	CHECK(marks.start_stack == 1028 && marks.start_data == 1045);
	CHECK(marks.end_data == 1046 && marks.start_brk == 1047);
	CHECK(marks.arg_start == 1048 && marks.arg_end == 1049);
	CHECK(marks.env_start == 1050 && marks.env_end == 1051);
	CHECK(place_marks_parse(&marks, text, strlen(text) - 20));
	CHECK(place_marks_parse(&marks, "", 0));
	CHECK(place_marks_parse(&marks, "1 no name", 9));
}

static size_t read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY);
	size_t size = 0;
	ssize_t count;

	CHECK(fd >= 0);
	while ((count = read(fd, text + size, room - size)) > 0)
		size += (size_t)count;
	close(fd);
	return size;
}

/* What the kernel writes today, against what it told in other ways. */
static void test_own(char **argv)
{
	static char text[64 << 10];
	struct place_maps maps;
	struct place_marks marks;

	size_t size = read_file("/proc/self/maps", text, sizeof(text));
	if (place_maps_parse(&maps, text, size)) {
		/* A sanitizer's shadow takes more mappings than a new program has. */
		printf("own maps are too many for the table\n");
		return;
	}
	const struct place_map *map = place_maps_find(&maps, getauxval(AT_SYSINFO_EHDR));
	CHECK(map && map->kind == PLACE_VDSO);
	map = place_maps_find(&maps, (uint64_t)(uintptr_t)&size);
	CHECK(map && map->kind == PLACE_STACK);
	map = place_maps_find(&maps, (uint64_t)(uintptr_t)test_own);
	CHECK(map && map->kind == PLACE_PLAIN);
	CHECK(map->protection == (PROT_READ | PROT_EXEC));

	size = read_file("/proc/self/stat", text, sizeof(text));
	CHECK(!place_marks_parse(&marks, text, size));
	CHECK(marks.parent == (uint64_t)getppid());
	CHECK(marks.arg_start == (uint64_t)(uintptr_t)argv[0]);
	CHECK(marks.start_stack == (uint64_t)(uintptr_t)(argv - 1));
	CHECK(marks.env_end > marks.env_start && marks.env_start == marks.arg_end);
}

int main(int argc, char **argv)
{
	(void)argc;
	test_kinds();
	test_cut();
	test_refused();
	test_too_many();
	test_marks();
	test_own(argv);
	return 0;
}
