/* `stablerun show RUN...`: what ran, how it ended, what was fixed and by whom, what was
 * sampled, which code there was, and what is missing. */
#include "launcher/show.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/codes.h"
#include "launcher/maps.h"
#include "launcher/options.h"
#include "launcher/perfdata.h"
#include "launcher/quote.h"
#include "launcher/run.h"

enum { LABEL = 12 };

static const char usage[] =
	"Usage: stablerun show [--env] RUN...\n"
	"Tell what a kept run was: command, end, pins, samples, code, what is missing.\n"
	"\n"
	"      --env   the environment too\n"
	"      --help  print this\n"
	"\n"
	"The exit status is 0, or 125 where a RUN cannot be read.\n";

static void label(const char *name)
{
	printf("%-*s", LABEL, name);
}

static void line(const char *name, const char *value)
{
	if (!value)
		return;
	label(name);
	printf("%s\n", value);
}

static void show_command(const struct run_info *info)
{
	label("command");
	for (size_t i = 0; i < info->argv.count; i++) {
		if (i)
			putchar(' ');
		quote_print(stdout, info->argv.items[i]);
	}
	putchar('\n');
	line("executed", info->exec);
	line("in", info->cwd);
}

static void show_end(const struct run_info *info)
{
	label("ended");
	switch (info->end) {
	case RUN_END_EXITED: printf("with status %d", info->status); break;
	case RUN_END_KILLED:
		printf("killed by signal %d (%s)%s", info->signal,
			strsignal(info->signal), info->core ? ", core dumped" : "");
		break;
	case RUN_END_UNKNOWN:
		printf("unknown: %s", info->end_unknown ? info->end_unknown : "not said");
		break;
	}
	putchar('\n');
}

static void show_time(const struct run_info *info)
{
	time_t seconds = (time_t)(info->start.realtime / 1000000000u);
	struct tm when;
	char text[64];

	if (!info->start.realtime || !localtime_r(&seconds, &when))
		return;
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &when);
	label("when");
	printf("%s, %.3f s, process %d", text,
		(double)(info->finish.monotonic - info->start.monotonic) / 1e9,
		(int)info->pid);
	if (info->pid_count > 1)
		printf(" and %zu more", info->pid_count - 1);
	putchar('\n');
}

static void show_pins(const struct run_info *info)
{
	size_t name = 0, value = 0;

	for (size_t i = 0; i < info->pin_count; i++) {
		size_t length = strlen(info->pins[i].name);
		name = length > name ? length : name;
		length = strlen(info->pins[i].value);
		value = length > value && length <= 48 ? length : value;
	}
	for (size_t i = 0; i < info->pin_count; i++) {
		label(i ? "" : "pinned");
		printf("%-*s  %-*s  (%s)\n", (int)name, info->pins[i].name, (int)value,
			info->pins[i].value, info->pins[i].source);
	}
	if (info->place && strcmp(info->place, "off") == 0)
		line("", "addresses were not fixed by stablerun");
}

/* Adds up what the runs of a series have; the first is the RUN itself. */
struct totals {
	uint64_t samples;
	uint64_t lost;
	uint64_t bytes;
	unsigned found;
	bool cut;
};

static void add_run(struct totals *totals, int directory, uint64_t lost)
{
	struct perfdata data = {0};
	struct stat status;

	if (fstatat(directory, "perf.data", &status, 0) < 0 ||
		perfdata_scan_file(&data, directory, "perf.data") < 0)
		return;
	totals->samples += data.samples;
	totals->lost += data.lost > lost ? data.lost : lost;
	totals->bytes += (uint64_t)status.st_size;
	totals->cut |= data.cut;
	totals->found++;
}

static void add_further(struct totals *totals, const struct run *run)
{
	for (unsigned i = 2; i <= run->info.runs; i++) {
		struct run further;
		char message[RUN_MESSAGE];
		cleanup_free char *path = xasprintf("%s/%u", run->path, i);
		if (run_open(&further, path, message) < 0) {
			printf("%-*s%s\n", LABEL, "missing", message);
			continue;
		}
		add_run(totals, further.directory, further.info.lost_samples);
		run_close(&further);
	}
}

static void show_samples(const struct run *run)
{
	const struct run_info *info = &run->info;
	struct totals totals = {0};

	label("samples");
	if (info->no_samples) {
		printf("none: %s\n", info->no_samples);
		return;
	}
	add_run(&totals, run->directory, info->lost_samples);
	if (!totals.found) {
		printf("none%s\n", info->event ? ": perf.data is missing" : "");
		return;
	}
	add_further(&totals, run);
	printf("%" PRIu64 " of %s at %lu Hz, %" PRIu64 " lost", totals.samples,
		info->event ? info->event : "an unknown event", info->frequency,
		totals.lost);
	if (info->runs > 1)
		printf(", in %u runs", totals.found);
	printf("%s\n", totals.cut ? "; perf.data is cut" : "");
}

static void show_code(const struct run *run)
{
	struct codes codes;

	codes_read(&codes, run);
	label("code");
	if (codes.count == 0 && codes.bytes == 0)
		printf("no JIT code");
	else
		printf("%zu JIT code object%s", codes.count, codes.count == 1 ? "" : "s");
	if (codes.bytes)
		printf(", %" PRIu64 " bytes as they were at exit", codes.bytes);
	else if (codes.count)
		printf(", their bytes at exit not kept");
	if (codes.ignored)
		printf("; %zu bad line%s in the perf map", codes.ignored,
			codes.ignored == 1 ? "" : "s");
	putchar('\n');
	codes_release(&codes);
}

static void show_maps_file(const struct run *run, const char *name, const char *how)
{
	struct maps maps;
	long result = maps_read(&maps, run->directory, name);

	label(name);
	if (result > 0)
		printf("line %ld makes no sense\n", result);
	else if (result < 0)
		printf("none%s%s\n", errno == ENOENT ? "" : ": ",
			errno == ENOENT ? "" : strerror(errno));
	else
		printf("%zu mappings%s%s\n", maps.count, how ? "; " : "", how ? how : "");
	maps_release(&maps);
}

static void show_machine(const struct run_info *info)
{
	line("kernel", info->kernel);
	line("cpu", info->cpu_model);
}

static void show_lost(const struct run_info *info)
{
	for (size_t i = 0; i < info->lost_code.count; i++)
		line(i ? "" : "lost", info->lost_code.items[i]);
	for (size_t i = 0; i < info->notes.count; i++)
		line(i ? "" : "notes", info->notes.items[i]);
}

static void show_environment(const struct run_info *info)
{
	for (size_t i = 0; i < info->env.count; i++) {
		const char *item = info->env.items[i];
		label(i ? "" : "environment");
		if (strncmp(item, "STABLERUN_PAD=", 14) == 0)
			printf("STABLERUN_PAD=(%zu bytes)", strlen(item) - 14);
		else
			quote_print(stdout, item);
		putchar('\n');
	}
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void show_files(const struct run *run)
{
	DIR *stream = opendir(run->path);
	struct dirent *entry;
	struct strv names = {0};

	if (!stream)
		return;
	while ((entry = readdir(stream)) != NULL) {
		if (entry->d_name[0] != '.')
			strv_add(&names, xstrdup(entry->d_name));
	}
	closedir(stream);
	if (names.count)
		qsort(names.items, names.count, sizeof(*names.items), compare_names);
	for (size_t i = 0; i < names.count; i++) {
		struct stat status;
		label(i ? "" : "files");
		if (fstatat(run->directory, names.items[i], &status, 0) < 0)
			printf("%s\n", names.items[i]);
		else if (S_ISDIR(status.st_mode))
			printf("%-20s %12s\n", names.items[i], "a run");
		else
			printf("%-20s %12lld bytes\n", names.items[i],
				(long long)status.st_size);
	}
	strv_release(&names);
}

static int show(const char *path, bool environment)
{
	struct run run;
	char message[RUN_MESSAGE];

	if (run_open(&run, path, message) < 0) {
		warn("%s", message);
		return STATUS_TROUBLE;
	}
	line("run", path);
	show_command(&run.info);
	show_end(&run.info);
	show_time(&run.info);
	show_pins(&run.info);
	show_samples(&run);
	show_code(&run);
	show_maps_file(&run, "maps.start", run.info.maps_start);
	show_maps_file(&run, "maps.exit", run.info.maps_exit);
	show_machine(&run.info);
	show_lost(&run.info);
	if (environment)
		show_environment(&run.info);
	show_files(&run);
	run_close(&run);
	return 0;
}

int show_main(int argc, char **argv)
{
	static const struct option options[] = {
		{"env", no_argument, NULL, 'e'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool environment = false;
	int option, status = 0;

	argv[0] = (char *)program_name;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'e': environment = true; break;
		case 'h':
			fputs(usage, stdout);
			return fflush(stdout) ? STATUS_TROUBLE : 0;
		default: return STATUS_TROUBLE;
		}
	}
	if (optind == argc)
		die(STATUS_TROUBLE, "no RUN given; try 'stablerun show --help'");
	for (int i = optind; i < argc; i++) {
		if (i > optind)
			putchar('\n');
		if (show(argv[i], environment))
			status = STATUS_TROUBLE;
	}
	if (fflush(stdout))
		die(STATUS_TROUBLE, "cannot write to standard output: %s",
			strerror(errno));
	return status;
}
