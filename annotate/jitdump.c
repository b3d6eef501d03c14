/* Reading jitdump files of both versions and byte orders. */
#include "annotate/jitdump.h"

#include <errno.h>

static const uint32_t MAGIC = 0x4a695444; /* "JiTD" */

enum {
	HEADER_LEAST = 40,
	RECORD_HEADER = 16,
	FLAG_ARCH_TIMESTAMP = 1,
};

static int read_header(struct jitdump *dump, struct fault *fault)
{
	struct bytes header = bytes_of(dump->file.data, dump->file.size, false);
	uint32_t magic = bytes_u32(&header);

	if (dump->file.size == 0)
		return fault_set(fault, "it is empty");
	if (dump->file.size >= 4 && magic != MAGIC && magic != __builtin_bswap32(MAGIC))
		return fault_set(fault, "it is no jitdump");
	dump->swap = header.swap = magic != MAGIC;
	dump->version = bytes_u32(&header);
	uint32_t size = bytes_u32(&header);
	dump->machine = bytes_u32(&header);
	bytes_skip(&header, 4);
	dump->pid = bytes_u32(&header);
	bytes_skip(&header, 8); /* time of creation */
	dump->arch_stamps = bytes_u64(&header) & FLAG_ARCH_TIMESTAMP;
	if (header.failed)
		return fault_set(fault, "it is cut in its header: %zu of %d bytes",
			dump->file.size, HEADER_LEAST);
	if (dump->version < 1 || dump->version > 2)
		return fault_set(fault, "its version %u is not known", dump->version);
	if (size < HEADER_LEAST || size > dump->file.size)
		return fault_set(fault, "its header of %u bytes is not valid", size);
	dump->position = size;
	return 0;
}

int jitdump_open(struct jitdump *dump, const char *path, struct fault *fault)
{
	*dump = (struct jitdump){0};
	if (file_open(&dump->file, path) < 0)
		return fault_set(fault, "%s", strerror(errno));
	if (read_header(dump, fault) < 0) {
		file_close(&dump->file);
		return -1;
	}
	return 0;
}

void jitdump_close(struct jitdump *dump)
{
	file_close(&dump->file);
}

static bool read_body(struct jitdump_record *record, struct bytes body)
{
	switch (record->kind) {
	case JITDUMP_LOAD:
	case JITDUMP_MOVE:
		record->pid = bytes_u32(&body);
		record->tid = bytes_u32(&body);
		bytes_skip(&body, 8); /* vma, the same as the address */
		if (record->kind == JITDUMP_MOVE)
			record->old_address = bytes_u64(&body);
		record->address = bytes_u64(&body);
		record->size = bytes_u64(&body);
		record->index = bytes_u64(&body);
		if (record->kind == JITDUMP_MOVE)
			break;
		record->name = bytes_string(&body);
		record->code = bytes_take(&body, record->size);
		break;
	case JITDUMP_DEBUG_INFO:
		record->address = bytes_u64(&body);
		record->line_count = bytes_u64(&body);
		record->lines = body;
		break;
	case JITDUMP_UNWINDING_INFO: {
		uint64_t size = bytes_u64(&body);
		record->unwind_header_size = bytes_u64(&body);
		bytes_skip(&body, 8); /* mapped size */
		record->unwind = bytes_part(&body, size);
		break;
	}
	}
	return !body.failed && record->address + record->size >= record->address;
}

static int cut(struct jitdump *dump, const char *what)
{
	if (!dump->cut)
		fault_set(&dump->fault, "%s at byte %llu of %zu", what,
			(unsigned long long)dump->position, dump->file.size);
	dump->cut = true;
	return 0;
}

int jitdump_next(struct jitdump *dump, struct jitdump_record *record)
{
	struct bytes bytes = bytes_of(dump->file.data, dump->file.size, dump->swap);

	bytes_skip(&bytes, dump->position);
	if (!bytes_left(&bytes))
		return 0;
	*record = (struct jitdump_record){.offset = dump->position};
	record->kind = bytes_u32(&bytes);
	uint32_t size = bytes_u32(&bytes);
	record->time = bytes_u64(&bytes);
	if (!bytes.failed && size < RECORD_HEADER) {
		/* Zeros at the end are room that the runtime had reserved. */
		for (size_t i = dump->position; i < dump->file.size; i++)
			if (dump->file.data[i])
				return cut(dump, "a record is not valid");
		return 0;
	}
	struct bytes body =
		bytes_part(&bytes, bytes.failed ? UINT64_MAX : size - RECORD_HEADER);
	if (body.failed)
		return cut(dump, "it is cut in a record");
	if (!read_body(record, body))
		return cut(dump, "a record is not valid");
	dump->position += size;
	return 1;
}

int jitdump_line(struct jitdump_record *record, uint64_t *address, uint32_t *line,
	uint32_t *discriminator, const char **file)
{
	if (!record->line_count)
		return 0;
	record->line_count--;
	*address = bytes_u64(&record->lines);
	*line = bytes_u32(&record->lines);
	*discriminator = bytes_u32(&record->lines);
	const char *name = bytes_string(&record->lines);
	if (!name)
		return 0;
	/* "\xff" alone repeats the name of the entry before. */
	if (!((uint8_t)name[0] == 0xff && name[1] == '\0'))
		*file = name;
	return *file != NULL;
}
