/* What a supervisor kept of a run that another part of stablerun finishes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/kept.h"
#include "launcher/run.h"

enum {
	REPORT_LIMIT = 256 << 20,
	WAIT_MS = 10000, /* for a report, after a program that could not be held died */
	PAUSE_MS = 5,
};

void kept_promise(int directory)
{
	run_write_file(directory, KEPT_REPORT, "", 0);
}

void kept_break_promise(int directory)
{
	unlinkat(directory, KEPT_REPORT, 0);
}

/* 1 when it is there, 0 when it is promised, -1 when it is not. */
static int look(int directory)
{
	struct stat status;

	if (fstatat(directory, KEPT_REPORT, &status, AT_SYMLINK_NOFOLLOW))
		return -1;
	return status.st_size > 0;
}

static void replace(char **text, char **with)
{
	if (!*with)
		return;
	free(*text);
	*text = steal_pointer(with);
}

static void take(struct strv *to, const struct strv *from)
{
	for (size_t i = 0; i < from->count; i++)
		if (!strv_has(to, from->items[i]))
			strv_add(to, xstrdup(from->items[i]));
}

static void merge(struct run_info *info, struct run_info *report)
{
	for (size_t i = 0; i < report->pid_count; i++)
		run_pid_add(info, report->pids[i]);
	for (size_t i = 0; i < report->code_count; i++) {
		const struct run_code *code = &report->code[i];
		run_code_add(info, code->pid, code->address, code->size, code->fate,
			code->time);
	}
	take(&info->lost_code, &report->lost_code);
	take(&info->notes, &report->notes);
	replace(&info->maps_start, &report->maps_start);
	replace(&info->maps_exit, &report->maps_exit);
	if (report->auxv.count) {
		struct run_pairs other = info->auxv;
		info->auxv = report->auxv;
		report->auxv = other;
		other = info->marks;
		info->marks = report->marks;
		report->marks = other;
		info->personality = report->personality;
	}
}

void kept_merge(int directory, struct run_info *info)
{
	struct run_info report;
	char message[RUN_MESSAGE];
	size_t size;

	if (look(directory) < 0)
		return;
	for (int waited = 0; look(directory) == 0 && waited < WAIT_MS; waited += PAUSE_MS)
		poll(NULL, 0, PAUSE_MS);
	cleanup_free char *text =
		run_read_file(directory, KEPT_REPORT, REPORT_LIMIT, &size);
	if (text && size && !run_info_parse(&report, text, size, KEPT_REPORT, message)) {
		merge(info, &report);
		run_info_release(&report);
	} else {
		strv_add(&info->lost_code,
			xstrdup("the supervisor was killed: the code at exit is lost"));
	}
	renameat(directory, KEPT_MAPS_START, directory, "maps.start");
	renameat(directory, KEPT_MAPS_EXIT, directory, "maps.exit");
	unlinkat(directory, KEPT_REPORT, 0);
}
