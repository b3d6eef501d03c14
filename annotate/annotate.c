/* annotate: an instruction-level profile of a recording, JIT code included. */
#include "annotate/options.h"
#include "annotate/select.h"
#include "annotate/writer.h"
#include "launcher/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "annotate";

enum {
	STATUS_INCOMPLETE = 1,
	STATUS_TROUBLE = 2,
	OUTPUT_BUFFER = 1 << 16,
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
		writer->table = options->json;
	} else if (options->all) {
		writer->listings = true;
		writer->chosen = select_sampled(profile, SIZE_MAX, &writer->chosen_count);
	} else if (!options->table_only && !options->json) {
		writer->chosen = select_sampled(profile, 1, &writer->chosen_count);
	}
}

static void write_profile(struct profile *profile, const struct options *options)
{
	struct writer writer = {.out = stdout,
		.profile = profile,
		.lister = lister_new(&options->listing),
		.colour = want_colour(options),
		.table = true,
		.raw = options->raw,
		.top = options->top};

	choose(&writer, options);
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	if (options->json)
		json_write(&writer);
	else
		text_write(&writer);
	if (fflush(stdout) != 0)
		die(STATUS_TROUBLE, "cannot write the output");
	free(writer.chosen);
	lister_free(writer.lister);
}

int main(int argc, char **argv)
{
	struct options options;
	struct warnings warnings = {0};
	struct modules modules = {0};
	struct profile profile = {.warnings = &warnings};

	options_read(&options, argc, argv);
	modules.symfs = options.listing.symfs = options.input.symfs;
	profile.event = options.event;
	struct input *inputs = xcalloc(options.path_count, sizeof(*inputs));
	for (size_t i = 0; i < options.path_count; i++) {
		struct fault fault;
		if (input_open(&inputs[i], options.paths[i], &options.input, &modules,
			    &warnings, &fault) < 0)
			die(STATUS_TROUBLE, "cannot read '%s': %s", options.paths[i],
				fault.text);
		profile_add(&profile, &inputs[i]);
	}
	profile_finish(&profile);
	write_profile(&profile, &options);

	int status = warnings.incomplete ? STATUS_INCOMPLETE : 0;
	profile_release(&profile);
	for (size_t i = 0; i < options.path_count; i++)
		input_close(&inputs[i]);
	free(inputs);
	modules_release(&modules);
	warnings_release(&warnings);
	return status;
}
