/* Keeping source files in memory for as long as listings are written. */
#include "annotate/source.h"
#include "annotate/file.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>

struct source_file {
	char *path;
	struct file file;
	const char **lines; /* starts; one more than there are lines */
	size_t count;
	struct source_file *next;
};

struct source {
	const char *symfs;
	struct source_file *files;
};

struct source *source_new(const char *symfs)
{
	struct source *source = xcalloc(1, sizeof(*source));

	source->symfs = symfs;
	return source;
}

void source_free(struct source *source)
{
	while (source->files) {
		struct source_file *file = source->files;
		source->files = file->next;
		file_close(&file->file);
		free(file->lines);
		free(file->path);
		free(file);
	}
	free(source);
}

static void split(struct source_file *file)
{
	const char *at = (const char *)file->file.data;
	const char *end = at + file->file.size;
	size_t room = 256;

	file->lines = xreallocarray(NULL, room, sizeof(*file->lines));
	while (at < end) {
		if (file->count + 2 > room)
			file->lines = xreallocarray(
				file->lines, room *= 2, sizeof(*file->lines));
		file->lines[file->count++] = at;
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		at = newline ? newline + 1 : end;
	}
	file->lines[file->count] = end;
}

static struct source_file *get(
	struct source *source, const char *directory, const char *path)
{
	struct source_file *file = source->files;
	cleanup_free char *full = path[0] == '/' || !directory
					  ? xstrdup(path)
					  : xasprintf("%s/%s", directory, path);

	while (file && strcmp(file->path, full) != 0)
		file = file->next;
	if (file)
		return file;
	file = xcalloc(1, sizeof(*file));
	cleanup_free char *here =
		xasprintf("%s%s", source->symfs ? source->symfs : "", full);
	if (path[0] != '<' && file_open(&file->file, here) == 0 && file->file.data)
		split(file);
	file->path = steal_pointer(&full);
	file->next = source->files;
	return source->files = file;
}

const char *source_line(struct source *source, const char *directory, const char *path,
	unsigned line, size_t *length)
{
	struct source_file *file = get(source, directory, path);

	if (line == 0 || line > file->count)
		return NULL;
	const char *start = file->lines[line - 1], *end = file->lines[line];
	while (end > start && (end[-1] == '\n' || end[-1] == '\r'))
		end--;
	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	*length = (size_t)(end - start);
	return start;
}
