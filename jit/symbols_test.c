/* Unit tests of what the symbols are written with: files, the log's reader, tables,
 * LEB128. */
#include "jit/buffer.h"
#include "jit/code_info.h"
#include "jit/frame_info.h"
#include "jit/outfile.h"
#include "jit/patchlog.h"
#include "jit/symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char program_name[] = "symbols_test";

static int failures;

#define check(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                     \
		}                                                                       \
	} while (0)

static void test_buffer(void)
{
	/* DWARF 4, figures 22 and 23. */
	static const uint8_t want[] = {2, 127, 0x80, 1, 0x81, 1, 0x80 + 57, 100, 2, 0x7e,
		127 + 0x80, 0, 0x80 + 1, 0x7f, 0x80, 1, 0x80, 0x7f, 0x80 + 1, 1,
		0x80 + 127, 0x7e};
	struct buffer buffer = {0};

	buffer_uleb(&buffer, 2);
	buffer_uleb(&buffer, 127);
	buffer_uleb(&buffer, 128);
	buffer_uleb(&buffer, 129);
	buffer_uleb(&buffer, 12857);
	buffer_sleb(&buffer, 2);
	buffer_sleb(&buffer, -2);
	buffer_sleb(&buffer, 127);
	buffer_sleb(&buffer, -127);
	buffer_sleb(&buffer, 128);
	buffer_sleb(&buffer, -128);
	buffer_sleb(&buffer, 129);
	buffer_sleb(&buffer, -129);
	check(buffer.size == sizeof(want) &&
		memcmp(buffer.bytes, want, sizeof(want)) == 0);
	buffer_clear(&buffer);
	for (int i = 0; i < 1000; i++)
		buffer_format(&buffer, "%d,", i);
	check(buffer.size == 10 * 2 + 90 * 3 + 900 * 4 && !buffer.failed);
	buffer_align(&buffer, 64, 7);
	check(buffer.size % 64 == 0 && buffer.bytes[buffer.size - 1] == 7);
	buffer_release(&buffer);
}

static void test_table(void)
{
	static const struct symbols_line lines[] = {
		{4, 11, 0, 1}, {6, 11, 1, 1}, {8, 0, 2, 1}, {9, 12, 3, 1}};
	struct symbols_code code = {
		.address = (void *)0x1000,
		.size = 32,
		.name = "a.b",
		.file = "/x/y\nz.py",
		.first_line = 10,
		.lines = lines,
		.line_count = 4,
		.kind = "trampoline",
	};
	struct code_table table = {0};
	struct code_info *info = code_info_new(&code, 5);

	check(strcmp(info->symbol, "a.b (y?z.py:10) [trampoline]") == 0);
	check(info->row_count == 4 && info->rows[0].offset == 0 &&
		info->rows[0].line == 10);
	check(info->rows[1].offset == 4 && info->rows[1].line == 11);
	check(info->rows[2].offset == 8 && info->rows[2].line == 10);
	check(info->rows[3].offset == 9 && info->rows[3].line == 12);
	check(code_table_add(&table, info));
	for (int i = 1; i < 100; i++) {
		code.address = (void *)(uintptr_t)(0x1000 + 64 * ((i * 37) % 100));
		check(code_table_add(&table, code_info_new(&code, 0)));
	}
	check(table.count == 100);
	for (size_t i = 1; i < table.count; i++)
		check(table.codes[i - 1]->address + 64 == table.codes[i]->address);
	/* One that covers the ends of two takes the place of three. */
	code.address = (void *)(0x1000 + 64 * 10 + 31);
	code.size = 64 * 2;
	check(code_table_add(&table, code_info_new(&code, 0)) && table.count == 98);
	check(code_table_find(&table, 0x1000 + 64 * 10) == 10);
	check(!code_table_take(&table, 0x1000 + 64 * 11));
	info = code_table_take(&table, 0x1000 + 64 * 13);
	check(info && table.count == 97 &&
		code_info_bytes(info) == (void *)info->address);
	code_info_free(info);
	code_table_drop(&table, 0x1000, 64 * 5);
	check(table.count == 92);
	code_table_release(&table);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	fputs(text, file);
	fclose(file);
}

static void test_outfile(void)
{
	struct outfile file;
	struct stat status;
	char directory[] = "/tmp/symbols_test.XXXXXX", path[64];

	check(mkdtemp(directory) != NULL);
	check(chdir(directory) == 0);
	/* An earlier file of ours goes, with all that shares it. */
	write_file("old", "stale");
	check(outfile_open(&file, directory, "old"));
	check(fstat(file.fd, &status) == 0 && status.st_size == 0);
	check((status.st_mode & 0777) == 0644 || (status.st_mode & 022) == 0);
	check(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
	outfile_close(&file);
	/* Links never: the file behind them keeps its text. */
	write_file("victim", "precious");
	check(symlink("victim", "link") == 0 && link("victim", "hard") == 0);
	check(symlink("nowhere", "dangling") == 0 && mkdir("dir", 0700) == 0);
	fprintf(stderr, "four refusals follow:\n");
	check(!outfile_open(&file, directory, "link") && file.fd == -1);
	check(!outfile_open(&file, directory, "hard"));
	check(!outfile_open(&file, directory, "dangling"));
	check(!outfile_open(&file, directory, "dir"));
	check(stat("victim", &status) == 0 && status.st_size == 8);
	check(access("nowhere", F_OK) != 0);
	if (geteuid() == 0) {
		check(chown("old", 65534, 65534) == 0);
		fprintf(stderr, "one more:\n");
		check(!outfile_open(&file, directory, "old"));
	}
	/* Closed, given up: nothing happens any more. */
	check(!outfile_write(&file, &(struct iovec){path, 1}, 1));
	for (const char *const *name = (const char *const[]){"old", "victim", "link",
		     "hard", "dangling", NULL};
		*name; name++)
		unlink(*name);
	rmdir("dir");
	check(chdir("/") == 0 && rmdir(directory) == 0);
}

static void test_patchlog(void)
{
	static const char text[] = "# comment\n"
				   "patch 12 6000a0 00ff 1122 why not\n"
				   "later 1 2 3\n"
				   "unload 13 6000a0 77\n"
				   "object 14 7fff00 my_type {'a': 1}\n"
				   "patch 15 6000a0 00ff 11223 odd\n"
				   "patch 15 6000a0 00fg 1122 digit\n"
				   "patch x 6000a0 00ff 1122 clock\n"
				   "unload 99999999999999999999999 1 1\n"
				   "patch 16 1 00 01 \n"
				   "patch 17 1 00 0";
	const char *at = text;
	size_t size = sizeof(text) - 1;
	struct patchlog_event event;
	uint8_t bytes[2];

	check(patchlog_next(&at, &size, &event) == 1 && event.kind == PATCHLOG_PATCH);
	check(event.clock == 12 && event.address == 0x6000a0 && event.size == 2);
	patchlog_bytes(event.old, event.size, bytes);
	check(bytes[0] == 0 && bytes[1] == 0xff);
	patchlog_bytes(event.new, event.size, bytes);
	check(bytes[0] == 0x11 && bytes[1] == 0x22);
	check(event.text_length == 7 && memcmp(event.text, "why not", 7) == 0);
	check(patchlog_next(&at, &size, &event) == 1 && event.kind == PATCHLOG_UNLOAD);
	check(event.size == 77);
	check(patchlog_next(&at, &size, &event) == 1 && event.kind == PATCHLOG_OBJECT);
	check(event.type_length == 7 && memcmp(event.type, "my_type", 7) == 0);
	check(event.text_length == 8 && memcmp(event.text, "{'a': 1}", 8) == 0);
	for (int i = 0; i < 4; i++)
		check(patchlog_next(&at, &size, &event) == -1);
	check(patchlog_next(&at, &size, &event) == 1 && event.clock == 16);
	check(event.text_length == 0);
	check(patchlog_next(&at, &size, &event) == 0);
}

/* Any bytes, cut anywhere: no crash, and always an end (ASan sees reads past the copy).
 */
static void test_patchlog_bad(void)
{
	static const char words[] =
		"patch 1 a 00 11 x\nunload 1 b 2\nobject 3 c d e\n#\n";
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		size_t size = (seed = seed * 1103515245 + 12345) % 100;
		char *copy = malloc(size + 1);
		const char *at = copy;
		struct patchlog_event event;
		int turns = 0;

		for (size_t i = 0; i < size; i++) {
			seed = seed * 1103515245 + 12345;
			copy[i] = seed >> 28 ? words[(i + seed / 65536 % 2) %
						       (sizeof(words) - 1)]
					     : (char)(seed >> 16);
		}
		while (patchlog_next(&at, &size, &event) != 0 && turns++ < 200)
			;
		check(turns < 200);
		free(copy);
	}
}

/* What is mapped behind the code must fit into the room there, however many epilogues. */
static void test_frame_size(void)
{
	uint8_t code[4096];
	struct buffer out = {0};
	size_t header;

	for (size_t i = 0; i < sizeof(code); i += 2)
		memcpy(code + i, "\x5d\xc3", 2);
	memcpy(code, "\x55\x48\x89\xe5\x41\x54\x41\x55\x53", 9);
	header = frame_info_eh(&out, code, sizeof(code));
	check(header == 20 && out.size <= FRAME_INFO_EH_MAX && out.size % 4 == 0);
	buffer_release(&out);
}

int main(void)
{
	test_buffer();
	test_table();
	test_outfile();
	test_patchlog();
	test_patchlog_bad();
	test_frame_size();
	return failures ? 1 : 0;
}
