/* Comparing the machines of kept runs. */
#include "launcher/agree.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/run.h"
#include "launcher/strv.h"

enum {
	PAGE = 4096,
	/* Named in full; the others by their number. */
	FEATURES_SHOWN = 4,
	FILES_SHOWN = 3,
};

static bool same(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "") == 0;
}

static void compare_text(
	struct strv *differences, const char *what, const char *value, const char *other)
{
	/* What a run does not say cannot differ. */
	if (value && other && !same(value, other))
		strv_add(differences, xasprintf("%s %s, not %s", what, value, other));
}

/* Whether the blank-separated `list` has the word of `length` bytes. */
static bool has_word(const char *list, const char *word, size_t length)
{
	for (const char *at = list; *(at += strspn(at, " "));) {
		size_t own = strcspn(at, " ");
		if (own == length && memcmp(at, word, length) == 0)
			return true;
		at += own;
	}
	return false;
}

/* The words of `list` that `other` lacks, in one text; NULL: none. Owned. */
static char *words_lacking(const char *list, const char *other)
{
	char *text = NULL;
	size_t count = 0;

	for (const char *at = list; *(at += strspn(at, " "));) {
		size_t length = strcspn(at, " ");
		if (!has_word(other, at, length) && ++count <= FEATURES_SHOWN) {
			char *longer = xasprintf("%s%s%.*s", text ? text : "",
				text ? " " : "", (int)length, at);
			free(text);
			text = longer;
		}
		at += length;
	}
	if (count > FEATURES_SHOWN) {
		char *longer = xasprintf("%s and %zu more", text, count - FEATURES_SHOWN);
		free(text);
		text = longer;
	}
	return text;
}

static void compare_features(
	struct strv *differences, const char *features, const char *other)
{
	if (!features || !other)
		return;
	cleanup_free char *more = words_lacking(features, other);
	cleanup_free char *less = words_lacking(other, features);
	if (more || less)
		strv_add(differences,
			xasprintf("cpu features%s%s%s%s%s", more ? " with " : "",
				more ? more : "", more && less ? "," : "",
				less ? " without " : "", less ? less : ""));
}

static void compare_files(struct strv *differences, const struct run_pairs *files,
	const struct run_pairs *others)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++) {
		const char *path = files->items[i].name;
		const char *other = run_pairs_get(others, path);
		if (!other || same(files->items[i].value, other))
			continue;
		if (++count <= FILES_SHOWN)
			strv_add(differences,
				xasprintf("build-id of '%s' %.12s, not %.12s", path,
					files->items[i].value, other));
	}
	if (count > FILES_SHOWN)
		strv_add(differences,
			xasprintf("%zu more build-ids", count - FILES_SHOWN));
}

static void compare_cache(struct strv *differences, uint64_t size, uint64_t other)
{
	uint64_t pages = (size + PAGE - 1) / PAGE, others = (other + PAGE - 1) / PAGE;

	if (pages != others)
		strv_add(differences,
			xasprintf("ld.so.cache of %" PRIu64 " pages, not %" PRIu64, pages,
				others));
}

void agree_compare(const struct run_info *info, const struct run_info *other,
	struct strv *differences)
{
	compare_text(differences, "program", info->exec, other->exec);
	compare_text(differences, "kernel", info->kernel, other->kernel);
	compare_features(differences, info->cpu_features, other->cpu_features);
	compare_cache(differences, info->ld_so_cache_size, other->ld_so_cache_size);
	compare_text(differences, "addresses fixed by", info->place, other->place);
	compare_files(differences, &info->build_ids, &other->build_ids);
}

static bool agrees(const struct run_info *info, const struct run_info *other)
{
	struct strv differences;

	strv_init(&differences);
	agree_compare(info, other, &differences);
	bool result = differences.count == 0;
	strv_release(&differences);
	return result;
}

size_t agree_group(const struct run_info *const *infos, size_t count, size_t *groups)
{
	cleanup_free size_t *sizes = xcalloc(count, sizeof(*sizes));
	size_t biggest = 0;

	for (size_t i = 0; i < count; i++) {
		size_t group = 0;
		while (group < i &&
			(groups[group] != group || !agrees(infos[i], infos[group])))
			group++;
		groups[i] = group;
		sizes[group]++;
	}
	for (size_t i = 1; i < count; i++)
		if (sizes[i] > sizes[biggest])
			biggest = i;
	return biggest;
}
