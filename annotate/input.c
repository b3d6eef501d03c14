/* Gathering what belongs to a recording. */
#include "annotate/input.h"
#include "annotate/gperf.h"
#include "launcher/base.h"
#include "launcher/run.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ANCESTORS = 64, /* asked for inherited code */
};

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Takes `path`; returns it where the file is there, or NULL. */
static char *if_there(char *path)
{
	if (exists(path))
		return path;
	free(path);
	return NULL;
}

/* The directory in which files of the recording stand side by side. */
static char *beside(const struct input *input)
{
	if (input->directory)
		return xstrdup(input->directory);
	cleanup_free char *copy = xstrdup(input->data_path);
	return xstrdup(dirname(copy));
}

static char *find_dump(
	struct input *input, struct process *process, const struct input_options *options)
{
	cleanup_free char *place = beside(input);
	char *found = NULL;

	if (process->dump_path) {
		const char *name = strrchr(process->dump_path, '/');
		name = name ? name + 1 : process->dump_path;
		found = if_there(xasprintf("%s/%s", place, name));
		if (!found)
			found = if_there(
				xasprintf("%s%s", options->symfs ? options->symfs : "",
					process->dump_path));
	}
	if (!found)
		found = if_there(xasprintf("%s/jit-%u.dump", place, process->pid));
	return found;
}

static char *find_map(
	struct input *input, struct process *process, const struct input_options *options)
{
	cleanup_free char *place = beside(input);
	uint32_t pids[] = {process->pid, process->namespace_pid};
	struct stat status;
	char *found = NULL;

	for (size_t i = 0; !found && i < ARRAY_SIZE(pids); i++) {
		if (!pids[i])
			continue;
		if (options->map && stat(options->map, &status) == 0 &&
			S_ISDIR(status.st_mode))
			found = if_there(
				xasprintf("%s/perf-%u.map", options->map, pids[i]));
		if (!found)
			found = if_there(xasprintf("%s/perf-%u.map", place, pids[i]));
		if (!found && !input->directory)
			found = if_there(xasprintf("%s/tmp/perf-%u.map",
				options->symfs ? options->symfs : "", pids[i]));
	}
	return found;
}

/* --map=FILE: for the process its name tells, or, named otherwise, for every one. */
static bool map_is_for(const char *path, const struct input *input, uint32_t pid)
{
	const char *name = strrchr(path, '/');
	unsigned named;
	int length = 0;

	name = name ? name + 1 : path;
	if (sscanf(name, "perf-%u.map%n", &named, &length) != 1 || name[length])
		return true;
	return named == pid || !machine_process(&input->machine, named, UINT64_MAX);
}

/* `kind` is code.elf or patches.log: of the run's first process so named. */
static char *find_kept(struct input *input, struct process *process, const char *kind)
{
	cleanup_free char *place = beside(input);
	char *found = NULL;

	if (!input->directory) /* as `jit -p` leaves it */
		return if_there(xasprintf("%s/jit-%u.%s", place, process->pid,
			strcmp(kind, "code.elf") == 0 ? "elf" : "patches"));
	size_t stem = strcspn(kind, ".");
	found = if_there(xasprintf(
		"%s/%.*s-%u%s", place, (int)stem, kind, process->pid, kind + stem));
	if (!found && (input->run_pid == process->pid || !input->run_pid))
		found = if_there(xasprintf("%s/%s", place, kind));
	return found;
}

static void warn_map(
	const struct input *input, const struct code_set *set, struct warnings *warnings)
{
	const struct perfmap *map = set->map;

	if (map->bad)
		warnings_add(warnings,
			"'%s': %zu malformed lines left out, the first is line %zu",
			set->map_path, map->bad, map->first_bad);
	if (set->overlaps && !set->dump)
		warnings_add(warnings,
			"'%s': %zu entries overlap others: addresses were used again and "
			"a "
			"perf map does not say when; the last entry counts",
			set->map_path, set->overlaps);
	if (!input->directory && map->file.owner != geteuid() && map->file.owner != 0)
		warnings_add(warnings, "'%s' belongs to another user (%u)", set->map_path,
			map->file.owner);
}

static void add_dump(struct code_set *set, char *path, const struct process *process,
	bool sure, struct warnings *warnings)
{
	struct fault fault;

	if (!process->dump_path && !sure)
		warnings_add(warnings,
			"no mapping marks '%s': it is used because of its name", path);
	cleanup_free char *shown = xstrdup(path);
	if (code_set_add_dump(set, path, &fault) < 0) {
		warnings_add(warnings, "cannot read '%s': %s", shown, fault.text);
		warnings->incomplete = true;
	} else if (set->dump->cut) {
		warnings_add(warnings, "'%s': %s; %zu code object(s) before it are used",
			shown, set->dump->fault.text, set->dump_count);
		warnings->incomplete = true;
	}
}

static void add_patches(struct code_set *set, char *path, struct warnings *warnings)
{
	struct fault fault;
	cleanup_free char *shown = xstrdup(path);

	if (code_set_add_patches(set, path, &fault) < 0) {
		warnings_add(warnings, "cannot read '%s': %s", shown, fault.text);
		warnings->incomplete = true;
		return;
	}
	if (set->patches->bad)
		warnings_add(warnings, "'%s': %zu malformed lines left out", shown,
			set->patches->bad);
	if (set->patches->cut) {
		warnings_add(warnings, "'%s' is cut in its last line", shown);
		warnings->incomplete = true;
	}
}

/* The runtime's clock and perf's must be one; else times mean nothing. */
static void check_stamps(
	struct input *input, struct code_set *set, struct warnings *warnings)
{
	const struct machine *machine = &input->machine;

	if (!set->dump_count || input->data.at_exit)
		return;
	if (machine->untimed) {
		warnings_add(warnings,
			"'%s' has no time stamps: addresses used again are not told "
			"apart",
			input->data_path);
		code_set_ignore_stamps(set);
		return;
	}
	if (!input->last_sample)
		return;
	bool apart = set->first_stamp > input->last_sample;
	if (set->dump->arch_stamps && machine->time_mult && apart) {
		code_set_convert_stamps(
			set, machine->time_zero, machine->time_mult, machine->time_shift);
		apart = set->first_stamp > input->last_sample;
	}
	/* Stamps long before every sample are as wrong, unless code was merely old: a
	 * process can be recorded late, but not before the machine's clock began. */
	if (!apart)
		return;
	warnings_add(warnings,
		"'%s' and '%s' were stamped with different clocks (0 of %zu code objects "
		"matched in time); times are ignored. Record with 'perf record -k mono'",
		set->dump_path, input->data_path, set->dump_count);
	code_set_ignore_stamps(set);
}

static void add_code(struct input *input, struct process *process,
	const struct input_options *options, struct warnings *warnings)
{
	struct fault fault;
	char *dump = find_dump(input, process, options);
	char *final = find_kept(input, process, "code.elf");
	char *patches = find_kept(input, process, "patches.log");
	char *map = NULL;

	if (options->map && exists(options->map) &&
		map_is_for(options->map, input, process->pid)) {
		struct stat status;
		if (stat(options->map, &status) == 0 && !S_ISDIR(status.st_mode))
			map = xstrdup(options->map);
	}
	if (!map)
		map = find_map(input, process, options);
	if (!dump && process->dump_path)
		warnings_add(warnings,
			"the jitdump '%s' of process %u is gone: its code has no names%s",
			process->dump_path, process->pid,
			map ? " but those of its map" : "");
	if (!dump && !map && !final) {
		free(patches);
		return;
	}

	struct code_set *set = code_set_new(process->pid);
	if (dump)
		/* A RUN holds what its own processes wrote. */
		add_dump(set, dump, process, input->run_pid == process->pid, warnings);
	if (map) {
		cleanup_free char *shown = xstrdup(map);
		if (code_set_add_map(set, map, &fault) < 0)
			warnings_add(warnings, "cannot read '%s': %s", shown, fault.text);
	}
	if (final) {
		cleanup_free char *shown = xstrdup(final);
		if (code_set_add_final(set, final, &fault) < 0) {
			warnings_add(warnings, "cannot read '%s': %s", shown, fault.text);
			warnings->incomplete = true;
		}
	}
	if (patches)
		add_patches(set, patches, warnings);
	check_stamps(input, set, warnings);
	set->at_exit = input->data.at_exit;
	code_set_index(set);
	if (set->at_exit && set->dump_count && set->overlaps)
		warnings_add(warnings,
			"'%s' does not say when its samples were taken: of %zu code "
			"objects whose addresses were used again the last ones count",
			input->data_path, set->overlaps);
	if (set->map)
		warn_map(input, set, warnings);
	process->code = set;
	input->sets =
		xreallocarray(input->sets, input->set_count + 1, sizeof(*input->sets));
	input->sets[input->set_count++] = set;
}

static void keep_build_ids(struct input *input, const struct run_pairs *pairs)
{
	input->build_ids = xcalloc(pairs->count, sizeof(*input->build_ids));
	for (size_t i = 0; i < pairs->count; i++) {
		struct input_build_id *kept = &input->build_ids[input->build_id_count];
		const char *hex = pairs->items[i].value;
		unsigned byte;
		kept->size = 0;
		while (hex && kept->size < ELFFILE_BUILD_ID_ROOM &&
			sscanf(hex, "%2x", &byte) == 1 && hex[0] && hex[1]) {
			kept->id[kept->size++] = (uint8_t)byte;
			hex += 2;
		}
		if (!kept->size)
			continue;
		kept->path = xstrdup(pairs->items[i].name);
		input->build_id_count++;
	}
}

static int find_data(struct input *input, struct warnings *warnings, struct fault *fault)
{
	struct stat status;

	if (stat(input->path, &status) < 0 && strcmp(input->path, "-") != 0)
		return fault_set(fault, "%s", strerror(errno));
	if (strcmp(input->path, "-") == 0 || !S_ISDIR(status.st_mode)) {
		input->data_path = xstrdup(input->path);
		return 0;
	}
	input->directory = xstrdup(input->path);
	input->data_path = xasprintf("%s/perf.data", input->path);
	/* Samples of gperftools, where perf took none. */
	cleanup_free char *other = xasprintf("%s/cpu.prof", input->path);
	if (!exists(input->data_path) && exists(other)) {
		free(input->data_path);
		input->data_path = steal_pointer(&other);
	}
	cleanup_free char *json = xasprintf("%s/run.json", input->path);
	cleanup_free char *parts = xasprintf("%s/data", input->path);
	if (!exists(json) && exists(parts))
		return fault_set(fault, "it is perf's directory format ('perf record "
					"--threads'), which is not read");
	if (!exists(json) && !exists(input->data_path))
		return fault_set(
			fault, "it is no RUN: it has neither run.json nor perf.data");
	if (!exists(json))
		return 0;
	struct run run;
	char message[RUN_MESSAGE];
	if (run_open(&run, input->path, message) < 0) {
		warnings_add(warnings, "%s", message);
		warnings->incomplete = true;
		return 0;
	}
	input->run_pid = (uint32_t)run.info.pid;
	keep_build_ids(input, &run.info.build_ids);
	input->cwd = run.info.cwd ? xstrdup(run.info.cwd) : NULL;
	input->program = run.info.exec ? xstrdup(run.info.exec) : NULL;
	for (size_t i = 0; i < run.info.lost_code.count; i++)
		warnings_add(warnings, "code was lost: %s", run.info.lost_code.items[i]);
	int result = 0;
	if (!exists(input->data_path))
		result = fault_set(fault, "the RUN has no samples%s%s",
			run.info.no_samples ? ": " : "",
			run.info.no_samples ? run.info.no_samples : "");
	run_close(&run);
	return result;
}

/* Whose profile it is where that does not say: the run's process, or the one whose map or
 * jitdump stands beside it, or the one that libprofiler appended to the name. */
static uint32_t guess_pid(const struct input *input)
{
	struct file file;

	/* Standard input can be read but once; other files say it themselves. */
	if (strcmp(input->data_path, "-") == 0)
		return 1;
	if (file_open(&file, input->data_path) < 0)
		return 1;
	bool asks = gperf_is(&file);
	file_close(&file);
	if (!asks)
		return 1;
	cleanup_free char *place = beside(input);
	DIR *directory = opendir(place);
	uint32_t found = input->run_pid;
	bool several = false;

	for (struct dirent *entry;
		directory && !input->run_pid && (entry = readdir(directory));) {
		unsigned pid;
		int map = 0, dump = 0;
		if (sscanf(entry->d_name, "perf-%u.map%n", &pid, &map) < 1 || !map)
			if (sscanf(entry->d_name, "jit-%u.dump%n", &pid, &dump) < 1 ||
				!dump)
				continue;
		several |= found && found != pid;
		found = pid;
	}
	if (directory)
		closedir(directory);
	const char *suffix = strrchr(input->data_path, '_');
	if ((several || !found) && suffix && suffix[1])
		found = (uint32_t)strtoul(suffix + 1, NULL, 10);
	return found ? found : 1;
}

/* What makes the numbers other than they seem. */
static void warn_machine(const struct input *input, struct warnings *warnings)
{
	const struct machine *machine = &input->machine;

	if (machine->throttled)
		warnings_add(warnings,
			"'%s': the kernel slowed the sampling down %llu times (see "
			"kernel.perf_event_max_sample_rate): those moments count for less",
			input->data_path, (unsigned long long)machine->throttled);
	if (machine->traced)
		warnings_add(warnings,
			"'%s': %llu bytes of hardware traces are not decoded",
			input->data_path, (unsigned long long)machine->traced);
}

int input_open(struct input *input, const char *path, const struct input_options *options,
	struct modules *modules, struct warnings *warnings, struct fault *fault)
{
	*input = (struct input){.path = xstrdup(path), .modules = modules};
	if (find_data(input, warnings, fault) < 0 ||
		perfdata_open(&input->data, input->data_path, guess_pid(input), fault) <
			0) {
		input_close(input);
		return -1;
	}
	machine_read(&input->machine, &input->data);
	input->first_sample = input->data.first_sample;
	input->last_sample = input->data.last_sample;
	if (input->data.cut) {
		warnings_add(warnings, "'%s': %s; what stands before it is shown",
			input->data_path, input->data.fault.text);
		warnings->incomplete = true;
	}
	warn_machine(input, warnings);
	for (size_t i = 0; i < input->machine.all_count; i++) {
		struct process *process = input->machine.all[i];
		/* Kernel threads and pid 0 map nothing. */
		if (process->maps.count && !process->code)
			add_code(input, process, options, warnings);
	}
	input->lost = input->machine.lost + input->machine.lost_samples;
	return 0;
}

void input_close(struct input *input)
{
	for (size_t i = 0; i < input->set_count; i++)
		code_set_free(input->sets[i]);
	free(input->sets);
	machine_release(&input->machine);
	perfdata_close(&input->data);
	free(input->path);
	free(input->directory);
	free(input->data_path);
	for (size_t i = 0; i < input->build_id_count; i++)
		free(input->build_ids[i].path);
	free(input->build_ids);
	free(input->cwd);
	free(input->program);
	*input = (struct input){0};
}

struct code_place *input_code(const struct process *process, uint64_t address,
	uint64_t time, struct spans_validity *validity, bool *late)
{
	*late = false;
	for (int depth = 0; process && depth < ANCESTORS; depth++) {
		struct code_place *place = process->code
						   ? code_set_find(process->code, address,
							     time, validity, late)
						   : NULL;
		if (place || (process->exec && time >= process->exec))
			return place;
		if (process->from < time)
			time = process->from;
		process = process->parent;
		validity = NULL;
	}
	return NULL;
}
