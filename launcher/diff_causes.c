/* Naming causes from what the two run.json say. A cause is only ever evidence: something that
 * differs and is known to move things. It is likely where a part that it explains moved. */
#include "launcher/diff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

#include "launcher/base.h"
#include "launcher/run.h"

enum {
	PAGE = 4096,
	EVERYTHING = DIFF_STACK | DIFF_HEAP | DIFF_PROGRAM | DIFF_MAPPINGS | DIFF_CODE |
		     DIFF_BYTES,
	/* Memory that a program fills in another way. */
	CONTENT = DIFF_HEAP | DIFF_MAPPINGS | DIFF_CODE | DIFF_BYTES,
	NAMES_SHOWN = 4,
};

struct search {
	struct diff *diff;
	const struct run_info *a;
	const struct run_info *b;
	bool padded; /* in both, so that the environment cannot move the stack */
};

__attribute__((format(printf, 4, 5))) static void found(const struct search *search,
	const char *name, unsigned explains, const char *format, ...)
{
	struct diff *diff = search->diff;
	struct diff_cause cause = {.name = name,
		.explains = explains,
		.likely = (explains & diff->moved) != 0};
	va_list list;

	va_start(list, format);
	int length = vasprintf(&cause.text, format, list);
	va_end(list);
	if (length < 0)
		die(125, "out of memory");
	diff->causes = xreallocarray(diff->causes, diff->cause_count + 1, sizeof(cause));
	diff->causes[diff->cause_count++] = cause;
}

static bool differ(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") != 0;
}

static const char *or_none(const char *text)
{
	return text && *text ? text : "none";
}

/* ---- place ---- */

static void find_place(const struct search *search)
{
	bool moved_a = search->a->place && strcmp(search->a->place, "move") == 0;
	bool moved_b = search->b->place && strcmp(search->b->place, "move") == 0;
	bool random_a = !moved_a && !(search->a->personality & ADDR_NO_RANDOMIZE);
	bool random_b = !moved_b && !(search->b->personality & ADDR_NO_RANDOMIZE);

	if (random_a || random_b)
		found(search, "randomised addresses", EVERYTHING,
			"address space randomisation was on in %s (--place=personality or "
			"--place=move)",
			random_a ? random_b ? "both" : "A" : "B");
	else if (moved_a != moved_b)
		found(search, "place", DIFF_MAPPINGS | DIFF_CODE | DIFF_BYTES,
			"A was placed by '%s' and B by '%s'%s (--place=move gives every "
			"machine the same)",
			or_none(search->a->place), or_none(search->b->place),
			search->diff->mappings.group_count == 1
				? ": one constant shift of all mappings"
				: "");
}

static const struct run_limit *limit_of(const struct run_info *info, const char *name)
{
	for (size_t i = 0; i < info->limit_count; i++) {
		if (strcmp(info->limits[i].name, name) == 0)
			return &info->limits[i];
	}
	return NULL;
}

static void find_limits(const struct search *search)
{
	const struct run_limit *a = limit_of(search->a, "stack");
	const struct run_limit *b = limit_of(search->b, "stack");

	if (!a || !b || a->soft == b->soft)
		return;
	/* Below 128 MiB mmap begins at one place, but threads' stacks have this size. */
	found(search, "stack limit", DIFF_MAPPINGS | DIFF_CODE,
		"the soft stack limit was %" PRIu64 " bytes in A and %" PRIu64
		" in B (ulimit -Hs allows what stablerun sets)",
		a->soft, b->soft);
}

/* ---- the command ---- */

static void find_command(const struct search *search)
{
	if (differ(search->a->exec, search->b->exec))
		found(search, "executed path",
			(search->padded ? 0u : DIFF_STACK) | DIFF_PROGRAM | CONTENT,
			"A executed '%s', B '%s'", or_none(search->a->exec),
			or_none(search->b->exec));
	bool same = search->a->argv.count == search->b->argv.count;
	for (size_t i = 0; same && i < search->a->argv.count; i++)
		same = !differ(search->a->argv.items[i], search->b->argv.items[i]);
	if (same)
		return;
	size_t i = 0;
	while (i < search->a->argv.count && i < search->b->argv.count &&
		!differ(search->a->argv.items[i], search->b->argv.items[i]))
		i++;
	found(search, "arguments", (search->padded ? 0u : DIFF_STACK) | CONTENT,
		"argument %zu is '%.80s' in A and '%.80s' in B", i,
		i < search->a->argv.count ? search->a->argv.items[i] : "(absent)",
		i < search->b->argv.count ? search->b->argv.items[i] : "(absent)");
}

/* ---- environment ---- */

static size_t name_length(const char *item)
{
	return strcspn(item, "=");
}

static const char *variable(const struct run_info *info, const char *name, size_t length)
{
	for (size_t i = 0; i < info->env.count; i++) {
		const char *item = info->env.items[i];
		if (name_length(item) == length && strncmp(item, name, length) == 0)
			return item[length] ? item + length + 1 : item + length;
	}
	return NULL;
}

static const char *variable_named(const struct run_info *info, const char *name)
{
	return variable(info, name, strlen(name));
}

/* What other causes tell better, and the pad, which follows from the rest. */
static bool is_special(const char *item)
{
	static const char *const names[] = {
		"STABLERUN_PAD", "STABLERUN_PAD_EVEN", "LD_PRELOAD", "LANG", "PWD"};
	size_t length = name_length(item);

	if (strncmp(item, "LC_", 3) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) == length && strncmp(item, names[i], length) == 0)
			return true;
	}
	return false;
}

struct names {
	char text[160];
	size_t count;
	size_t bytes;
};

static void add_name(struct names *names, const char *item)
{
	size_t used = strlen(names->text);

	if (names->count < NAMES_SHOWN)
		snprintf(names->text + used, sizeof(names->text) - used, "%s%.*s",
			names->count ? ", " : "",
			(int)(name_length(item) < 32 ? name_length(item) : 32), item);
	else if (names->count == NAMES_SHOWN)
		snprintf(names->text + used, sizeof(names->text) - used, ", …");
	names->count++;
	names->bytes += strlen(item) + 1;
}

/* Variables of `a` that `b` lacks; with `changed`, those that have another value there. */
static struct names collect_names(
	const struct run_info *a, const struct run_info *b, bool changed)
{
	struct names names = {0};

	for (size_t i = 0; i < a->env.count; i++) {
		const char *item = a->env.items[i];
		size_t length = name_length(item);
		const char *other = variable(b, item, length);
		if (is_special(item))
			continue;
		if (changed ? other && differ(item[length] ? item + length + 1
							   : item + length,
					       other)
			    : !other)
			add_name(&names, item);
	}
	return names;
}

static size_t environment_bytes(const struct run_info *info)
{
	size_t bytes = 0;

	for (size_t i = 0; i < info->env.count; i++)
		bytes += strlen(info->env.items[i]) + 1;
	return bytes;
}

static void find_environment(const struct search *search)
{
	unsigned explains = (search->padded ? 0u : DIFF_STACK) | CONTENT;
	struct names only_a = collect_names(search->a, search->b, false);
	struct names only_b = collect_names(search->b, search->a, false);
	struct names changed = collect_names(search->a, search->b, true);

	if (only_a.count || only_b.count)
		found(search, "environment count", explains,
			"%zu variables in A, %zu in B%s%s%s%s%s", search->a->env.count,
			search->b->env.count, only_a.count ? "; only in A: " : "",
			only_a.text, only_b.count ? "; only in B: " : "", only_b.text,
			search->padded ? " (--env=clean hands on a fixed few)"
				       : " (--env=pinned pads the stack)");
	if (!changed.count)
		return;
	size_t a = environment_bytes(search->a), b = environment_bytes(search->b);
	if (a != b && !search->padded)
		found(search, "environment bytes", explains,
			"%zu bytes of environment in A, %zu in B; other values of: %s "
			"(--env=pinned pads the stack)",
			a, b, changed.text);
	else
		found(search, "environment content", explains & ~(unsigned)DIFF_STACK,
			"other values of: %s (--env=clean hands on a fixed few)",
			changed.text);
}

static void find_directory(const struct search *search)
{
	if (differ(search->a->cwd, search->b->cwd))
		found(search, "working directory",
			(search->padded ? 0u : DIFF_STACK) | CONTENT,
			"A ran in '%s', B in '%s'", or_none(search->a->cwd),
			or_none(search->b->cwd));
}

/* ---- libraries ---- */

static void find_preload(const struct search *search)
{
	const char *a = variable_named(search->a, "LD_PRELOAD");
	const char *b = variable_named(search->b, "LD_PRELOAD");

	if (differ(a, b))
		found(search, "LD_PRELOAD", DIFF_STACK | CONTENT,
			"LD_PRELOAD is '%s' in A and '%s' in B", or_none(a), or_none(b));
}

static void find_loader_cache(const struct search *search)
{
	uint64_t a = (search->a->ld_so_cache_size + PAGE - 1) / PAGE;
	uint64_t b = (search->b->ld_so_cache_size + PAGE - 1) / PAGE;

	if (a != b)
		found(search, "ld.so.cache", DIFF_MAPPINGS | DIFF_CODE,
			"/etc/ld.so.cache has %" PRIu64 " pages in A and %" PRIu64
			" in B (a package was installed or removed): the loader maps it "
			"before the libraries",
			a, b);
}

static void find_locale(const struct search *search)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LC_COLLATE",
		"LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "LANG"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *a = variable_named(search->a, names[i]);
		const char *b = variable_named(search->b, names[i]);
		if (!differ(a, b))
			continue;
		found(search, "locale", (search->padded ? 0u : DIFF_STACK) | CONTENT,
			"%s is '%s' in A and '%s' in B: a locale is mapped file by file",
			names[i], or_none(a), or_none(b));
		return;
	}
}

static void find_build_ids(const struct search *search)
{
	const struct run_pairs *a = &search->a->build_ids;

	for (size_t i = 0; i < a->count; i++) {
		const char *other =
			run_pairs_get(&search->b->build_ids, a->items[i].name);
		if (other && differ(a->items[i].value, other))
			found(search, "build-id", DIFF_PROGRAM | CONTENT,
				"'%s' is another build: %.16s… in A, %.16s… in B",
				a->items[i].name, a->items[i].value, other);
	}
}

static void find_libraries(const struct search *search)
{
	const struct diff *diff = search->diff;

	for (size_t i = 0; i < diff->mappings.only_count; i++) {
		const struct diff_group *only = &diff->mappings.only[i];
		/* Each has told it already. */
		if (strstr(only->first, "/locale/") || only->program ||
			!differ(only->first, search->a->exec) ||
			!differ(only->first, search->b->exec))
			continue;
		found(search, "mapped files", CONTENT, "'%s' is mapped only in %s",
			only->first, only->from ? "A" : "B");
		return;
	}
}

/* ---- the machine ---- */

static void find_machine(const struct search *search)
{
	if (differ(search->a->kernel, search->b->kernel))
		found(search, "kernel", EVERYTHING,
			"the kernel is '%s' in A and '%s' in B",
			or_none(search->a->kernel), or_none(search->b->kernel));
	if (differ(search->a->cpu_features, search->b->cpu_features))
		found(search, "cpu features", CONTENT,
			"the CPUs have other features (%s in A, %s in B): libraries and "
			"compilers choose code by them",
			or_none(search->a->cpu_model), or_none(search->b->cpu_model));
}

/* ---- pins ---- */

static const struct run_pin *pin_of(const struct run_info *info, const char *name)
{
	for (size_t i = 0; i < info->pin_count; i++) {
		if (strcmp(info->pins[i].name, name) == 0)
			return &info->pins[i];
	}
	return NULL;
}

static const char *value_of(const struct run_info *info, const char *name)
{
	const struct run_pin *pin = pin_of(info, name);

	return pin ? pin->value : "not pinned";
}

static void find_pins(const struct search *search)
{
	static const struct {
		const char *pin;
		const char *cause;
		unsigned explains;
	} pins[] = {
		{"randomness", "seed", DIFF_STACK | CONTENT},
		{"clock", "clock", CONTENT},
		{"cpu", "cpu", CONTENT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pins); i++) {
		const char *a = value_of(search->a, pins[i].pin);
		const char *b = value_of(search->b, pins[i].pin);
		if (differ(a, b))
			found(search, pins[i].cause, pins[i].explains,
				"%s: '%.60s' in A, '%.60s' in B", pins[i].pin, a, b);
	}
}

static bool from_rule(const struct run_pin *pin)
{
	return strncmp(pin->source, "rule ", 5) == 0;
}

/* The first thing that a rule added to `a` alone. */
static const struct run_pin *rule_difference(
	const struct run_info *a, const struct run_info *b)
{
	for (size_t i = 0; i < a->pin_count; i++) {
		bool there = false;
		if (!from_rule(&a->pins[i]))
			continue;
		for (size_t j = 0; j < b->pin_count && !there; j++)
			there = !differ(a->pins[i].name, b->pins[j].name) &&
				!differ(a->pins[i].value, b->pins[j].value);
		if (!there)
			return &a->pins[i];
	}
	return NULL;
}

static void find_rules(const struct search *search)
{
	const struct run_pin *a = rule_difference(search->a, search->b);
	const struct run_pin *b = rule_difference(search->b, search->a);

	if (differ(search->a->rule, search->b->rule))
		found(search, "rule", DIFF_STACK | CONTENT,
			"the rule was '%s' in A and '%s' in B", or_none(search->a->rule),
			or_none(search->b->rule));
	else if (a || b)
		found(search, "rule flags", DIFF_STACK | CONTENT,
			"rule '%s' gave %s the %s '%s', and not %s",
			or_none(search->a->rule), a ? "A" : "B", a ? a->name : b->name,
			a ? a->value : b->value, a ? "B" : "A");
}

/* ---- code ---- */

static bool explained_code(const struct search *search)
{
	for (size_t i = 0; i < search->diff->cause_count; i++) {
		if (search->diff->causes[i].explains & DIFF_CODE)
			return true;
	}
	return false;
}

static void find_code(const struct search *search)
{
	const struct diff *diff = search->diff;
	const char *name = diff->code.first.name;

	if (!name || !(diff->moved & DIFF_CODE))
		return;
	if (diff->code.resized)
		found(search, "code size", DIFF_CODE,
			"'%s' (code object %zu) stands at the same address with another "
			"size, so that all after it moved",
			name, diff->code.first.index + 1);
	else if (diff->code.reordered && !diff->code.only_a && !diff->code.only_b)
		found(search, "thread race", DIFF_CODE | DIFF_BYTES | DIFF_MAPPINGS,
			"the same code was made in another order from '%s' (code object "
			"%zu) on: threads raced (--cpu=N, or compile in the foreground)",
			name, diff->code.first.index + 1);
	else if ((diff->code.only_a || diff->code.only_b) && !explained_code(search))
		found(search, "other code", DIFF_CODE | DIFF_BYTES,
			"%zu code objects are in A only and %zu in B only; the first "
			"difference is '%s' (code object %zu): what was compiled depended "
			"on timing or on randomness (--seed, --clock=startup, --cpu=N)",
			diff->code.only_a, diff->code.only_b, name,
			diff->code.first.index + 1);
}

/* Last: nothing that was kept explains it, but something was left free. */
static void find_unpinned(const struct search *search)
{
	unsigned unexplained = search->diff->moved;

	for (size_t i = 0; i < search->diff->cause_count; i++)
		unexplained &= ~search->diff->causes[i].explains;
	if (!unexplained)
		return;
	if (!pin_of(search->a, "randomness"))
		found(search, "randomness", unexplained,
			"nothing that was kept differs, and randomness was not pinned "
			"(--seed)");
	else
		found(search, "timing", unexplained,
			"nothing that was kept differs: threads or clocks "
			"(--cpu=N, --clock=startup)");
}

static int compare_causes(const void *left, const void *right)
{
	const struct diff_cause *a = left, *b = right;

	return (int)b->likely - (int)a->likely;
}

/* Sorted stably by hand: qsort is not. */
static void put_likely_first(struct diff *diff)
{
	for (size_t i = 1; i < diff->cause_count; i++) {
		struct diff_cause cause = diff->causes[i];
		size_t j = i;
		for (; j > 0 && compare_causes(&diff->causes[j - 1], &cause) > 0; j--)
			diff->causes[j] = diff->causes[j - 1];
		diff->causes[j] = cause;
	}
}

void diff_find_causes(struct diff *diff, const struct run *a, const struct run *b)
{
	static void (*const steps[])(const struct search *) = {find_place, find_limits,
		find_command, find_preload, find_loader_cache, find_locale,
		find_build_ids, find_machine, find_rules, find_pins, find_environment,
		find_directory, find_libraries, find_code, find_unpinned};
	struct search search = {.diff = diff,
		.a = &a->info,
		.b = &b->info,
		.padded = pin_of(&a->info, "stack pad") && pin_of(&b->info, "stack pad")};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		steps[i](&search);
	put_likely_first(diff);
}
