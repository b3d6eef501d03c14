/* Writing patches.log. */
#include "jit/patchlog.h"

#include "launcher/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

bool patchlog_open(struct patchlog *log, const char *directory)
{
	char name[64];

	*log = (struct patchlog){0};
	snprintf(name, sizeof(name), "jit-%d.patches", (int)getpid());
	if (!outfile_open(&log->file, directory, name))
		return false;
	buffer_format(&log->lines, "# stablerun patches 1 pid %d\n", (int)getpid());
	patchlog_flush(log);
	return log->file.fd >= 0;
}

void patchlog_flush(struct patchlog *log)
{
	struct iovec piece = {log->lines.bytes, log->lines.size};
	bool failed = log->lines.failed;

	buffer_clear(&log->lines);
	if (log->file.fd < 0 || piece.iov_len == 0)
		return;
	if (failed)
		warn("out of memory: patches are missing in '%s'", log->file.path);
	else
		outfile_write(&log->file, &piece, 1);
}

static void put_hex(struct buffer *out, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		buffer_u8(out, (uint8_t)digits[bytes[i] >> 4]);
		buffer_u8(out, (uint8_t)digits[bytes[i] & 15]);
	}
	buffer_u8(out, ' ');
}

/* Text without control characters, and where `space` is not a space without spaces. */
static void put_text(struct buffer *out, const char *text, char space)
{
	for (; *text; text++) {
		char c = *text;

		if ((unsigned char)c < ' ' || c == 127)
			c = '?';
		buffer_u8(out, (uint8_t)(c == ' ' ? space : c));
	}
}

void patchlog_patch(struct patchlog *log, const void *address, const void *bytes,
	size_t size, const char *why)
{
	if (log->file.fd < 0)
		return;
	buffer_format(&log->lines, "patch %" PRIu64 " %" PRIxPTR " ", now(),
		(uintptr_t)address);
	put_hex(&log->lines, address, size);
	put_hex(&log->lines, bytes, size);
	put_text(&log->lines, why, ' ');
	buffer_u8(&log->lines, '\n');
	patchlog_flush(log);
}

void patchlog_unload(struct patchlog *log, const void *address, size_t size)
{
	if (log->file.fd < 0)
		return;
	buffer_format(&log->lines, "unload %" PRIu64 " %" PRIxPTR " %zu\n", now(),
		(uintptr_t)address, size);
	patchlog_flush(log);
}

void patchlog_object(
	struct patchlog *log, const void *object, const char *type, const char *repr)
{
	if (log->file.fd < 0)
		return;
	buffer_format(&log->lines, "object %" PRIu64 " %" PRIxPTR " ", now(),
		(uintptr_t)object);
	put_text(&log->lines, *type ? type : "?", '_');
	buffer_u8(&log->lines, ' ');
	put_text(&log->lines, repr, ' ');
	buffer_u8(&log->lines, '\n');
}

void patchlog_close(struct patchlog *log)
{
	patchlog_flush(log);
	outfile_close(&log->file);
	buffer_release(&log->lines);
}
