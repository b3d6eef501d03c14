/* --plan=json: the same as --plan for programs. jansson stays inside this file.
 *
 * Keys: schema, file, exec, argv, env, cwd, place, personality, rlimits {name: [soft,
 * hard]}, cpu, seed, rule, run, pins [{name, value, source}], dropped, warnings, refused;
 * null where there is none. Bytes that are no UTF-8 stand as U+FFFD. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/options.h"
#include "launcher/plan.h"

enum { SCHEMA = 1 };

/* jansson refuses strings that are not UTF-8; arguments and variables may be any bytes.
 */
static json_t *text(const char *string)
{
	if (!string)
		return json_null();
	json_t *value = json_string(string);
	if (value)
		return value;
	size_t length = strlen(string);
	cleanup_free char *clean = xmalloc(length * 3 + 1);
	char *out = clean;
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)string[i] < 0x80)
			*out++ = string[i];
		else
			out = (char *)memcpy(out, "\xef\xbf\xbd", 3) + 3;
	}
	return json_stringn(clean, (size_t)(out - clean));
}

static json_t *list(const struct strv *words)
{
	json_t *array = json_array();

	for (size_t i = 0; i < words->count; i++)
		json_array_append_new(array, text(words->items[i]));
	return array;
}

static json_t *pins(const struct plan *plan)
{
	json_t *array = json_array();

	for (size_t i = 0; i < plan->pin_count; i++)
		json_array_append_new(array,
			json_pack("{s:o, s:o, s:o}", "name", text(plan->pins[i].name),
				"value", text(plan->pins[i].value), "source",
				text(plan->pins[i].source)));
	return array;
}

/* RLIM_INFINITY becomes -1. */
static json_t *limits(const struct plan *plan)
{
	json_t *object = json_object();

	for (size_t i = 0; i < plan->limit_count; i++) {
		const struct rlimit *limit = &plan->limits[i].limit;

		json_object_set_new(object, plan->limits[i].name,
			json_pack("[I, I]", (json_int_t)limit->rlim_cur,
				(json_int_t)limit->rlim_max));
	}
	return object;
}

static json_t *persona(const struct plan *plan)
{
	char hex[2 + 2 * sizeof(plan->persona) + 1];

	snprintf(hex, sizeof(hex), "%#lx", plan->persona);
	return json_string(hex);
}

int plan_print_json(const struct plan *plan, FILE *stream)
{
	json_t *root = json_object();

	json_object_set_new(root, "schema", json_integer(SCHEMA));
	json_object_set_new(root, "file", text(plan->file));
	json_object_set_new(root, "exec", text(plan->exec));
	json_object_set_new(root, "argv", list(&plan->argv));
	json_object_set_new(root, "env", list(&plan->envp));
	json_object_set_new(root, "cwd", text(plan->cwd));
	json_object_set_new(root, "place", text(options_place_name(plan->place)));
	json_object_set_new(root, "personality", persona(plan));
	json_object_set_new(root, "rlimits", limits(plan));
	json_object_set_new(
		root, "cpu", plan->cpu < 0 ? json_null() : json_integer(plan->cpu));
	json_object_set_new(root, "seed",
		plan->seeded ? json_integer((json_int_t)plan->seed) : json_null());
	json_object_set_new(root, "clock_ms", json_integer(plan->clock_ms));
	json_object_set_new(root, "rule", text(plan->rule));
	json_object_set_new(root, "run", text(plan->run));
	json_object_set_new(root, "pins", pins(plan));
	json_object_set_new(root, "dropped", list(&plan->dropped));
	json_object_set_new(root, "warnings", list(&plan->warnings));
	json_object_set_new(root, "refused", text(plan->refusal));
	int result = json_dumpf(root, stream, JSON_INDENT(2));
	if (!result && fputc('\n', stream) == EOF)
		result = -1;
	json_decref(root);
	return result;
}
