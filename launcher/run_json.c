/* Writing run.json, schema 1, from struct run_info. run_read.c reads it.
 *
 * Fields are added, never changed, within a schema number: a reader ignores what it does
 * not know and takes what is missing for "not known". A string that is no UTF-8 (file
 * names and environments are bytes) is written as {"hex": "6180ff"}. The pad is some 30 KB
 * of one letter: its item has no value in the list and `pad` says how long that is. */
#include "launcher/run.h"

#include "launcher/base.h"
#include "launcher/pad.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_value(const char *text)
{
	if (!text)
		return json_null();
	json_t *value = json_string(text);
	if (value)
		return value;
	size_t size = strlen(text);
	cleanup_free char *hex = xmalloc(2 * size + 1);
	for (size_t i = 0; i < size; i++)
		sprintf(hex + 2 * i, "%02x", (unsigned char)text[i]);
	return json_pack("{s:s}", "hex", hex);
}

/* A key has to be a string: bytes that make it no UTF-8 become '?'. */
static void set_named(json_t *object, const char *name, json_t *value)
{
	if (json_object_set(object, name, value) < 0) {
		cleanup_free char *plain = xstrdup(name);
		for (char *c = plain; *c; c++)
			*c = (unsigned char)*c < 0x80 ? *c : '?';
		json_object_set(object, plain, value);
	}
	json_decref(value);
}

static json_t *list_value(const struct strv *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, text_value(list->items[i]));
	return array;
}

/* How long a pad's value is, or 0 where the variable is none. */
static size_t pad_length(const char *item)
{
	size_t name = strlen(PAD_NAME);

	if (strncmp(item, PAD_NAME, name) != 0)
		return 0;
	size_t length = strspn(item + name, "x");
	return item[name + length] ? 0 : length;
}

static void set_environment(json_t *root, const struct strv *env)
{
	json_t *array = json_array();
	size_t pad = 0;

	for (size_t i = 0; i < env->count; i++) {
		size_t length = pad ? 0 : pad_length(env->items[i]);
		json_array_append_new(
			array, text_value(length ? PAD_NAME : env->items[i]));
		pad = length ? length : pad;
	}
	json_object_set_new(root, "env", array);
	if (pad)
		json_object_set_new(root, "pad", json_integer((json_int_t)pad));
}

static json_t *code_value(const struct run_info *info)
{
	json_t *array = json_array();

	for (size_t i = 0; i < info->code_count; i++) {
		const struct run_code *code = &info->code[i];
		char address[24];

		snprintf(address, sizeof(address), "%#" PRIx64, code->address);
		json_array_append_new(
			array, json_pack("{s:i,s:s,s:I,s:o,s:I}", "pid", (int)code->pid,
				       "address", address, "size", (json_int_t)code->size,
				       "fate", text_value(code->fate), "time",
				       (json_int_t)code->time));
	}
	return array;
}

static json_t *pairs_value(const struct run_pairs *pairs)
{
	json_t *object = json_object();

	for (size_t i = 0; i < pairs->count; i++)
		set_named(
			object, pairs->items[i].name, text_value(pairs->items[i].value));
	return object;
}

static json_t *pins_value(const struct run_info *info)
{
	json_t *array = json_array();

	for (size_t i = 0; i < info->pin_count; i++) {
		json_t *pin = json_object();
		json_object_set_new(pin, "name", text_value(info->pins[i].name));
		json_object_set_new(pin, "value", text_value(info->pins[i].value));
		json_object_set_new(pin, "source", text_value(info->pins[i].source));
		json_array_append_new(array, pin);
	}
	return array;
}

static json_t *limit_value(uint64_t limit)
{
	return limit > INT64_MAX ? json_string("unlimited")
				 : json_integer((json_int_t)limit);
}

static json_t *limits_value(const struct run_info *info)
{
	json_t *object = json_object();

	for (size_t i = 0; i < info->limit_count; i++) {
		const struct run_limit *limit = &info->limits[i];
		json_t *both = json_array();
		json_array_append_new(both, limit_value(limit->soft));
		json_array_append_new(both, limit_value(limit->hard));
		json_object_set_new(object, limit->name, both);
	}
	return object;
}

static json_t *exit_value(const struct run_info *info)
{
	switch (info->end) {
	case RUN_END_EXITED: return json_pack("{s:i}", "status", info->status);
	case RUN_END_KILLED:
		return json_pack("{s:i,s:b}", "signal", info->signal, "core", info->core);
	case RUN_END_UNKNOWN: break;
	}
	json_t *object = json_object();
	json_object_set_new(object, "unknown",
		text_value(info->end_unknown ? info->end_unknown : "not observed"));
	return object;
}

static json_t *clock_value(const struct run_clock *clock)
{
	return json_pack("{s:I,s:I}", "realtime", (json_int_t)clock->realtime,
		"monotonic", (json_int_t)clock->monotonic);
}

static json_t *pids_value(const struct run_info *info)
{
	json_t *array = json_array();

	for (size_t i = 0; i < info->pid_count; i++)
		json_array_append_new(array, json_integer(info->pids[i]));
	return array;
}

/* A seed may be greater than JSON's integers are here. */
static void set_pinned(json_t *root, const struct run_info *info)
{
	char seed[24];

	if (info->seeded) {
		snprintf(seed, sizeof(seed), "%" PRIu64, info->seed);
		json_object_set_new(root, "seed", json_string(seed));
	}
	if (info->clock_ms)
		json_object_set_new(
			root, "clock_ms", json_integer((json_int_t)info->clock_ms));
	if (info->on_one_cpu)
		json_object_set_new(
			root, "one_cpu", json_integer((json_int_t)info->one_cpu));
}

char *run_info_format(const struct run_info *info)
{
	char personality[24];

	/* Nobody chooses our keys: no seed from /dev/urandom is needed. */
	json_object_seed(1);
	json_t *root = json_object();

	snprintf(personality, sizeof(personality), "0x%08lx", info->personality);
	json_object_set_new(root, "schema", json_integer(RUN_SCHEMA));
	json_object_set_new(root, "stablerun", text_value(info->stablerun));
	json_object_set_new(root, "argv", list_value(&info->argv));
	json_object_set_new(root, "exec", text_value(info->exec));
	set_environment(root, &info->env);
	json_object_set_new(root, "cwd", text_value(info->cwd));
	json_object_set_new(root, "pid", json_integer(info->pid));
	json_object_set_new(root, "pids", pids_value(info));
	json_object_set_new(root, "exit", exit_value(info));
	json_object_set_new(root, "pins", pins_value(info));
	set_pinned(root, info);
	json_object_set_new(root, "rlimits", limits_value(info));
	json_object_set_new(root, "personality", json_string(personality));
	json_object_set_new(root, "place", text_value(info->place));
	json_object_set_new(root, "rule", text_value(info->rule));
	json_object_set_new(root, "auxv", pairs_value(&info->auxv));
	json_object_set_new(root, "marks", pairs_value(&info->marks));
	json_object_set_new(root, "kernel", text_value(info->kernel));
	json_object_set_new(root, "cpu",
		json_pack("{s:o,s:o}", "model", text_value(info->cpu_model), "features",
			text_value(info->cpu_features)));
	json_object_set_new(root, "ld_so_cache_size",
		json_integer((json_int_t)info->ld_so_cache_size));
	json_object_set_new(root, "build_ids", pairs_value(&info->build_ids));
	json_object_set_new(root, "clocks",
		json_pack("{s:o,s:o}", "start", clock_value(&info->start), "end",
			clock_value(&info->finish)));
	json_object_set_new(root, "code", code_value(info));
	json_object_set_new(root, "lost",
		json_pack("{s:I,s:o}", "samples", (json_int_t)info->lost_samples, "code",
			list_value(&info->lost_code)));
	json_object_set_new(root, "event", text_value(info->event));
	json_object_set_new(root, "frequency", json_integer((json_int_t)info->frequency));
	json_object_set_new(root, "no_samples", text_value(info->no_samples));
	json_object_set_new(root, "maps",
		json_pack("{s:o,s:o}", "start", text_value(info->maps_start), "exit",
			text_value(info->maps_exit)));
	json_object_set_new(root, "notes", list_value(&info->notes));
	json_object_set_new(root, "runs", json_integer(info->runs ? info->runs : 1));

	char *text = json_dumps(root, JSON_INDENT(1));
	json_decref(root);
	return text;
}
