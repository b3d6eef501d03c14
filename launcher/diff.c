/* `stablerun diff RUN RUN`: what moved between two kept runs, and why, in words. */
#include "launcher/diff.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/options.h"
#include "launcher/run.h"

enum {
	DIFF_SAME = 0,
	DIFF_MOVED = 1,
	DIFF_TROUBLE = 2,
	GROUPS_SHOWN = 8,
};

static const char usage[] =
	"Usage: stablerun diff [--json] RUN RUN\n"
	"Tell what moved between two kept runs, and why.\n"
	"\n"
	"      --json  one JSON object\n"
	"      --help  print this\n"
	"\n"
	"The exit status is 0 where nothing moved, 1 where something did, 2 in trouble.\n";

int diff_runs(struct diff *diff, const struct run *a, const struct run *b)
{
	*diff = (struct diff){0};
	if (diff_compare_maps(diff, a, b) < 0)
		return -1;
	diff_compare_code(diff, a, b);
	diff_find_causes(diff, a, b);
	return 0;
}

void diff_release(struct diff *diff)
{
	for (size_t i = 0; i < diff->mappings.group_count; i++)
		free(diff->mappings.groups[i].first);
	for (size_t i = 0; i < diff->mappings.only_count; i++)
		free(diff->mappings.only[i].first);
	for (size_t i = 0; i < diff->cause_count; i++)
		free(diff->causes[i].text);
	free(diff->mappings.groups);
	free(diff->mappings.only);
	free(diff->causes);
	free(diff->code.first.name);
	free(diff->bytes.first.name);
	*diff = (struct diff){0};
}

/* ---- in words ---- */

static void print_distance(uint64_t from, uint64_t to)
{
	printf("%s%#" PRIx64, to < from ? "-" : "+", to < from ? from - to : to - from);
}

static void print_group(const struct diff_group *group)
{
	printf("  %-10s %s", group->program ? "program" : "mappings", group->first);
	if (group->count > 1)
		printf(" and %zu more", group->count - 1);
	printf(": ");
	print_distance(group->from, group->to);
	printf(" (%#" PRIx64 " -> %#" PRIx64 ")\n", group->from, group->to);
}

static void print_mappings(const struct diff *diff)
{
	size_t shown = 0;

	for (; shown < diff->mappings.group_count && shown < GROUPS_SHOWN; shown++)
		print_group(&diff->mappings.groups[shown]);
	if (shown < diff->mappings.group_count)
		printf("  %-10s %zu more groups\n", "",
			diff->mappings.group_count - shown);
}

static void print_mark(const char *name, bool moved, uint64_t from, uint64_t to)
{
	if (!moved)
		return;
	printf("  %-10s ", name);
	print_distance(from, to);
	printf(" (%#" PRIx64 " -> %#" PRIx64 ")\n", from, to);
}

static void print_code(const struct diff *diff)
{
	if (diff->moved & DIFF_CODE) {
		printf("  %-10s %zu of %zu JIT code objects", "code", diff->code.moved,
			diff->code.compared);
		if (diff->code.only_a || diff->code.only_b)
			printf(", %zu in A only, %zu in B only", diff->code.only_a,
				diff->code.only_b);
		if (diff->code.first.name && diff->code.first.to)
			printf("; first '%s' (%#" PRIx64 " -> %#" PRIx64 ")",
				diff->code.first.name, diff->code.first.from,
				diff->code.first.to);
		else if (diff->code.first.name)
			printf("; first '%s', only in A", diff->code.first.name);
		putchar('\n');
	}
	if (diff->moved & DIFF_BYTES)
		printf("  %-10s other bytes in %zu of %zu JIT code objects; first '%s' at "
		       "+%#" PRIx64 "\n",
			"bytes", diff->bytes.different, diff->bytes.compared,
			diff->bytes.first.name, diff->bytes.first.from);
}

static void print_only(const struct diff *diff)
{
	size_t shown = 0;

	for (; shown < diff->mappings.only_count && shown < GROUPS_SHOWN; shown++)
		printf("  %-10s %s\n",
			diff->mappings.only[shown].from ? "only in A" : "only in B",
			diff->mappings.only[shown].first);
	if (shown < diff->mappings.only_count)
		printf("  %-10s %zu more files\n", "", diff->mappings.only_count - shown);
}

static void print_causes(const struct diff *diff, bool likely, const char *heading)
{
	bool any = false;

	for (size_t i = 0; i < diff->cause_count; i++) {
		if (diff->causes[i].likely != likely)
			continue;
		if (!any)
			printf("%s\n", heading);
		any = true;
		printf("  %s: %s\n", diff->causes[i].name, diff->causes[i].text);
	}
}

static void print_compared(const struct diff *diff)
{
	printf("compared: ");
	if (diff->mappings.file)
		printf("%zu mappings (%s)", diff->mappings.compared, diff->mappings.file);
	else
		printf("no mappings (none were kept)");
	printf(", %s, %zu JIT code objects, the bytes of %zu\n",
		diff->stack.known ? "stack and heap" : "no stack", diff->code.compared,
		diff->bytes.compared);
}

void diff_print(const struct diff *diff, const char *a, const char *b)
{
	printf("A is %s, B is %s: %s\n", a, b, diff->moved ? "moved" : "the same");
	if (diff->moved)
		printf("what moved, from A to B\n");
	/* Inherited by all that comes later, so it is the first divergence. */
	print_mappings(diff);
	print_mark("heap", diff->moved & DIFF_HEAP, diff->heap.from, diff->heap.to);
	print_mark("stack", diff->moved & DIFF_STACK, diff->stack.from, diff->stack.to);
	print_code(diff);
	print_only(diff);
	print_causes(diff, true, "because");
	print_causes(diff, false,
		diff->moved ? "also different" : "different, but nothing moved");
	print_compared(diff);
}

static int compare_paths(const char *left, const char *right, bool json)
{
	struct run a, b;
	struct diff diff;
	char message[RUN_MESSAGE];

	if (run_open(&a, left, message) < 0) {
		warn("%s", message);
		return DIFF_TROUBLE;
	}
	if (run_open(&b, right, message) < 0) {
		warn("%s", message);
		run_close(&a);
		return DIFF_TROUBLE;
	}
	int status = diff_runs(&diff, &a, &b) < 0 ? DIFF_TROUBLE
		     : diff.moved		  ? DIFF_MOVED
						  : DIFF_SAME;
	if (status != DIFF_TROUBLE && json)
		diff_print_json(&diff, left, right, stdout);
	else if (status != DIFF_TROUBLE)
		diff_print(&diff, left, right);
	diff_release(&diff);
	run_close(&a);
	run_close(&b);
	return status;
}

int diff_main(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	bool json = false;
	int option;

	argv[0] = (char *)program_name;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'j': json = true; break;
		case 'h': fputs(usage, stdout); return fflush(stdout) ? DIFF_TROUBLE : 0;
		default: return DIFF_TROUBLE;
		}
	}
	if (argc - optind != 2)
		die(DIFF_TROUBLE, "two RUNs are compared; try 'stablerun diff --help'");
	int status = compare_paths(argv[optind], argv[optind + 1], json);
	if (fflush(stdout))
		die(DIFF_TROUBLE, "cannot write to standard output: %s", strerror(errno));
	return status;
}
