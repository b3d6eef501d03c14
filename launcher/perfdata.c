/* Walking the records of a perf.data file.
 *
 * Formats: tools/perf/util/header.h (struct perf_file_header) and the uapi header
 * linux/perf_event.h (records) of the kernel. */
#include "launcher/perfdata.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base.h"

/* magic, size, attr_size, attrs {offset, size}, data {offset, size}, … */
enum {
	DATA_OFFSET = 40,
	DATA_SIZE = 48,
	HEADER_SIZE = 56,
};

static uint64_t number_at(const unsigned char *bytes, size_t offset, size_t size)
{
	uint64_t number = 0;

	memcpy(&number, bytes + offset, size);
	return number;
}

/* `record` is whole: `size` bytes from its header on. */
static void take_record(struct perfdata *data, const unsigned char *record, size_t size)
{
	struct perf_event_header header;

	memcpy(&header, record, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_SAMPLE: data->samples++; break;
	case PERF_RECORD_LOST: /* id, lost */
		if (size >= sizeof(header) + 16)
			data->lost += number_at(record, sizeof(header) + 8, 8);
		break;
	case PERF_RECORD_LOST_SAMPLES: /* lost */
		if (size >= sizeof(header) + 8)
			data->lost += number_at(record, sizeof(header), 8);
		break;
	case PERF_RECORD_FORK: /* pid, ppid, tid, ptid, time */
		if (data->process && size >= sizeof(header) + 16)
			data->process(data->context,
				(pid_t)number_at(record, sizeof(header) + 4, 4),
				(pid_t)number_at(record, sizeof(header), 4));
		break;
	default: break;
	}
}

int perfdata_scan(struct perfdata *data, const unsigned char *bytes, size_t size)
{
	if (size < HEADER_SIZE || memcmp(bytes, "PERFILE2", 8) != 0)
		return -1;
	uint64_t offset = number_at(bytes, DATA_OFFSET, 8);
	uint64_t length = number_at(bytes, DATA_SIZE, 8);
	if (offset > size)
		return -1;
	/* perf writes the length last: 0 says that it did not come to that. */
	if (length == 0 || length > size - offset) {
		data->cut = true;
		length = size - offset;
	}
	while (length >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		memcpy(&header, bytes + offset, sizeof(header));
		if (header.size < sizeof(header) || header.size > length) {
			data->cut = true;
			break;
		}
		take_record(data, bytes + offset, header.size);
		offset += header.size;
		length -= header.size;
	}
	return 0;
}

int perfdata_scan_file(struct perfdata *data, int directory, const char *name)
{
	cleanup_fd int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (status.st_size == 0) {
		errno = EINVAL;
		return -1;
	}
	size_t size = (size_t)status.st_size;
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -1;
	int result = perfdata_scan(data, bytes, size);
	munmap(bytes, size);
	if (result < 0)
		errno = EINVAL;
	return result;
}
