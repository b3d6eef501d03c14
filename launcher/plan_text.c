/* --plan: a table that a person reads. */
#include <stdio.h>
#include <string.h>

#include "launcher/options.h"
#include "launcher/pad.h"
#include "launcher/plan.h"
#include "launcher/quote.h"

enum { NAME_WIDTH = 13 };

static void print_words(FILE *stream, const struct strv *words)
{
	for (size_t i = 0; i < words->count; i++) {
		fputs(i ? " " : "", stream);
		quote_print(stream, words->items[i]);
	}
	fputc('\n', stream);
}

static void print_variables(FILE *stream, const struct plan *plan)
{
	static const char pad[] = PAD_NAME;

	for (size_t i = 0; i < plan->envp.count; i++) {
		const char *variable = plan->envp.items[i];

		fputs("  ", stream);
		if (!strncmp(variable, pad, sizeof(pad) - 1) && plan->env != ENV_KEEP)
			fprintf(stream, "%s(%zu bytes)", pad, strlen(variable) + 1);
		else
			quote_print(stream, variable);
		fputc('\n', stream);
	}
}

static void print_note(FILE *stream, const char *kind, const char *text)
{
	fprintf(stream, "\n%s: ", kind);
	quote_text(stream, text, 0);
	fputc('\n', stream);
}

int plan_print_text(const struct plan *plan, FILE *stream)
{
	size_t width = strlen("VALUE");

	for (size_t i = 0; i < plan->pin_count; i++)
		if (strlen(plan->pins[i].value) > width)
			width = strlen(plan->pins[i].value);
	if (width > 48)
		width = 48;
	fprintf(stream, "%-*s %-*s  %s\n", NAME_WIDTH, "PIN", (int)width, "VALUE",
		"SOURCE");
	for (size_t i = 0; i < plan->pin_count; i++) {
		fprintf(stream, "%-*s ", NAME_WIDTH, plan->pins[i].name);
		quote_text(stream, plan->pins[i].value, (int)width);
		fprintf(stream, "  %s\n", plan->pins[i].source);
	}
	fprintf(stream, "\n%-*s ", NAME_WIDTH, "execute");
	quote_print(stream, plan->exec);
	fprintf(stream, "\n%-*s ", NAME_WIDTH, "arguments");
	print_words(stream, &plan->argv);
	if (plan->dropped.count) {
		fprintf(stream, "%-*s ", NAME_WIDTH, "dropped");
		print_words(stream, &plan->dropped);
	}
	fprintf(stream, "%-*s %zu variables\n", NAME_WIDTH, "environment",
		plan->envp.count);
	print_variables(stream, plan);
	for (size_t i = 0; i < plan->warnings.count; i++)
		print_note(stream, "warning", plan->warnings.items[i]);
	if (plan->refusal)
		print_note(stream, "refused", plan->refusal);
	return ferror(stream) ? -1 : 0;
}
