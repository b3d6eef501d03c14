/* Asking the kernel for a sampling event, and explaining its refusal. */
#include "launcher/sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/run.h"

enum {
	PROC_LIMIT = 64 << 10,
	PROBE_FREQUENCY = 100,
};

static int probe(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.freq = 1,
		.sample_freq = PROBE_FREQUENCY,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd =
		(int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static char *read_text(const char *path)
{
	size_t size;

	return run_read_file(AT_FDCWD, path, PROC_LIMIT, &size);
}

static int read_number(const char *path, int missing)
{
	cleanup_free char *text = read_text(path);

	return text ? atoi(text) : missing;
}

static bool is_filtered(void)
{
	cleanup_free char *text = read_text("/proc/self/status");
	const char *line = text ? strstr(text, "\nSeccomp:") : NULL;

	return line && atoi(line + strlen("\nSeccomp:")) == 2;
}

unsigned long sampling_most(void)
{
	int most = read_number("/proc/sys/kernel/perf_event_max_sample_rate", 0);

	return most > 0 ? (unsigned long)most : 0;
}

char *sampling_explain(int error, int paranoid, bool filtered)
{
	if (error == ENOSYS && !filtered)
		return xstrdup("this kernel has no perf events (CONFIG_PERF_EVENTS)");
	/* Upstream kernels let everybody sample his own user space; Debian's and Ubuntu's
	 * know the levels 3 and 4, which do not. */
	if ((error == EACCES || error == EPERM) && paranoid > 2)
		return xasprintf("kernel.perf_event_paranoid is %d and refuses "
				 "perf_event_open; as root: sysctl "
				 "kernel.perf_event_paranoid=2",
			paranoid);
	if (filtered)
		return xasprintf("a seccomp filter, as containers have, refuses "
				 "perf_event_open (%s); start the container with "
				 "--security-opt seccomp=PROFILE, a profile that allows "
				 "perf_event_open, or with --cap-add=PERFMON",
			strerror(error));
	return xasprintf(
		"perf_event_open is refused: %s (kernel.perf_event_paranoid is %d)",
		strerror(error), paranoid);
}

const char *sampling_event(char **cause)
{
	*cause = NULL;
	/* P: as precise as the counter can, so that samples skid less. */
	if (probe(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == 0)
		return "cycles:Pu";
	if (probe(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK) == 0)
		return "cpu-clock:u";
	int error = errno;
	*cause = sampling_explain(error,
		read_number("/proc/sys/kernel/perf_event_paranoid", -1), is_filtered());
	return NULL;
}
