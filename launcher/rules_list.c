/* `stablerun rules`: the rules that are found, in words. */
#include "launcher/rules.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/options.h"

static const char usage[] =
	"Usage: stablerun rules [NAME...]\n"
	"List the rules for runtimes: how each recognises one and what it adds.\n"
	"With NAMEs only those, and why. Rules of your own stand in\n"
	"$XDG_CONFIG_HOME/stablerun/rules (or ~/.config/stablerun/rules).\n";

struct listing {
	char **names; /* wanted, or none: all */
	int count;
	bool *found;
};

static void print_words(const char *label, const struct strv *words)
{
	for (size_t i = 0; i < words->count; i++)
		printf("  %-12s %s\n", i ? "" : label, words->items[i]);
}

/* Breaks `text` at blanks so that lines stay below 80 columns. */
static void print_wrapped(const char *label, const char *text)
{
	enum { INDENT = 15, WIDTH = 63 };
	const char *head = label;

	while (*text) {
		size_t length = strlen(text);
		if (length > WIDTH) {
			length = WIDTH;
			while (length > 1 && text[length] != ' ')
				length--;
			if (length == 1)
				length = strcspn(text, " ");
		}
		printf("  %-12s %.*s\n", head, (int)length, text);
		text += length;
		text += strspn(text, " ");
		head = "";
	}
}

static void print_needs(const struct rule *rule)
{
	if (rule->seed)
		printf("  %-12s deterministic randomness (--seed=%lu)\n", "needs",
			rule->seed_value);
	if (rule->clock_ms)
		printf("  %-12s a clock that stands still for the first %u ms\n",
			rule->seed ? "" : "needs", rule->clock_ms);
	if (rule->one_cpu)
		printf("  %-12s a single CPU\n",
			rule->seed || rule->clock_ms ? "" : "needs");
}

static bool is_wanted(struct listing *listing, const char *name)
{
	if (listing->count == 0)
		return true;
	for (int i = 0; i < listing->count; i++) {
		if (strcmp(listing->names[i], name) == 0) {
			listing->found[i] = true;
			return true;
		}
	}
	return false;
}

static void print_rule(void *context, const struct rule *rule)
{
	static const char *const arg_labels[] = {"pins", "frames", "when kept"};
	struct listing *listing = context;

	if (!is_wanted(listing, rule->name))
		return;
	printf("%s: %s%s\n", rule->name, rule->title ? rule->title : rule->path,
		rule->user ? " (your own)" : "");
	print_words("recognised", &rule->when);
	for (int part = 0; part < RULE_PARTS; part++) {
		print_words(arg_labels[part], &rule->args[part]);
		print_words(
			rule->args[part].count ? "" : arg_labels[part], &rule->env[part]);
	}
	print_needs(rule);
	print_words("collects", &rule->collect);
	if (listing->count && rule->why)
		print_wrapped("why", rule->why);
	if (listing->count)
		printf("  %-12s %s\n", "file", rule->path);
}

int rules_main(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int option;

	argv[0] = (char *)program_name;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'h')
			return STATUS_TROUBLE;
		fputs(usage, stdout);
		return fflush(stdout) ? STATUS_TROUBLE : 0;
	}
	struct listing listing = {.names = argv + optind,
		.count = argc - optind,
		.found = xcalloc((size_t)argc, sizeof(bool))};
	int broken = rules_walk(print_rule, &listing);
	for (int i = 0; i < listing.count; i++) {
		if (!listing.found[i])
			broken++, warn("no rule is named '%s'", listing.names[i]);
	}
	free(listing.found);
	if (fflush(stdout))
		die(STATUS_TROUBLE, "cannot write to standard output: %s",
			strerror(errno));
	return broken ? STATUS_TROUBLE : 0;
}
