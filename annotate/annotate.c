/* annotate: an instruction-level profile of a recording, JIT code included. */
#include "annotate/narrow.h"
#include "annotate/options.h"
#include "annotate/pager.h"
#include "annotate/select.h"
#include "annotate/versions.h"
#include "annotate/writer.h"
#include "launcher/base.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "annotate";

enum {
	STATUS_INCOMPLETE = 1,
	STATUS_TROUBLE = 2,
	OUTPUT_BUFFER = 1 << 16,
	PAGE_FUNCTIONS = 100, /* listed in a page, unless all are wanted */
};

static bool want_colour(const struct options *options)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (options->colour != OPTIONS_COLOUR_AUTO)
		return options->colour == OPTIONS_COLOUR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && no[0]) && term &&
	       strcmp(term, "dumb") != 0;
}

static void choose(struct writer *writer, const struct options *options)
{
	struct profile *profile = writer->profile;

	if (options->function) {
		writer->chosen = select_functions(
			profile, options->function, &writer->chosen_count);
		if (!writer->chosen_count)
			die(STATUS_TROUBLE, "no samples in a function '%s'",
				options->function);
		writer->table = options->json || options->diff;
	} else if (options->all) {
		writer->listings = true;
		writer->chosen = select_sampled(profile, SIZE_MAX, &writer->chosen_count);
	} else if (options->html) {
		writer->chosen =
			select_sampled(profile, PAGE_FUNCTIONS, &writer->chosen_count);
	} else if (options->diff) {
		writer->table = !options->table_only;
	} else if (!options->table_only && !options->json) {
		writer->chosen = select_sampled(profile, 1, &writer->chosen_count);
	}
	profile_sort(writer->chosen, writer->chosen_count);
	bool versions =
		options->listing.bytes == LISTING_SAMPLE && profile->input_count > 1;
	for (size_t i = 0; versions && i < writer->chosen_count; i++)
		versions_find(profile, writer->chosen[i]);
}

/* With a file to write nothing else is shown unless asked for. */
static bool wants_files(const struct options *options)
{
	return options->html || options->pprof || options->elf || options->firefox;
}

static void write_files(struct writer *writer, const struct options *options)
{
	const struct {
		const char *path;
		int (*write)(struct writer *writer, const char *path);
	} files[] = {{options->html, html_write}, {options->pprof, pprof_write},
		{options->elf, elf_write}, {options->firefox, firefox_write}};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i].path && files[i].write(writer, files[i].path) < 0)
			die(STATUS_TROUBLE, "cannot write '%s': %s", files[i].path,
				strerror(errno));
}

static bool wants_pager(const struct options *options)
{
	return isatty(STDOUT_FILENO) && !options->no_pager && !options->json &&
	       !options->folded && !options->gdb_script && !wants_files(options);
}

static void write_profile(struct profile *profile, const struct options *options)
{
	struct writer writer = {.out = stdout,
		.profile = profile,
		.colour = want_colour(options),
		.table = true,
		.raw = options->raw,
		.full = options->full || options->all,
		.top = options->top,
		.top_given = options->top_given};
	struct listing_options listing = options->listing;

	if (options->diff) {
		writer.sides[0] = options->paths[0];
		writer.sides[1] = options->paths[1];
		listing.inputs = profile->inputs;
	}
	writer.lister = lister_new(&listing);

	choose(&writer, options);
	pid_t pager = wants_pager(options) ? pager_start() : 0;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	write_files(&writer, options);
	if (options->json)
		json_write(&writer);
	else if (options->diff)
		diff_write(&writer);
	else if (options->gdb_script)
		gdbscript_write(&writer);
	else if (options->folded)
		folded_write(&writer);
	else if (!wants_files(options))
		text_write(&writer);
	/* Whoever leaves a pager early, or pipes to head, has seen enough. */
	if (fflush(stdout) != 0 && errno != EPIPE)
		die(STATUS_TROUBLE, "cannot write the output: %s", strerror(errno));
	if (pager > 0)
		pager_finish(pager);
	free(writer.chosen);
	lister_free(writer.lister);
}

struct paths {
	char **list; /* owned, as is each */
	size_t count;
	size_t first; /* that belong to the first argument, where there are more */
};

static void add_path(struct paths *paths, char *path)
{
	paths->list = xreallocarray(paths->list, paths->count + 1, sizeof(*paths->list));
	paths->list[paths->count++] = path;
}

/* A RUN of several runs holds them in RUN/2, RUN/3, … beside its own files. */
static struct paths expand(const struct options *options)
{
	struct paths paths = {0};

	for (size_t i = 0; i < options->path_count; i++) {
		if (i == 1)
			paths.first = paths.count;
		add_path(&paths, xstrdup(options->paths[i]));
		for (unsigned n = 2;; n++) {
			char *path = xasprintf("%s/%u", options->paths[i], n);
			if (access(path, F_OK) != 0) {
				free(path);
				break;
			}
			add_path(&paths, path);
		}
	}
	return paths;
}

/* Of one recording one function is found without finding all, unless its name is given in
 * part. */
static bool add_narrow(
	struct profile *profile, struct input *input, const struct options *options)
{
	struct narrow *narrow = narrow_new(input, options->function);
	struct fault fault;

	if (!narrow)
		return false;
	bool found = profile_add_narrow(profile, input, narrow, &fault) == 0 &&
		     select_is_plain(profile, options->function);
	narrow_free(narrow);
	if (!found)
		profile_reset(profile);
	return found;
}

/* A run that cannot be read ends the program where it is the first; of several runs one
 * that does not fit is left out, with its reason. */
static void add_input(struct profile *profile, struct input *input, const char *path,
	const struct options *options, struct modules *modules, unsigned side,
	bool narrow)
{
	struct fault fault;

	if (input_open(input, path, &options->input, modules, profile->warnings, &fault) <
		0)
		die(STATUS_TROUBLE, "cannot read '%s': %s", path, fault.text);
	input->side = side;
	if (narrow && add_narrow(profile, input, options))
		return;
	if (profile_add(profile, input, &fault) < 0) {
		warnings_add(profile->warnings, "'%s' is left out: %s", path, fault.text);
		profile->warnings->incomplete = true;
	}
}

/* An event that nothing sampled is a mistake in the command. */
static void check_event(const struct profile *profile)
{
	cleanup_free char *names = xstrdup("");

	if (!profile->event || profile->event_samples || !profile->samples)
		return;
	for (size_t i = 0; i < profile->events.count; i++) {
		char *longer = xasprintf(
			"%s%s'%s'", names, i ? ", " : "", profile->events.list[i].name);
		free(names);
		names = longer;
	}
	die(STATUS_TROUBLE, "no samples of event '%s'; the recording has %s",
		profile->event, names);
}

int main(int argc, char **argv)
{
	struct options options;
	struct warnings warnings = {0};
	struct modules modules = {0};
	struct profile profile = {.warnings = &warnings};

	signal(SIGPIPE, SIG_IGN);
	options_read(&options, argc, argv);
	modules.symfs = options.listing.symfs = options.input.symfs;
	profile.event = options.event;
	if (options.folded || options.html || options.pprof || options.firefox)
		profile.stacks = stacks_new(options.firefox != NULL);
	struct paths paths = expand(&options);
	struct input *inputs = xcalloc(paths.count, sizeof(*inputs));
	profile.compare = options.diff;
	bool narrow = paths.count == 1 && options.function && !options.json &&
		      !options.folded && !options.gdb_script && !wants_files(&options);
	for (size_t i = 0; i < paths.count; i++)
		add_input(&profile, &inputs[i], paths.list[i], &options, &modules,
			options.diff && i >= paths.first, narrow);
	check_event(&profile);
	profile_finish(&profile);
	write_profile(&profile, &options);

	int status = warnings.incomplete ? STATUS_INCOMPLETE : 0;
	stacks_free(profile.stacks);
	profile_release(&profile);
	for (size_t i = 0; i < paths.count; i++) {
		input_close(&inputs[i]);
		free(paths.list[i]);
	}
	free(paths.list);
	free(inputs);
	modules_release(&modules);
	warnings_release(&warnings);
	return status;
}
