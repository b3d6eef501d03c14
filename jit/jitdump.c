/* Writing a jitdump. */
#include "jit/jitdump.h"

#include "jit/code_info.h"
#include "jit/frame_info.h"
#include "jit/symbols.h"
#include "launcher/base.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	MAGIC = 0x4a695444, /* "JiTD" */
	VERSION = 1,
	HEADER_SIZE = 40,
	CODE_LOAD = 0,
	CODE_DEBUG_INFO = 2,
	CODE_CLOSE = 3,
	CODE_UNWINDING_INFO = 4,
	RECORD_ALIGN = 8,
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

/* Begins a record; its size is set by end_record(). Returns where it begins. */
static size_t begin_record(struct buffer *out, uint32_t id)
{
	size_t start = out->size;

	buffer_u32(out, id);
	buffer_u32(out, 0);
	buffer_u64(out, now());
	return start;
}

static void end_record(struct buffer *out, size_t start)
{
	buffer_set_u32(out, start + 4, (uint32_t)(out->size - start));
}

static bool flush(struct jitdump *dump)
{
	struct iovec piece = {dump->records.bytes, dump->records.size};
	bool failed = dump->records.failed;

	buffer_clear(&dump->records);
	if (failed) {
		warn("out of memory: code is missing in '%s'", dump->file.path);
		return false;
	}
	return outfile_write(&dump->file, &piece, 1);
}

static void map_marker(struct jitdump *dump)
{
	dump->marker_size = (size_t)sysconf(_SC_PAGESIZE);
	dump->marker = mmap(NULL, dump->marker_size, PROT_READ | PROT_EXEC, MAP_PRIVATE,
		dump->file.fd, 0);
	if (dump->marker != MAP_FAILED)
		return;
	dump->marker = NULL;
	warn("cannot map '%s' executable: %s; perf will not find it by itself",
		dump->file.path, strerror(errno));
}

bool jitdump_open(struct jitdump *dump, const char *directory)
{
	char name[64];
	struct buffer *out = &dump->records;

	*dump = (struct jitdump){0};
	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	if (!outfile_open(&dump->file, directory, name))
		return false;
	buffer_u32(out, MAGIC);
	buffer_u32(out, VERSION);
	buffer_u32(out, HEADER_SIZE);
	buffer_u32(out, EM_X86_64);
	buffer_u32(out, 0);
	buffer_u32(out, (uint32_t)getpid());
	buffer_u64(out, now());
	buffer_u64(out, 0); /* flags: stamps are not the processor's */
	if (flush(dump))
		map_marker(dump);
	return dump->file.fd >= 0;
}

/* The specification lets "\xff" stand for the name before it; perf 6.1 does not know
 * that. */
static void put_entry(struct buffer *out, const struct code_info *code, uint64_t address,
	int line, uint32_t discrim)
{
	buffer_u64(out, address);
	buffer_u32(out, (uint32_t)line);
	buffer_u32(out, discrim);
	buffer_string(out, code->file);
}

static void put_debug_info(struct buffer *out, const struct code_info *code,
	const struct symbols_line *lines, size_t line_count)
{
	size_t count = line_count ? line_count : code->row_count;
	size_t start;

	if (count == 0 || !*code->file)
		return;
	start = begin_record(out, CODE_DEBUG_INFO);
	buffer_u64(out, code->address);
	buffer_u64(out, count);
	for (size_t i = 0; i < count; i++) {
		uint32_t offset = line_count ? lines[i].offset : code->rows[i].offset;
		int line = line_count ? lines[i].line : code->rows[i].line;
		uint32_t discrim =
			line_count ? JITDUMP_DISCRIM(lines[i].bytecode, lines[i].opcode)
				   : 0;

		put_entry(out, code, code->address + offset,
			line > 0 ? line : code->first_line, discrim);
	}
	buffer_align(out, RECORD_ALIGN, 0);
	end_record(out, start);
}

static void put_unwinding(struct jitdump *dump, const struct code_info *code)
{
	struct buffer *out = &dump->records;
	size_t start = begin_record(out, CODE_UNWINDING_INFO);
	size_t header;

	buffer_clear(&dump->unwinding);
	header = frame_info_eh(&dump->unwinding, (const void *)code->address, code->size);
	out->failed |= dump->unwinding.failed;
	buffer_u64(out, dump->unwinding.size);
	buffer_u64(out, header);
	buffer_u64(out, dump->unwinding.size); /* mapped */
	buffer_put(out, dump->unwinding.bytes, dump->unwinding.size);
	buffer_align(out, RECORD_ALIGN, 0);
	end_record(out, start);
}

static void put_code(struct buffer *out, const struct code_info *code)
{
	size_t start = begin_record(out, CODE_LOAD);

	buffer_u32(out, (uint32_t)getpid());
	buffer_u32(out, (uint32_t)syscall(SYS_gettid));
	buffer_u64(out, code->address); /* vma */
	buffer_u64(out, code->address);
	buffer_u64(out, code->size);
	buffer_u64(out, code->index);
	buffer_string(out, code->symbol);
	buffer_put(out, (const void *)code->address, code->size);
	end_record(out, start);
}

void jitdump_load(struct jitdump *dump, const struct code_info *code,
	const struct symbols_line *lines, size_t line_count)
{
	if (dump->file.fd < 0)
		return;
	put_debug_info(&dump->records, code, lines, line_count);
	put_unwinding(dump, code);
	put_code(&dump->records, code);
	flush(dump);
}

void jitdump_close(struct jitdump *dump)
{
	if (dump->file.fd >= 0) {
		size_t start = begin_record(&dump->records, CODE_CLOSE);

		end_record(&dump->records, start);
		flush(dump);
	}
	jitdump_abandon(dump);
}

void jitdump_abandon(struct jitdump *dump)
{
	if (dump->marker)
		munmap(dump->marker, dump->marker_size);
	outfile_close(&dump->file);
	buffer_release(&dump->records);
	buffer_release(&dump->unwinding);
	dump->marker = NULL;
}
