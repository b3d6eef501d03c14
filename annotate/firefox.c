/* A profile for the Firefox Profiler (profiler.firefox.com), in its processed format: one
 * thread of samples a recorded thread, with tables of frames and functions. */
#include "annotate/writer.h"
#include "launcher/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	VERSION_GECKO = 24,
	VERSION_PROCESSED = 44,
	CATEGORY_OTHER = 0,
	CATEGORY_JIT,
	CATEGORY_NATIVE,
	CATEGORY_KERNEL,
};

static const char CATEGORIES[] =
	"[{\"name\": \"Other\", \"color\": \"grey\", \"subcategories\": [\"Other\"]},"
	"{\"name\": \"JIT\", \"color\": \"orange\", \"subcategories\": [\"Other\"]},"
	"{\"name\": \"Native\", \"color\": \"blue\", \"subcategories\": [\"Other\"]},"
	"{\"name\": \"Kernel\", \"color\": \"purple\", \"subcategories\": [\"Other\"]}]";

static int category(const struct stacks_node *node)
{
	if (!node->function)
		return CATEGORY_OTHER;
	return node->function->kind == FUNCTION_JIT	 ? CATEGORY_JIT
	       : node->function->kind == FUNCTION_KERNEL ? CATEGORY_KERNEL
							 : CATEGORY_NATIVE;
}

/* `"key": [value, …]` with one value for each frame. */
static void column(FILE *out, const char *key, size_t count, const char *value)
{
	fprintf(out, "\"%s\": [", key);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s", i ? "," : "", value);
	fputs("]", out);
}

/* Tables have one row a node of the tree: node i is row i - 1, the root has none. */
static void write_tables(FILE *out, const struct stacks *stacks, struct tally *names)
{
	size_t count = stacks->count - 1;

	fprintf(out, "\"stackTable\": {\"length\": %zu, \"prefix\": [", count);
	for (size_t i = 1; i <= count; i++) {
		uint32_t parent = stacks->nodes[i].parent;
		if (parent)
			fprintf(out, "%s%u", i > 1 ? "," : "", parent - 1);
		else
			fprintf(out, "%snull", i > 1 ? "," : "");
	}
	fputs("], \"frame\": [", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%zu", i ? "," : "", i);
	fputs("], \"category\": [", out);
	for (size_t i = 1; i <= count; i++)
		fprintf(out, "%s%d", i > 1 ? "," : "", category(&stacks->nodes[i]));
	fputs("], ", out);
	column(out, "subcategory", count, "0");
	fprintf(out, "},\n\"frameTable\": {\"length\": %zu, \"address\": [", count);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s-1", i ? "," : "");
	fputs("], ", out);
	column(out, "inlineDepth", count, "0");
	fputs(", \"category\": [", out);
	for (size_t i = 1; i <= count; i++)
		fprintf(out, "%s%d", i > 1 ? "," : "", category(&stacks->nodes[i]));
	fputs("], ", out);
	column(out, "subcategory", count, "0");
	fputs(", \"func\": [", out);
	for (size_t i = 1; i <= count; i++)
		fprintf(out, "%s%zu", i > 1 ? "," : "",
			tally_index(names, stacks->nodes[i].name));
	fputs("]", out);
	static const char *const empty[] = {
		"nativeSymbol", "innerWindowID", "implementation", "line", "column"};
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		fputs(", ", out);
		column(out, empty[i], count, "null");
	}
	fputs("},\n", out);
}

static void write_functions(FILE *out, const struct tally *names)
{
	static const char *const empty[] = {"fileName", "lineNumber", "columnNumber"};

	fprintf(out, "\"funcTable\": {\"length\": %zu, \"name\": [", names->count);
	for (size_t i = 0; i < names->count; i++)
		fprintf(out, "%s%zu", i ? "," : "", i);
	fputs("], ", out);
	column(out, "isJS", names->count, "false");
	fputs(", ", out);
	column(out, "relevantForJS", names->count, "false");
	fputs(", ", out);
	column(out, "resource", names->count, "-1");
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		fputs(", ", out);
		column(out, empty[i], names->count, "null");
	}
	fputs("},\n\"stringArray\": [", out);
	for (size_t i = 0; i < names->count; i++) {
		fputs(i ? "," : "", out);
		json_string(out, names->list[i].name);
	}
	fputs("],\n", out);
}

static int compare(const void *a, const void *b)
{
	const struct stacks_sample *left = a, *right = b;

	if (left->run != right->run)
		return left->run < right->run ? -1 : 1;
	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->time < right->time ? -1 : left->time > right->time;
}

static double milliseconds(
	const struct profile *profile, const struct stacks_sample *sample)
{
	uint64_t first = profile->inputs[sample->run]->first_sample;

	return (double)(sample->time - (first == UINT64_MAX ? 0 : first)) / 1e6;
}

static void write_thread(FILE *out, const struct profile *profile,
	const struct stacks_sample *samples, size_t count)
{
	const struct stacks *stacks = profile->stacks;
	struct tally names = {0};
	uint32_t top = samples->node;

	while (stacks->nodes[top].parent)
		top = stacks->nodes[top].parent;
	fputs("{\"processType\": \"default\", \"processStartupTime\": 0, "
	      "\"processShutdownTime\": null, \"registerTime\": 0, \"unregisterTime\": null, "
	      "\"pausedRanges\": [], \"name\": ",
		out);
	json_string(out, stacks->nodes[top].name);
	fprintf(out, ", \"isMainThread\": %s, \"pid\": \"%u\", \"tid\": %u,\n",
		samples->pid == samples->tid ? "true" : "false", samples->pid,
		samples->tid);
	fprintf(out,
		"\"samples\": {\"length\": %zu, \"weightType\": \"samples\", "
		"\"weight\": null, \"stack\": [",
		count);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%u", i ? "," : "", samples[i].node - 1);
	fputs("], \"time\": [", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%.6f", i ? "," : "", milliseconds(profile, &samples[i]));
	fputs("]},\n\"markers\": {\"length\": 0, \"data\": [], \"name\": [], "
	      "\"startTime\": [], \"endTime\": [], \"phase\": [], \"category\": []},\n",
		out);
	write_tables(out, stacks, &names);
	write_functions(out, &names);
	fputs("\"resourceTable\": {\"length\": 0, \"lib\": [], \"name\": [], \"host\": [], "
	      "\"type\": []},\n\"nativeSymbols\": {\"length\": 0, \"libIndex\": [], "
	      "\"address\": [], \"name\": [], \"functionSize\": []}}",
		out);
	tally_release(&names);
}

static void write_threads(FILE *out, const struct profile *profile)
{
	struct stacks *stacks = profile->stacks;

	if (stacks->sample_count)
		qsort(stacks->samples, stacks->sample_count, sizeof(*stacks->samples),
			compare);
	for (size_t i = 0; i < stacks->sample_count;) {
		const struct stacks_sample *first = &stacks->samples[i];
		size_t end = i;
		while (end < stacks->sample_count &&
			stacks->samples[end].tid == first->tid &&
			stacks->samples[end].run == first->run)
			end++;
		fputs(i ? ",\n" : "", out);
		write_thread(out, profile, first, end - i);
		i = end;
	}
}

int firefox_write(struct writer *writer, const char *path)
{
	const struct profile *profile = writer->profile;
	FILE *out = fopen(path, "we");

	if (!out)
		return -1;
	fprintf(out,
		"{\"meta\": {\"interval\": 1, \"startTime\": 0, \"processType\": 0, "
		"\"product\": \"annotate\", \"stackwalk\": 1, \"debug\": false, "
		"\"version\": %d, \"preprocessedProfileVersion\": %d, \"symbolicated\": true, "
		"\"markerSchema\": [], \"categories\": %s},\n\"libs\": [], \"pages\": [],\n"
		"\"threads\": [",
		VERSION_GECKO, VERSION_PROCESSED, CATEGORIES);
	write_threads(out, profile);
	fputs("]}\n", out);
	bool failed = ferror(out);
	return fclose(out) == 0 && !failed ? 0 : -1;
}
