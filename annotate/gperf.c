/* A gperftools profile is words of the machine: a header (0, 3, 0, period in microseconds, 0),
 * then samples (count, depth, that many addresses, the nearest first), a trailer (0, 1, 0),
 * and the text of /proc/self/maps. */
#include "annotate/gperf.h"
#include "annotate/attr.h"
#include "annotate/bytes.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORD = 8,
	HEADER_WORDS = 5,
	ATTR_SIZE = 64,
	RECORD_HEADER = 8,
	DEEPEST = 512, /* libprofiler itself stops at 254 */
	RECORD_COMM = 3,
	RECORD_MMAP2 = 10,
	RECORD_SAMPLE = 9,
	RECORD_ATTR = 64,
	MODE_USER = 2,
	LINE_ROOM = 4096,
	MOST_BYTES = 1 << 28, /* of samples: four million, hours of running */
};

static const uint64_t PIPE_MAGIC = 0x32454c4946524550;
static const uint64_t CONTEXT_USER = (uint64_t)-512;
/* All code had been emitted when the profile was written. */
static const uint64_t SAMPLE_TIME = UINT64_MAX / 2;

struct stream {
	uint8_t *data;
	size_t used, room;
};

static void put(struct stream *stream, const void *bytes, size_t size)
{
	if (stream->used + size > stream->room) {
		stream->room = stream->room * 2 + size + 4096;
		stream->data = xrealloc(stream->data, stream->room);
	}
	memcpy(stream->data + stream->used, bytes, size);
	stream->used += size;
}

static void put16(struct stream *stream, uint16_t value)
{
	put(stream, &value, sizeof(value));
}

static void put32(struct stream *stream, uint32_t value)
{
	put(stream, &value, sizeof(value));
}

static void put64(struct stream *stream, uint64_t value)
{
	put(stream, &value, sizeof(value));
}

static void put_header(struct stream *stream, uint32_t type, size_t body)
{
	put32(stream, type);
	put16(stream, MODE_USER);
	put16(stream, (uint16_t)(RECORD_HEADER + body));
}

bool gperf_is(const struct file *file)
{
	static const uint64_t header[] = {0, 3, 0};

	return file->size >= HEADER_WORDS * WORD &&
	       memcmp(file->data, header, sizeof(header)) == 0;
}

static void put_attr(struct stream *stream, uint64_t period)
{
	put64(stream, PIPE_MAGIC);
	put64(stream, 16);
	put_header(stream, RECORD_ATTR, ATTR_SIZE);
	put32(stream, 1); /* a software event: the cpu's clock */
	put32(stream, ATTR_SIZE);
	put64(stream, 0);
	put64(stream, period * 1000);
	put64(stream, ATTR_IP | ATTR_TID | ATTR_TIME | ATTR_CALLCHAIN);
	for (int i = 0; i < 4; i++)
		put64(stream, 0);
}

static void put_sample(
	struct stream *stream, struct bytes stack, uint64_t depth, uint32_t pid)
{
	struct bytes first = stack;

	put_header(stream, RECORD_SAMPLE, (size_t)(5 + depth) * WORD);
	put64(stream, bytes_u64(&first));
	put32(stream, pid);
	put32(stream, pid);
	put64(stream, SAMPLE_TIME);
	put64(stream, depth + 1);
	put64(stream, CONTEXT_USER);
	put(stream, stack.at, (size_t)depth * WORD);
}

static void put_mapping(struct stream *stream, const char *line, uint32_t pid)
{
	char mode[5], path[LINE_ROOM] = "";
	uint64_t start, end, offset;
	uint32_t major, minor;
	uint64_t inode;

	if (sscanf(line,
		    "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64
		    " %4095[^\n]",
		    &start, &end, mode, &offset, &major, &minor, &inode, path) < 7 ||
		!strchr(mode, 'x') || end < start)
		return;
	if (!path[0])
		strcpy(path, "//anon");
	size_t length = (strlen(path) + 8) & ~(size_t)7;
	put_header(stream, RECORD_MMAP2, 64 + length);
	put32(stream, pid);
	put32(stream, pid);
	put64(stream, start);
	put64(stream, end - start);
	put64(stream, offset);
	put32(stream, major);
	put32(stream, minor);
	put64(stream, inode);
	put64(stream, 0);
	put32(stream, 5); /* PROT_READ | PROT_EXEC */
	put32(stream, 2); /* MAP_PRIVATE */
	put(stream, path, strlen(path));
	for (size_t i = strlen(path); i < length; i++)
		put(stream, "", 1);
}

/* The first mapping is the program's: its name is the command's. */
static void put_command(struct stream *stream, struct bytes text, uint32_t pid)
{
	const uint8_t *newline = memchr(text.at, '\n', bytes_left(&text));
	const uint8_t *slash =
		newline ? memrchr(text.at, '/', (size_t)(newline - text.at)) : NULL;
	char name[16] = ""; /* as long as the kernel's are */

	if (!slash)
		return;
	size_t length = (size_t)(newline - slash) - 1;
	memcpy(name, slash + 1, length < sizeof(name) ? length : sizeof(name) - 1);
	put_header(stream, RECORD_COMM, 8 + sizeof(name));
	put32(stream, pid);
	put32(stream, pid);
	put(stream, name, sizeof(name));
}

static void put_mappings(struct stream *stream, struct bytes text, uint32_t pid)
{
	put_command(stream, text, pid);
	while (bytes_left(&text)) {
		char line[LINE_ROOM];
		const uint8_t *newline = memchr(text.at, '\n', bytes_left(&text));
		size_t length = newline ? (size_t)(newline - text.at) : bytes_left(&text);
		size_t kept = length < sizeof(line) ? length : sizeof(line) - 1;
		memcpy(line, text.at, kept);
		line[kept] = '\0';
		put_mapping(stream, line, pid);
		bytes_skip(&text, length + (newline != NULL));
	}
}

/* Samples of one stack are counted together: as many records as there were. */
static int put_samples(
	struct stream *stream, struct bytes *bytes, uint32_t pid, struct fault *fault)
{
	for (;;) {
		uint64_t count = bytes_u64(bytes), depth = bytes_u64(bytes);
		if (bytes->failed)
			return 0;
		struct bytes stack =
			bytes_part(bytes, depth > DEEPEST ? UINT64_MAX : depth * WORD);
		if (count == 0 && depth == 1)
			return 1;
		if (stack.failed)
			return 0;
		if (depth == 0 || count > UINT32_MAX / (8 * WORD))
			return fault_set(fault, "a sample of its profile is not valid");
		for (uint64_t i = 0; i < count; i++) {
			if (stream->used > MOST_BYTES)
				return fault_set(fault, "it holds too many samples");
			put_sample(stream, stack, depth, pid);
		}
	}
}

int gperf_convert(struct file *file, uint32_t pid, bool *cut, struct fault *fault)
{
	struct bytes bytes = bytes_of(file->data, file->size, false);
	struct stream samples = {0}, stream = {0};

	bytes_skip(&bytes, 3 * WORD);
	put_attr(&stream, bytes_u64(&bytes));
	bytes_skip(&bytes, WORD);
	int result = put_samples(&samples, &bytes, pid, fault);
	*cut = result == 0;
	if (result < 0) {
		free(samples.data);
		free(stream.data);
		return -1;
	}
	if (result > 0)
		put_mappings(&stream, bytes, pid);
	put(&stream, samples.data ? samples.data : (uint8_t *)"", samples.used);
	free(samples.data);
	unsigned owner = file->owner;
	file_close(file);
	*file = (struct file){.data = stream.data, .size = stream.used, .owner = owner};
	return 0;
}
