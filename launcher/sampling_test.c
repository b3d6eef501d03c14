/* Which setting is named where sampling is refused, and what is counted in a perf.data. */
#include "launcher/sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/check.h"
#include "launcher/perfdata.h"

const char program_name[] = "sampling_test";

static void refusal(
	int error, int paranoid, bool filtered, const char *setting, const char *way)
{
	cleanup_free char *text = sampling_explain(error, paranoid, filtered);

	CHECK(strstr(text, setting));
	CHECK(strstr(text, way));
}

static void test_refusals(void)
{
	refusal(EACCES, 3, false, "kernel.perf_event_paranoid is 3", "sysctl");
	refusal(EACCES, 4, true, "kernel.perf_event_paranoid is 4", "sysctl");
	refusal(EPERM, 2, true, "a seccomp filter", "--cap-add=PERFMON");
	refusal(ENOSYS, 2, true, "a seccomp filter", "perf_event_open");
	refusal(ENOSYS, -1, false, "this kernel has no perf events",
		"CONFIG_PERF_EVENTS");
	refusal(EMFILE, 2, false, "Too many open files", "is 2");
}

struct file {
	unsigned char bytes[512];
	size_t size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
	CHECK(file->size + size <= sizeof(file->bytes));
	memcpy(file->bytes + file->size, bytes, size);
	file->size += size;
}

static void put_record(struct file *file, uint32_t type, const void *body, size_t size)
{
	struct perf_event_header header = {
		.type = type, .size = (uint16_t)(sizeof(header) + size)};

	put(file, &header, sizeof(header));
	put(file, body, size);
}

static void begin(struct file *file, uint64_t data_size)
{
	/* magic, size, attr_size, attrs, data, event types, features */
	uint64_t header[] = {0, 104, 136, 104, 0, 104, data_size, 0, 0, 0, 0, 0, 0};

	memcpy(header, "PERFILE2", 8);
	*file = (struct file){.size = 0};
	put(file, header, sizeof(header));
}

static pid_t last_parent, last_child;

static void note_process(void *context, pid_t parent, pid_t pid)
{
	last_parent = parent;
	last_child = pid;
	++*(int *)context;
}

static void fill(struct file *file, uint64_t data_size)
{
	uint64_t sample[] = {1, 2}, lost[] = {7, 5}, lost_samples[] = {11};
	uint32_t fork[] = {42, 41, 42, 41, 0, 0};

	begin(file, data_size);
	put_record(file, PERF_RECORD_SAMPLE, sample, sizeof(sample));
	put_record(file, PERF_RECORD_FORK, fork, sizeof(fork));
	put_record(file, PERF_RECORD_LOST, lost, sizeof(lost));
	put_record(file, PERF_RECORD_LOST_SAMPLES, lost_samples, sizeof(lost_samples));
	put_record(file, PERF_RECORD_SAMPLE, sample, sizeof(sample));
}

static void test_counts(void)
{
	struct file file;
	int processes = 0;

	fill(&file, 0);
	uint64_t length = file.size - 104;
	fill(&file, length);
	struct perfdata data = {.process = note_process, .context = &processes};
	CHECK(perfdata_scan(&data, file.bytes, file.size) == 0);
	CHECK(data.samples == 2 && data.lost == 16 && !data.cut);
	CHECK(processes == 1 && last_parent == 41 && last_child == 42);

	/* Cut anywhere it counts what is whole, and says that it is cut. */
	for (size_t size = 104; size < file.size; size++) {
		struct perfdata part = {0};
		CHECK(perfdata_scan(&part, file.bytes, size) == 0);
		CHECK(part.cut && part.samples < 2);
	}
	/* perf writes the length last. */
	fill(&file, 0);
	data = (struct perfdata){0};
	CHECK(perfdata_scan(&data, file.bytes, file.size) == 0);
	CHECK(data.samples == 2 && data.cut);
	file.bytes[0] = 'X';
	CHECK(perfdata_scan(&data, file.bytes, file.size) < 0);
}

int main(void)
{
	test_refusals();
	test_counts();
	return 0;
}
