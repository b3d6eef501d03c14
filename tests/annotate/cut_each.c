/* cut_each perf|dump FILE: reads FILE cut at every byte, in one process, the whole way to
 * a profile and its listings. Each cut has to be told in words; what is not told are cuts
 * between two records of a file that has no end mark: they are printed. */
#include "annotate/input.h"
#include "annotate/listing.h"
#include "annotate/profile.h"
#include "launcher/base.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "cut_each";

enum {
	LISTED =
		256, /* every so many cuts listings are made, which open debug information */
};

static void copy(const char *path, const struct file *file)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	for (size_t done = 0; done < file->size;) {
		ssize_t wrote = write(fd, file->data + done, file->size - done);
		if (wrote <= 0)
			die(2, "cannot write '%s'", path);
		done += (size_t)wrote;
	}
}

/* Whether the cut was told. */
static bool read_perf(const char *path, struct modules *modules, bool list)
{
	struct warnings warnings = {0};
	struct profile profile = {.warnings = &warnings};
	struct input_options options = {0};
	struct listing_options listing_options = {0};
	struct listing listing = {0};
	struct input input;
	struct fault fault = {{0}};

	if (input_open(&input, path, &options, modules, &warnings, &fault) < 0)
		return fault.text[0] != '\0';
	profile_add(&profile, &input, &fault);
	profile_finish(&profile);
	struct lister *lister = lister_new(&listing_options);
	for (size_t i = 0; list && i < profile.function_count && i < 3; i++)
		listing_build(
			lister, &listing, profile.functions[i], LISTING_EVERY_EPOCH);
	bool told = warnings.incomplete && warnings.count;
	listing_release(&listing);
	lister_free(lister);
	profile_release(&profile);
	input_close(&input);
	warnings_release(&warnings);
	return told;
}

static bool read_dump(const char *path)
{
	struct fault fault = {{0}};
	struct code_set *set = code_set_new(1);
	bool told = code_set_add_dump(set, xstrdup(path), &fault) < 0
			    ? fault.text[0] != '\0'
			    : set->dump->cut && set->dump->fault.text[0];

	code_set_index(set);
	code_set_free(set);
	return told;
}

int main(int argc, char **argv)
{
	struct file file;
	struct modules modules = {0};
	size_t untold = 0;

	if (argc != 3 || file_open(&file, argv[2]) < 0)
		die(2, "usage: cut_each perf|dump FILE");
	copy("cut.tmp", &file);
	for (size_t size = file.size; size-- > 0;) {
		if (truncate("cut.tmp", (off_t)size) < 0)
			die(2, "cannot cut");
		if (strcmp(argv[1], "perf") == 0
				? read_perf("cut.tmp", &modules, size % LISTED == 0)
				: read_dump("cut.tmp"))
			continue;
		printf("not told: %zu\n", size);
		untold++;
	}
	printf("%zu cuts, %zu not told\n", file.size, untold);
	modules_release(&modules);
	file_close(&file);
	return 0;
}
