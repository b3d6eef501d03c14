/* Gathering kept runs into one RUN. */
#include "launcher/gather.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/agree.h"
#include "launcher/base.h"
#include "launcher/perfdata.h"

enum {
	NUMBER = 16,
	PIECE = 1 << 30, /* sendfile() takes at most 2 GiB at a time */
};

/* ---- adding ---- */

static int add_one(struct gather *gather, const char *path, const char *maker,
	char message[RUN_MESSAGE])
{
	struct gathered item = {0};

	if (run_open(&item.run, path, message) < 0)
		return -1;
	/* Of thousands of runs not all can be open. */
	close(item.run.directory);
	item.run.directory = -1;
	item.maker = xstrdup(maker ? maker : path);
	gather->items =
		xreallocarray(gather->items, gather->count + 1, sizeof(*gather->items));
	gather->items[gather->count++] = item;
	return 0;
}

int gather_add(struct gather *gather, const char *path, const char *maker,
	char message[RUN_MESSAGE])
{
	if (add_one(gather, path, maker, message) < 0)
		return -1;
	unsigned runs = gather->items[gather->count - 1].run.info.runs;
	for (unsigned i = 2; i <= runs; i++) {
		cleanup_free char *further = xasprintf("%s/%u", path, i);
		if (add_one(gather, further, maker, message) < 0)
			return -1;
	}
	return 0;
}

void gather_release(struct gather *gather)
{
	for (size_t i = 0; i < gather->count; i++) {
		run_close(&gather->items[i].run);
		free(gather->items[i].maker);
	}
	free(gather->items);
	*gather = (struct gather){0};
}

/* ---- settling ---- */

/* Who made the runs of a group: a few names, each once. Owned. */
static char *group_makers(
	const struct gather *gather, const size_t *groups, size_t group, size_t *runs)
{
	struct strv names;
	char *text = NULL;

	strv_init(&names);
	*runs = 0;
	for (size_t i = 0; i < gather->count; i++) {
		if (groups[i] != group)
			continue;
		++*runs;
		if (!strv_has(&names, gather->items[i].maker))
			strv_add(&names, xstrdup(gather->items[i].maker));
	}
	for (size_t i = 0; i < names.count && i < 3; i++) {
		char *longer = xasprintf(
			"%s%s'%s'", text ? text : "", text ? ", " : "", names.items[i]);
		free(text);
		text = longer;
	}
	if (names.count > 3) {
		char *longer = xasprintf("%s and %zu more", text, names.count - 3);
		free(text);
		text = longer;
	}
	strv_release(&names);
	return text;
}

static char *join(const struct strv *texts)
{
	char *joined = xstrdup("");

	for (size_t i = 0; i < texts->count; i++) {
		char *longer =
			xasprintf("%s%s%s", joined, i ? "; " : "", texts->items[i]);
		free(joined);
		joined = longer;
	}
	return joined;
}

static void tell_group(const struct gather *gather, const size_t *groups, size_t group,
	size_t chosen, enum gather_differing differing)
{
	static const char *const fates[] = {"left out (--differing=keep takes them too)",
		"kept all the same", "refused (--differing=drop leaves them out)"};
	struct strv differences;
	size_t runs;

	strv_init(&differences);
	agree_compare(&gather->items[group].run.info, &gather->items[chosen].run.info,
		&differences);
	cleanup_free char *makers = group_makers(gather, groups, group, &runs);
	cleanup_free char *list = join(&differences);
	warn("%zu of %zu runs differ from the others, those of %s: %s; %s", runs,
		gather->count, makers, list, fates[differing]);
	strv_release(&differences);
}

int gather_settle(struct gather *gather, enum gather_differing differing)
{
	cleanup_free const struct run_info **infos =
		xcalloc(gather->count, sizeof(*infos));
	cleanup_free size_t *groups = xcalloc(gather->count, sizeof(*groups));
	bool differ = false;

	for (size_t i = 0; i < gather->count; i++)
		infos[i] = &gather->items[i].run.info;
	size_t chosen = agree_group(infos, gather->count, groups);
	for (size_t i = 0; i < gather->count; i++) {
		if (groups[i] == chosen)
			continue;
		differ = true;
		if (groups[i] == i)
			tell_group(gather, groups, i, chosen, differing);
		gather->items[i].dropped = differing == GATHER_DROP;
	}
	return differ && differing == GATHER_REFUSE ? -1 : 0;
}

/* ---- placing ---- */

static int copy_bytes(int from, int to)
{
	for (;;) {
		ssize_t sent = sendfile(to, from, NULL, PIECE);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return (int)sent;
	}
}

static int copy_file(int from, int to, const char *name)
{
	cleanup_fd int source = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_fd int target = openat(
		to, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);

	if (source < 0 || target < 0)
		return -1;
	return copy_bytes(source, target);
}

/* A RUN's files; its further runs, which are directories, are items of their own. */
static int place_files(int from, int to, bool move)
{
	DIR *stream = run_entries(from);
	struct dirent *entry;
	int result = 0;

	if (!stream)
		return -1;
	while (result == 0 && (entry = readdir(stream))) {
		struct stat status;
		const char *name = entry->d_name;
		if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(status.st_mode))
			continue;
		result =
			move ? renameat(from, name, to, name) : copy_file(from, to, name);
	}
	int saved = errno;
	closedir(stream);
	errno = saved;
	return result;
}

/* run.json as that of one run, where it spoke of several. */
static int write_single(struct run_info *info, int directory)
{
	unsigned runs = info->runs;

	if (runs <= 1)
		return 0;
	info->runs = 1;
	cleanup_free char *text = run_info_format(info);
	info->runs = runs;
	if (!text) {
		errno = ENOMEM;
		return -1;
	}
	return run_write_file(directory, "run.json", text, strlen(text));
}

static int place_one(struct gather *gather, struct gathered *item,
	const struct run_writer *writer, bool move)
{
	struct perfdata data = {0};
	char name[NUMBER];
	cleanup_fd int own = -1;
	cleanup_fd int source = open(item->run.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int directory = writer->directory;

	if (source < 0)
		return -1;
	if (++gather->placed > 1) {
		snprintf(name, sizeof(name), "%u", gather->placed);
		if (mkdirat(writer->directory, name, 0700) < 0)
			return -1;
		own = openat(writer->directory, name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (own < 0)
			return -1;
		directory = own;
	}
	if (place_files(source, directory, move) < 0 ||
		write_single(&item->run.info, directory) < 0)
		return -1;
	gather->lost += item->run.info.lost_samples;
	if (perfdata_scan_file(&data, directory, "perf.data") == 0)
		gather->samples += data.samples;
	return 0;
}

int gather_place(struct gather *gather, struct run_writer *writer, bool move,
	struct run_info *info, char message[RUN_MESSAGE])
{
	struct gathered *first = NULL;

	for (size_t i = 0; i < gather->count; i++) {
		struct gathered *item = &gather->items[i];
		if (item->dropped)
			continue;
		first = first ? first : item;
		if (place_one(gather, item, writer, move) < 0) {
			snprintf(message, RUN_MESSAGE, "cannot take '%s' into '%s': %s",
				item->run.path, writer->path, strerror(errno));
			return -1;
		}
	}
	/* Now the RUN's own: the first run speaks for all. */
	*info = first->run.info;
	first->run.info = (struct run_info){0};
	info->runs = gather->placed;
	return 0;
}
