/* What a rule adds to a plan, each thing with its pin. */
#include "launcher/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/plan.h"

/* What is no pin but a part of keeping the run says so. */
static const char *const purposes[] = {
	[RULE_PIN] = "",
	[RULE_FRAMES] = ", for call stacks",
	[RULE_DUMP] = ", because the run is kept",
};

/* After the program's name, or after the script's where the script is what matched. */
static size_t first_place(const struct plan *plan, const struct rule *rule)
{
	for (size_t i = 1; rule->for_script && i < plan->argv.count; i++) {
		if (strcmp(plan->argv.items[i], plan->file) == 0)
			return i + 1;
	}
	return plan->argv.count ? 1 : 0;
}

/* The user was faster. An option that takes the next argument as its value is never taken
 * for the same one. */
static bool is_there(const struct plan *plan, const struct strv *arguments, size_t index)
{
	const char *next = arguments->items[index + 1];

	return strv_has(&plan->argv, arguments->items[index]) &&
	       (!next || *next == '-') && *arguments->items[index] == '-';
}

static void add_arguments(struct plan *plan, const struct rule *rule, enum rule_part part,
	const char *source, size_t *place)
{
	for (size_t i = 0; i < rule->args[part].count; i++) {
		const char *argument = rule->args[part].items[i];
		if (is_there(plan, &rule->args[part], i))
			continue;
		strv_insert(&plan->argv, (*place)++, xstrdup(argument));
		plan_pin(plan, "argument", source, "%s", argument);
	}
}

/* NAME=VALUE leaves a variable of the user's alone, and NAME is then in `left`: what the
 * rule would add to its own value is left out as well. Else NAME+=VALUE and NAME:=VALUE
 * add. */
static void add_variable(
	struct plan *plan, const char *line, const char *source, struct strv *left)
{
	const char *equals = strchr(line, '=');
	bool joins = equals[-1] == '+' || equals[-1] == ':';
	cleanup_free char *name = strndup(line, (size_t)(equals - line) - joins);
	const char *before = plan_getenv(plan, name);
	const char *value = equals + 1;

	if (before && !joins)
		strv_add(left, xstrdup(name));
	if (strv_has(left, name) || (before && strstr(before, value)))
		return;
	cleanup_free char *joined =
		before && *before ? xasprintf("%s%c%s", before,
					    equals[-1] == '+' ? ' ' : ':', value)
				  : xstrdup(value);
	plan_setenv(plan, name, joined);
	/* As written: what was there before is not the rule's. */
	plan_pin(plan, "variable", source, "%s", line);
}

static void add_needs(
	struct plan *plan, const struct rule *rule, const char *source, int first_cpu)
{
	if (rule->seed && !plan->seeded) {
		plan->seeded = true;
		plan->seed = rule->seed_value;
	}
	if (!plan->clock_ms)
		plan->clock_ms = rule->clock_ms;
	if (rule->one_cpu && plan->cpu < 0 && first_cpu >= 0) {
		plan->cpu = first_cpu;
		plan_pin(plan, "cpu", source, "%d", first_cpu);
		plan_pin(plan, "scheduling", source, PLAN_TURNS);
	}
}

void rules_apply(struct plan *plan, const struct rule *rule, bool kept, int first_cpu)
{
	size_t place = first_place(plan, rule);
	struct strv left = {0};

	plan->rule = xstrdup(rule->name);
	for (int part = 0; part < RULE_PARTS; part++) {
		cleanup_free char *source =
			xasprintf("rule %s%s", rule->name, purposes[part]);
		if (part == RULE_DUMP && !kept)
			continue;
		add_arguments(plan, rule, (enum rule_part)part, source, &place);
		for (size_t i = 0; i < rule->env[part].count; i++)
			add_variable(plan, rule->env[part].items[i], source, &left);
	}
	strv_release(&left);
	cleanup_free char *source = xasprintf("rule %s", rule->name);
	add_needs(plan, rule, source, first_cpu);
	if (kept)
		strv_copy(&plan->collect,
			rule->collect.items ? rule->collect.items : (char *[]){NULL});
}
