/* `stablerun save RUN` in gdb: the process that gdb has stopped, kept as a RUN. gdb takes
 * its breakpoints out of memory while the program stands, so the code is the program's. */
#include "launcher/gdb_save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/codeelf.h"
#include "launcher/codekeep.h"
#include "launcher/codesym.h"
#include "launcher/options.h"
#include "launcher/run.h"
#include "launcher/task.h"

enum {
	PATH_SIZE = 64,
	STRINGS_MOST = 16 << 20, /* of arguments or environment */
};

static char *read_link(pid_t pid, const char *name)
{
	char path[PATH_SIZE], target[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	ssize_t length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return NULL;
	target[length] = '\0';
	return xstrdup(target);
}

/* A file of strings that each end in a NUL: cmdline, environ. */
static void read_strings(struct strv *strings, pid_t pid, const char *name)
{
	char path[PATH_SIZE];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	cleanup_free char *text = run_read_file(AT_FDCWD, path, STRINGS_MOST, &size);
	for (size_t at = 0; text && at < size; at += strlen(text + at) + 1)
		strv_add(strings, xstrdup(text + at));
}

static void note_process(struct run_info *info, pid_t pid)
{
	info->stablerun = xstrdup(VERSION);
	info->pid = pid;
	info->runs = 1;
	run_pid_add(info, pid);
	info->exec = read_link(pid, "exe");
	info->cwd = read_link(pid, "cwd");
	read_strings(&info->argv, pid, "cmdline");
	read_strings(&info->env, pid, "environ");
	run_note_machine(info);
	run_note_limits(info);
	run_note_process(info, pid);
	info->place =
		xstrdup(info->personality & ADDR_NO_RANDOMIZE ? "personality" : "off");
	info->start = info->finish = run_clock_now();
	info->end = RUN_END_UNKNOWN;
	info->end_unknown = xstrdup("saved from gdb before the program's end");
}

static int write_code(struct run_writer *writer, struct run_info *info, pid_t pid)
{
	struct process process = {.pid = pid,
		.alive = pid,
		.pidfd = -1,
		.memory = -1,
		.pagemap = -1,
		.maps = -1};
	struct codesyms syms = {0};
	char message[CODEELF_MESSAGE];
	int result = 0;

	codekeep_copy(&process.code, &process, 0, UINT64_MAX, CODE_LIVE);
	if (process.code.lost)
		strv_add(&info->lost_code,
			xasprintf("%llu bytes of code could not be read: %s",
				(unsigned long long)process.code.lost,
				strerror(process.code.error)));
	if (process.code.count) {
		cleanup_fd int file = openat(writer->directory, "code.elf",
			O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		codesyms_find(&syms, pid, info->cwd, -1);
		snprintf(message, sizeof(message), "%s", strerror(errno));
		if (file < 0 || codeelf_write(file, &process.code, &syms, message)) {
			warn("cannot write 'code.elf' of the run: %s", message);
			result = -1;
		}
		codesyms_release(&syms);
	}
	codekeep_release(&process.code);
	for (size_t i = 0; i < 3; i++) {
		int fd = i == 0	  ? process.memory
			 : i == 1 ? process.pagemap
				  : process.maps;
		if (fd >= 0)
			close(fd);
	}
	return result;
}

int gdb_save(pid_t pid, const char *path)
{
	struct run_writer writer;
	struct run_info info = {0};
	char message[RUN_MESSAGE];
	int status = 0;

	if (run_begin(&writer, path, path, false, message)) {
		warn("%s", message);
		return STATUS_TROUBLE;
	}
	note_process(&info, pid);
	if (!info.exec) {
		warn("cannot read process %d: %s", (int)pid, strerror(errno));
		status = STATUS_TROUBLE;
	} else if (run_save_maps(writer.directory, "maps.exit", pid) < 0) {
		warn("cannot keep the map of process %d: %s", (int)pid, strerror(errno));
		status = STATUS_TROUBLE;
	} else if (write_code(&writer, &info, pid)) {
		status = STATUS_TROUBLE;
	}
	if (status) {
		run_abandon(&writer);
	} else {
		info.maps_exit = xstrdup("read while gdb had the program stopped");
		run_note_build_ids_at(&info, writer.directory, "maps.exit");
		if (run_finish(&writer, &info, message) < 0) {
			warn("%s", message);
			status = STATUS_TROUBLE;
		}
		run_release(&writer);
	}
	run_info_release(&info);
	return status;
}
