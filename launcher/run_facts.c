/* What a RUN says of the machine and of the process, read where the kernel tells it. */
#include "launcher/run.h"

#include "launcher/base.h"
#include "launcher/elf_file.h"
#include "launcher/place_layout.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PROC_LIMIT = 16 << 20,
	CPUINFO_HEAD = 8 << 10,
};

/* The value of the first line "KEY<tabs>: VALUE" of /proc/cpuinfo; owned, or NULL. */
static char *cpuinfo_value(const char *text, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) != 0)
			continue;
		const char *value = line + length + strspn(line + length, "\t ");
		if (*value != ':')
			continue;
		value += 1 + strspn(value + 1, " ");
		return strndup(value, strcspn(value, "\n"));
	}
	return NULL;
}

void run_note_machine(struct run_info *info)
{
	struct utsname name;
	struct stat status;

	if (uname(&name) == 0)
		info->kernel =
			xasprintf("%s %s %s", name.release, name.version, name.machine);
	/* The first CPU's lines are in it; a machine of many makes some 100 KB of all. */
	char text[CPUINFO_HEAD];
	cleanup_fd int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (size > 0) {
		text[size] = '\0';
		info->cpu_model = cpuinfo_value(text, "model name");
		info->cpu_features = cpuinfo_value(text, "flags");
	}
	if (stat("/etc/ld.so.cache", &status) == 0)
		info->ld_so_cache_size = (uint64_t)status.st_size;
}

void run_note_limits(struct run_info *info)
{
	static const struct {
		int resource;
		const char *name;
	} limits[] = {
		{RLIMIT_AS, "as"},
		{RLIMIT_CORE, "core"},
		{RLIMIT_CPU, "cpu"},
		{RLIMIT_DATA, "data"},
		{RLIMIT_FSIZE, "fsize"},
		{RLIMIT_MEMLOCK, "memlock"},
		{RLIMIT_NOFILE, "nofile"},
		{RLIMIT_NPROC, "nproc"},
		{RLIMIT_STACK, "stack"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rlimit limit;
		if (getrlimit((__rlimit_resource_t)limits[i].resource, &limit) == 0)
			run_limit_add(
				info, limits[i].name, limit.rlim_cur, limit.rlim_max);
	}
}

static const char *auxv_name(uint64_t type, char other[24])
{
	static const struct {
		uint64_t type;
		const char *name;
	} names[] = {
		{AT_PHDR, "AT_PHDR"},
		{AT_PHENT, "AT_PHENT"},
		{AT_PHNUM, "AT_PHNUM"},
		{AT_PAGESZ, "AT_PAGESZ"},
		{AT_BASE, "AT_BASE"},
		{AT_FLAGS, "AT_FLAGS"},
		{AT_ENTRY, "AT_ENTRY"},
		{AT_UID, "AT_UID"},
		{AT_EUID, "AT_EUID"},
		{AT_GID, "AT_GID"},
		{AT_EGID, "AT_EGID"},
		{AT_PLATFORM, "AT_PLATFORM"},
		{AT_HWCAP, "AT_HWCAP"},
		{AT_CLKTCK, "AT_CLKTCK"},
		{AT_SECURE, "AT_SECURE"},
		{AT_RANDOM, "AT_RANDOM"},
		{AT_HWCAP2, "AT_HWCAP2"},
		{AT_EXECFN, "AT_EXECFN"},
		{AT_SYSINFO_EHDR, "AT_SYSINFO_EHDR"},
		{AT_MINSIGSTKSZ, "AT_MINSIGSTKSZ"},
		{27, "AT_RSEQ_FEATURE_SIZE"},
		{28, "AT_RSEQ_ALIGN"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].type == type)
			return names[i].name;
	}
	snprintf(other, 24, "AT_%llu", (unsigned long long)type);
	return other;
}

static void note_auxv(struct run_info *info, const char *bytes, size_t size)
{
	for (size_t at = 0; at + 16 <= size; at += 16) {
		uint64_t pair[2];
		char other[24], value[24];
		memcpy(pair, bytes + at, sizeof(pair));
		if (pair[0] == AT_NULL)
			return;
		snprintf(value, sizeof(value), "0x%llx", (unsigned long long)pair[1]);
		run_pairs_set(&info->auxv, auxv_name(pair[0], other), value);
	}
}

/* Fields of proc_pid_stat(5), counted after the command's closing parenthesis, which may
 * hold anything: the state there is field 3. */
static void note_marks(struct run_info *info, const char *text)
{
	static const struct {
		int field;
		const char *name;
	} marks[] = {
		{26, "start_code"},
		{28, "start_stack"},
		{45, "start_data"},
		{47, "start_brk"},
		{48, "arg_start"},
		{50, "env_start"},
	};
	const char *at = strrchr(text, ')');
	int field = 2;

	for (size_t i = 0; at && i < ARRAY_SIZE(marks); i++) {
		char value[24];
		while (at && field < marks[i].field) {
			at = strchr(at + 1, ' ');
			field++;
		}
		if (!at)
			return;
		snprintf(value, sizeof(value), "0x%llx", strtoull(at, NULL, 10));
		run_pairs_set(&info->marks, marks[i].name, value);
	}
}

/* Whether the program was moved is known to its helper only, which is gone; but the path
 * that was executed ends eight bytes below the stack's top, and where that is is random
 * to a page in 16 GiB otherwise. */
static void check_place(struct run_info *info)
{
	enum { LONGEST_PATH = 4096 };
	const uint64_t top = PLACE_STACK_TOP - 8;
	const char *text = run_pairs_get(&info->auxv, "AT_EXECFN");
	uint64_t path = text ? strtoull(text, NULL, 16) : 0;

	if (!info->place || strcmp(info->place, "move") ||
		(path < top && path >= top - LONGEST_PATH))
		return;
	free(info->place);
	info->place = xstrdup("off");
	strv_add(&info->notes,
		xstrdup("the program was to be moved to fixed addresses, but is not there"));
}

int run_note_process(struct run_info *info, pid_t pid)
{
	char path[40];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/personality", (int)pid);
	cleanup_free char *personality = run_read_file(AT_FDCWD, path, PROC_LIMIT, &size);
	if (!personality)
		return -1;
	info->personality = strtoul(personality, NULL, 16);
	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	cleanup_free char *auxv = run_read_file(AT_FDCWD, path, PROC_LIMIT, &size);
	if (!auxv)
		return -1;
	note_auxv(info, auxv, size);
	check_place(info);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	cleanup_free char *stat = run_read_file(AT_FDCWD, path, PROC_LIMIT, &size);
	if (stat)
		note_marks(info, stat);
	return 0;
}

static void note_build_id(struct run_info *info, const char *path)
{
	char hex[ELF_BUILD_ID_TEXT];

	if (run_pairs_get(&info->build_ids, path))
		return;
	if (elf_file_build_id(path, hex) == 0)
		run_pairs_set(&info->build_ids, path, hex);
}

void run_note_build_ids(struct run_info *info, const char *maps)
{
	for (const char *line = maps, *next; *line; line = next) {
		size_t length = strcspn(line, "\n");
		/* An address or a device holds no '/': the first one begins the path. */
		const char *path = memchr(line, '/', length);
		next = line + length + (line[length] == '\n');
		if (!path)
			continue;
		cleanup_free char *name = strndup(path, (size_t)(line + length - path));
		note_build_id(info, name);
	}
}

void run_note_build_ids_at(struct run_info *info, int directory, const char *name)
{
	size_t size;
	cleanup_free char *text = run_read_file(directory, name, PROC_LIMIT, &size);

	if (text)
		run_note_build_ids(info, text);
}

static uint64_t clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct run_clock run_clock_now(void)
{
	return (struct run_clock){.realtime = clock_read(CLOCK_REALTIME),
		.monotonic = clock_read(CLOCK_MONOTONIC)};
}

void run_note_end(struct run_info *info, int wait_status)
{
	if (WIFEXITED(wait_status)) {
		info->end = RUN_END_EXITED;
		info->status = WEXITSTATUS(wait_status);
	} else if (WIFSIGNALED(wait_status)) {
		info->end = RUN_END_KILLED;
		info->signal = WTERMSIG(wait_status);
		info->core = WCOREDUMP(wait_status);
	}
}
