/* Opening a RUN and reading its run.json, whose format is described where it is written
 * (run_json.c): nothing in it is trusted. */
#include "launcher/run.h"

#include "launcher/base.h"
#include "launcher/pad.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	JSON_LIMIT = 64 << 20, /* bytes of a run.json; a full environment is 6 MiB */
};

/* The first thing wrong is kept; later reads then do nothing of harm. */
struct reading {
	const char *name; /* of the file, for the message */
	char *message;
	bool failed;
};

__attribute__((format(printf, 2, 3))) static void reading_fail(
	struct reading *reading, const char *format, ...)
{
	va_list list;

	if (reading->failed)
		return;
	reading->failed = true;
	int used = snprintf(
		reading->message, RUN_MESSAGE, "cannot read '%s': ", reading->name);
	if (used < 0 || used >= RUN_MESSAGE)
		return;
	va_start(list, format);
	vsnprintf(reading->message + used, (size_t)(RUN_MESSAGE - used), format, list);
	va_end(list);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static char *hex_text(const char *hex)
{
	size_t size = strlen(hex) / 2;
	char *text = xmalloc(size + 1);

	for (size_t i = 0; i < size; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
		/* A string cannot hold 0: what says so was not written by us. */
		if (high < 0 || low < 0 || (!high && !low)) {
			free(text);
			return NULL;
		}
		text[i] = (char)(high << 4 | low);
	}
	text[size] = '\0';
	return text;
}

/* Returns owned text, or NULL where the value is null or (and then `reading` failed)
 * wrong. */
static char *get_text(struct reading *reading, const char *key, const json_t *value)
{
	if (!value || json_is_null(value))
		return NULL;
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	const json_t *hex = json_object_get(value, "hex");
	if (json_is_string(hex)) {
		char *text = hex_text(json_string_value(hex));
		if (text)
			return text;
	}
	reading_fail(reading, "'%s' holds what is no string", key);
	return NULL;
}

static uint64_t get_number(struct reading *reading, const char *key, const json_t *value)
{
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0) {
		reading_fail(reading, "'%s' is no number from 0 up", key);
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

static pid_t get_pid(struct reading *reading, const char *key, const json_t *value)
{
	uint64_t number = get_number(reading, key, value);

	if (number <= INT_MAX)
		return (pid_t)number;
	reading_fail(reading, "'%s' is no process number", key);
	return 0;
}

static const json_t *get_kind(
	struct reading *reading, const json_t *object, const char *key, json_type type)
{
	const json_t *value = json_object_get(object, key);

	if (!value || json_is_null(value))
		return NULL;
	if (json_typeof(value) == type)
		return value;
	reading_fail(
		reading, "'%s' is no %s", key, type == JSON_ARRAY ? "list" : "object");
	return NULL;
}

static void get_list(
	struct reading *reading, const json_t *object, const char *key, struct strv *list)
{
	const json_t *array = get_kind(reading, object, key, JSON_ARRAY);

	for (size_t i = 0; i < json_array_size(array) && !reading->failed; i++) {
		cleanup_free char *item =
			get_text(reading, key, json_array_get(array, i));
		if (item)
			strv_add(list, xstrdup(item));
		else
			reading_fail(reading, "'%s' holds what is no string", key);
	}
}

static void get_environment(struct reading *reading, const json_t *root, struct strv *env)
{
	uint64_t length = get_number(reading, "pad", json_object_get(root, "pad"));

	get_list(reading, root, "env", env);
	if (length >= PAD_MOST) {
		reading_fail(reading, "'pad' is longer than a variable can be");
		return;
	}
	for (size_t i = 0; length && i < env->count; i++) {
		if (strcmp(env->items[i], PAD_NAME) != 0)
			continue;
		free(env->items[i]);
		env->items[i] = pad_string(sizeof(PAD_NAME) + length);
		return;
	}
}

static void get_pairs(struct reading *reading, const json_t *root, const char *key,
	struct run_pairs *pairs)
{
	json_t *object = (json_t *)get_kind(reading, root, key, JSON_OBJECT);
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		cleanup_free char *text = get_text(reading, key, value);
		if (text)
			run_pairs_set(pairs, name, text);
	}
}

static void get_pins(struct reading *reading, const json_t *root, struct run_info *info)
{
	const json_t *array = get_kind(reading, root, "pins", JSON_ARRAY);

	for (size_t i = 0; i < json_array_size(array) && !reading->failed; i++) {
		const json_t *pin = json_array_get(array, i);
		cleanup_free char *name =
			get_text(reading, "pins", json_object_get(pin, "name"));
		cleanup_free char *value =
			get_text(reading, "pins", json_object_get(pin, "value"));
		cleanup_free char *source =
			get_text(reading, "pins", json_object_get(pin, "source"));
		if (name)
			run_pin_add(info, name, value ? value : "", source ? source : "");
		else
			reading_fail(reading, "a pin has no name");
	}
}

static uint64_t get_limit(struct reading *reading, const char *key, const json_t *value)
{
	if (json_is_string(value) && strcmp(json_string_value(value), "unlimited") == 0)
		return UINT64_MAX;
	return get_number(reading, key, value);
}

static void get_limits(struct reading *reading, const json_t *root, struct run_info *info)
{
	json_t *object = (json_t *)get_kind(reading, root, "rlimits", JSON_OBJECT);
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value)
	{
		if (json_array_size(value) != 2) {
			reading_fail(reading, "the limit '%s' is no pair", name);
			return;
		}
		run_limit_add(info, name,
			get_limit(reading, name, json_array_get(value, 0)),
			get_limit(reading, name, json_array_get(value, 1)));
	}
}

static void get_exit(struct reading *reading, const json_t *root, struct run_info *info)
{
	const json_t *object = get_kind(reading, root, "exit", JSON_OBJECT);
	const json_t *status = json_object_get(object, "status");
	const json_t *signal = json_object_get(object, "signal");

	info->end_unknown = get_text(reading, "exit", json_object_get(object, "unknown"));
	if (status) {
		info->end = RUN_END_EXITED;
		info->status = (int)(get_number(reading, "status", status) & 0xff);
	} else if (signal) {
		info->end = RUN_END_KILLED;
		info->signal = (int)(get_number(reading, "signal", signal) & 0x7f);
		info->core = json_is_true(json_object_get(object, "core"));
	}
}

static void get_clock(struct reading *reading, const json_t *clocks, const char *key,
	struct run_clock *clock)
{
	const json_t *object = get_kind(reading, clocks, key, JSON_OBJECT);

	clock->realtime = get_number(reading, key, json_object_get(object, "realtime"));
	clock->monotonic = get_number(reading, key, json_object_get(object, "monotonic"));
}

static void get_pids(struct reading *reading, const json_t *root, struct run_info *info)
{
	const json_t *array = get_kind(reading, root, "pids", JSON_ARRAY);

	for (size_t i = 0; i < json_array_size(array); i++)
		run_pid_add(info, get_pid(reading, "pids", json_array_get(array, i)));
}

static void get_code(struct reading *reading, const json_t *root, struct run_info *info)
{
	const json_t *array = get_kind(reading, root, "code", JSON_ARRAY);

	for (size_t i = 0; i < json_array_size(array) && !reading->failed; i++) {
		const json_t *code = json_array_get(array, i);
		cleanup_free char *address =
			get_text(reading, "code", json_object_get(code, "address"));
		cleanup_free char *fate =
			get_text(reading, "code", json_object_get(code, "fate"));
		if (!address)
			reading_fail(reading, "a piece of code has no address");
		else
			run_code_add(info,
				get_pid(reading, "code", json_object_get(code, "pid")),
				strtoull(address, NULL, 16),
				get_number(
					reading, "code", json_object_get(code, "size")),
				fate ? fate : "",
				get_number(
					reading, "code", json_object_get(code, "time")));
	}
}

static unsigned get_small(struct reading *reading, const char *key, const json_t *value)
{
	uint64_t number = get_number(reading, key, value);

	if (number <= INT_MAX)
		return (unsigned)number;
	reading_fail(reading, "'%s' is too great", key);
	return 0;
}

static void get_pinned(struct reading *reading, const json_t *root, struct run_info *info)
{
	const json_t *cpu = json_object_get(root, "one_cpu");
	cleanup_free char *seed =
		get_text(reading, "seed", json_object_get(root, "seed"));

	if (seed) {
		char *end;
		errno = 0;
		info->seeded = true;
		info->seed = strtoull(seed, &end, 10);
		if (errno || *end || *seed < '0' || *seed > '9')
			reading_fail(reading, "'seed' is no number");
	}
	info->clock_ms =
		get_small(reading, "clock_ms", json_object_get(root, "clock_ms"));
	info->on_one_cpu = cpu != NULL;
	info->one_cpu = get_small(reading, "one_cpu", cpu);
}

static void get_scalars(
	struct reading *reading, const json_t *root, struct run_info *info)
{
	const struct {
		const char *key;
		char **text;
	} texts[] = {
		{"stablerun", &info->stablerun},
		{"exec", &info->exec},
		{"cwd", &info->cwd},
		{"place", &info->place},
		{"rule", &info->rule},
		{"kernel", &info->kernel},
		{"event", &info->event},
		{"no_samples", &info->no_samples},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i].text = get_text(
			reading, texts[i].key, json_object_get(root, texts[i].key));
	info->pid = get_pid(reading, "pid", json_object_get(root, "pid"));
	info->ld_so_cache_size = get_number(
		reading, "ld_so_cache_size", json_object_get(root, "ld_so_cache_size"));
	info->frequency =
		get_number(reading, "frequency", json_object_get(root, "frequency"));
	info->runs = (unsigned)get_number(reading, "runs", json_object_get(root, "runs"));
	cleanup_free char *personality =
		get_text(reading, "personality", json_object_get(root, "personality"));
	info->personality = personality ? strtoul(personality, NULL, 16) : 0;
}

static void get_all(struct reading *reading, const json_t *root, struct run_info *info)
{
	get_scalars(reading, root, info);
	get_list(reading, root, "argv", &info->argv);
	get_environment(reading, root, &info->env);
	get_list(reading, root, "notes", &info->notes);
	get_pids(reading, root, info);
	get_exit(reading, root, info);
	get_code(reading, root, info);
	get_pins(reading, root, info);
	get_pinned(reading, root, info);
	get_limits(reading, root, info);
	get_pairs(reading, root, "auxv", &info->auxv);
	get_pairs(reading, root, "marks", &info->marks);
	get_pairs(reading, root, "build_ids", &info->build_ids);

	const json_t *cpu = get_kind(reading, root, "cpu", JSON_OBJECT);
	info->cpu_model = get_text(reading, "cpu", json_object_get(cpu, "model"));
	info->cpu_features = get_text(reading, "cpu", json_object_get(cpu, "features"));
	const json_t *clocks = get_kind(reading, root, "clocks", JSON_OBJECT);
	get_clock(reading, clocks, "start", &info->start);
	get_clock(reading, clocks, "end", &info->finish);
	const json_t *lost = get_kind(reading, root, "lost", JSON_OBJECT);
	info->lost_samples =
		get_number(reading, "samples", json_object_get(lost, "samples"));
	get_list(reading, lost, "code", &info->lost_code);
	const json_t *maps = get_kind(reading, root, "maps", JSON_OBJECT);
	info->maps_start = get_text(reading, "maps", json_object_get(maps, "start"));
	info->maps_exit = get_text(reading, "maps", json_object_get(maps, "exit"));
}

static void check_schema(struct reading *reading, const json_t *root)
{
	const json_t *schema = json_object_get(root, "schema");

	if (!json_is_object(root))
		reading_fail(reading, "it is no object");
	else if (!json_is_integer(schema))
		reading_fail(reading, "it has no schema number");
	else if (json_integer_value(schema) != RUN_SCHEMA)
		reading_fail(reading,
			"schema %" JSON_INTEGER_FORMAT " is not known here (only %d)",
			json_integer_value(schema), RUN_SCHEMA);
}

int run_info_parse(struct run_info *info, const char *text, size_t size, const char *name,
	char message[RUN_MESSAGE])
{
	struct reading reading = {.name = name, .message = message};
	json_error_t error;

	*info = (struct run_info){0};
	json_t *root = json_loadb(text, size, 0, &error);
	if (!root) {
		reading_fail(&reading, "line %d, column %d: %s", error.line, error.column,
			error.text);
		return -1;
	}
	check_schema(&reading, root);
	if (!reading.failed)
		get_all(&reading, root, info);
	if (!reading.failed && info->argv.count == 0)
		reading_fail(&reading, "it has no argv");
	json_decref(root);
	if (reading.failed) {
		run_info_release(info);
		return -1;
	}
	return 0;
}

int run_open(struct run *run, const char *path, char message[RUN_MESSAGE])
{
	run_wait(path);
	cleanup_fd int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t size = 0;

	if (directory < 0) {
		snprintf(message, RUN_MESSAGE, "cannot open '%s': %s", path,
			errno == ENOTDIR ? "it is no RUN directory" : strerror(errno));
		return -1;
	}
	cleanup_free char *text = run_read_file(directory, "run.json", JSON_LIMIT, &size);
	if (!text) {
		snprintf(message, RUN_MESSAGE, "cannot open '%s': %s", path,
			errno == ENOENT ? "it has no run.json, so it is no RUN"
					: strerror(errno));
		return -1;
	}
	cleanup_free char *name = xasprintf("%s/run.json", path);
	if (run_info_parse(&run->info, text, size, name, message) < 0)
		return -1;
	run->directory = directory;
	directory = -1;
	run->path = xstrdup(path);
	return 0;
}

void run_close(struct run *run)
{
	close(run->directory);
	free(run->path);
	run_info_release(&run->info);
	*run = (struct run){.directory = -1};
}
