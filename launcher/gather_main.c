/* `stablerun gather -o RUN RUN...`: kept runs, from wherever they were made, as one. */
#include "launcher/gather.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/options.h"

static const char usage[] =
	"Usage: stablerun gather [OPTION...] -o RUN RUN...\n"
	"Make one RUN of several kept runs, for annotate to show as one.\n"
	"\n"
	"  -o, --output=RUN      the RUN to make\n"
	"  -f, --force           replace an existing RUN\n"
	"      --differing=HOW   runs of a machine unlike most runs' (kernel, cpu\n"
	"                        features, build-ids, ld.so.cache): drop (default),\n"
	"                        keep or refuse\n"
	"      --help            print this\n"
	"\n"
	"The exit status is 0, or 125 where nothing was gathered.\n";

struct gather_options {
	const char *output;
	bool force;
	enum gather_differing differing;
};

static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"differing", required_argument, NULL, 'd'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

enum gather_differing gather_differing(const char *value)
{
	static const char *const words[] = {"drop", "keep", "refuse"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(value, words[i]) == 0)
			return (enum gather_differing)i;
	die(STATUS_TROUBLE,
		"bad value '%s' for option '--differing': expected drop, keep or refuse",
		value);
}

static void parse(struct gather_options *options, int argc, char **argv)
{
	int option;

	argv[0] = (char *)program_name;
	optind = 1;
	while ((option = getopt_long(argc, argv, "o:f", long_options, NULL)) != -1) {
		switch (option) {
		case 'o': options->output = optarg; break;
		case 'f': options->force = true; break;
		case 'd': options->differing = gather_differing(optarg); break;
		case 'h':
			if (fputs(usage, stdout) < 0 || fflush(stdout))
				die(STATUS_TROUBLE, "cannot write to standard output: %s",
					strerror(errno));
			exit(0);
		default: exit(STATUS_TROUBLE); /* getopt has said what is wrong */
		}
	}
	if (!options->output)
		die(STATUS_TROUBLE, "no RUN to make: name it with -o");
	if (optind == argc)
		die(STATUS_TROUBLE, "no RUNs given; try 'stablerun gather --help'");
}

static void report(const struct gather *gather, const char *path)
{
	const char *plural = gather->placed == 1 ? "" : "s";

	if (gather->samples)
		warn("kept in '%s': %u run%s, %" PRIu64 " samples, %" PRIu64 " lost",
			path, gather->placed, plural, gather->samples, gather->lost);
	else
		warn("kept in '%s': %u run%s", path, gather->placed, plural);
}

static int gather_into(struct gather *gather, const struct gather_options *options)
{
	struct run_writer writer;
	struct run_info info = {0};
	char message[RUN_MESSAGE];

	if (run_begin(&writer, options->output, "", options->force, message) < 0) {
		warn("%s", message);
		return -1;
	}
	if (gather_place(gather, &writer, false, &info, message) < 0) {
		warn("%s", message);
		run_abandon(&writer);
		return -1;
	}
	cleanup_free char *path = xstrdup(writer.path);
	int result = run_finish(&writer, &info, message);
	if (result < 0)
		warn("%s", message);
	else
		report(gather, path);
	run_release(&writer);
	run_info_release(&info);
	return result;
}

int gather_main(int argc, char **argv)
{
	struct gather_options options = {0};
	struct gather gather = {0};
	char message[RUN_MESSAGE];

	parse(&options, argc, argv);
	for (int i = optind; i < argc; i++)
		if (gather_add(&gather, argv[i], NULL, message) < 0)
			die(STATUS_TROUBLE, "%s", message);
	int result = gather_settle(&gather, options.differing);
	if (result == 0)
		result = gather_into(&gather, &options);
	gather_release(&gather);
	return result < 0 ? STATUS_TROUBLE : 0;
}
