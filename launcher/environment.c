/* The environment that a program is given: pinned or clean. */
#include "launcher/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/pad.h"

/* Variables that tell how a program was started, not how it should behave. */
static const char *const volatile_variables[] = {
	"_=", "SHLVL=", "OLDPWD=",		/* shells */
	"LINES=", "COLUMNS=",			/* gdb, interactive shells */
	"PREFIX=", "PERF_", "DEBUGINFOD_URLS=", /* perf */
	PAD_NAME, PAD_EVEN,			/* a launcher around this one */
};

static bool is_volatile(const char *variable)
{
	for (size_t i = 0; i < ARRAY_SIZE(volatile_variables); i++) {
		const char *name = volatile_variables[i];

		if (!strncmp(variable, name, strlen(name)))
			return true;
	}
	return false;
}

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

static char *name_of(const char *variable)
{
	return xasprintf("%.*s", (int)name_length(variable), variable);
}

const char *environment_get(char *const *variables, const char *name)
{
	size_t length = strlen(name);

	for (; *variables; variables++)
		if (!strncmp(*variables, name, length) && (*variables)[length] == '=')
			return *variables + length + 1;
	return NULL;
}

void environment_set(struct strv *variables, const char *name, const char *value)
{
	size_t length = strlen(name);

	for (size_t i = variables->count; i-- > 0;) {
		const char *item = variables->items[i];

		if (!strncmp(item, name, length) && item[length] == '=')
			strv_remove(variables, i);
	}
	strv_add(variables, xasprintf("%s=%s", name, value));
}

/* perf puts its exec path (…/perf-core) first so that its scripts are found. */
const char *environment_strip_path(const char *path)
{
	static const char perf[] = "/perf-core";

	for (;;) {
		size_t length = strcspn(path, ":");
		size_t tail = sizeof(perf) - 1;

		if (!path[length] || length < tail ||
			strncmp(path + length - tail, perf, tail))
			return path;
		path += length + 1;
	}
}

static void add_pinned(struct strv *out, struct strv *dropped, const char *variable)
{
	static const char path[] = "PATH=";
	const char *value = variable + sizeof(path) - 1;

	if (is_volatile(variable)) {
		strv_add(dropped, name_of(variable));
		return;
	}
	if (strncmp(variable, path, sizeof(path) - 1)) {
		strv_add(out, xstrdup(variable));
		return;
	}
	const char *stripped = environment_strip_path(value);
	if (stripped != value)
		strv_add(dropped, xstrdup("PATH's perf-core"));
	strv_add(out, xasprintf("%s%s", path, stripped));
}

static void set_pwd(struct strv *out, const char *cwd)
{
	environment_set(out, "PWD", cwd ? cwd : "");
	if (!cwd)
		strv_remove(out, out->count - 1);
}

void environment_pin(
	struct strv *out, struct strv *dropped, char *const *envp, const char *cwd)
{
	for (; *envp; envp++)
		add_pinned(out, dropped, *envp);
	set_pwd(out, cwd);
}

void environment_clean(struct strv *out, char *const *envp, const char *cwd)
{
	const char *home = environment_get(envp, "HOME");

	environment_set(out, "PATH",
		"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	environment_set(out, "LANG", "C.UTF-8");
	environment_set(out, "HOME", home ? home : "/");
	set_pwd(out, cwd);
}

struct entry {
	char *variable;
	size_t order;
};

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	size_t a_length = name_length(a->variable), b_length = name_length(b->variable);
	size_t length = a_length < b_length ? a_length : b_length;
	int order = memcmp(a->variable, b->variable, length);

	if (order)
		return order;
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

void environment_sort(struct strv *variables)
{
	struct entry *entries = xreallocarray(NULL, variables->count, sizeof(*entries));

	for (size_t i = 0; i < variables->count; i++)
		entries[i] = (struct entry){variables->items[i], i};
	qsort(entries, variables->count, sizeof(*entries), compare);
	for (size_t i = 0; i < variables->count; i++)
		variables->items[i] = entries[i].variable;
	free(entries);
}
