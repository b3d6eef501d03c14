/* Reading the command line. */
#include "annotate/options.h"
#include "launcher/base.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	STATUS_USAGE = 2,
	DEFAULT_TOP = 40,
};

enum option_number {
	OPTION_SYMFS = 256,
	OPTION_MAP,
	OPTION_JSON,
	OPTION_ALL,
	OPTION_TOP,
	OPTION_EVENT,
	OPTION_FULL,
	OPTION_FUNCTIONS,
	OPTION_RAW,
	OPTION_COLOUR,
	OPTION_SYNTAX,
	OPTION_BYTES,
	OPTION_DIFF,
	OPTION_ELF,
	OPTION_FIREFOX,
	OPTION_FOLDED,
	OPTION_GDB_SCRIPT,
	OPTION_HTML,
	OPTION_NO_PAGER,
	OPTION_PPROF,
	OPTION_VERSION,
};

static const struct option longs[] = {
	{"all", no_argument, NULL, OPTION_ALL},
	{"bytes", required_argument, NULL, OPTION_BYTES},
	{"color", required_argument, NULL, OPTION_COLOUR},
	{"diff", no_argument, NULL, OPTION_DIFF},
	{"elf", required_argument, NULL, OPTION_ELF},
	{"event", required_argument, NULL, OPTION_EVENT},
	{"firefox", required_argument, NULL, OPTION_FIREFOX},
	{"folded", no_argument, NULL, OPTION_FOLDED},
	{"full", no_argument, NULL, OPTION_FULL},
	{"functions", no_argument, NULL, OPTION_FUNCTIONS},
	{"gdb-script", no_argument, NULL, OPTION_GDB_SCRIPT},
	{"help", no_argument, NULL, 'h'},
	{"html", required_argument, NULL, OPTION_HTML},
	{"json", no_argument, NULL, OPTION_JSON},
	{"map", required_argument, NULL, OPTION_MAP},
	{"no-pager", no_argument, NULL, OPTION_NO_PAGER},
	{"pprof", required_argument, NULL, OPTION_PPROF},
	{"raw", no_argument, NULL, OPTION_RAW},
	{"symfs", required_argument, NULL, OPTION_SYMFS},
	{"syntax", required_argument, NULL, OPTION_SYNTAX},
	{"top", required_argument, NULL, OPTION_TOP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{0},
};

static const char help[] =
	"Usage: annotate [OPTION...] RUN... | PERF.DATA [-- FUNCTION|ADDRESS]\n"
	"Shows which functions and which instructions the samples of a recording hit, "
	"JIT\n"
	"code included. Without FUNCTION the hottest one is listed.\n"
	"\n"
	"      --all             list every function that was sampled, whole\n"
	"      --full            list whole functions, also far from any sample\n"
	"      --functions       only the table of functions\n"
	"      --top=N           rows of the table (default 40; 0: all)\n"
	"      --event=NAME      count only this event\n"
	"      --bytes=WHICH     exit (default), load or sample: which bytes of code "
	"that was\n"
	"                        patched are listed\n"
	"      --raw             show the bytes of each instruction\n"
	"      --syntax=NAME     att (default), as gdb and objdump have it, or intel\n"
	"      --color=WHEN      auto (default), always or never\n"
	"      --no-pager        never page through $PAGER (less)\n"
	"      --json            one JSON object, as described in annotate(1)\n"
	"      --html=FILE       one self-contained page: listings, flame graph, search\n"
	"      --folded          call stacks, folded, as flame graph tools take them\n"
	"      --pprof=FILE      a profile for pprof\n"
	"      --firefox=FILE    a profile for the Firefox Profiler\n"
	"      --elf=FILE        the JIT code at its addresses with symbols, for any ELF "
	"tool\n"
	"      --gdb-script      breakpoints on the hottest instructions\n"
	"      --diff            compare the profiles of two RUNs\n"
	"      --symfs=DIR       look up the recorded machine's files under DIR\n"
	"      --map=FILE        a perf map to use, or a directory of perf-PID.map "
	"files\n"
	"  -h, --help            this text\n"
	"      --version         the version\n"
	"\n"
	"Status: 0; 1 where an input was damaged and the result is incomplete; 2 for "
	"trouble.\n";

static _Noreturn void bad_usage(void)
{
	fputs("Try 'annotate --help'.\n", stderr);
	exit(STATUS_USAGE);
}

/* The place of `word` among names, or bad usage. */
static int choose(const char *option, const char *word, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(word, names[i]) == 0)
			return i;
	warn("'--%s=%s' is not known", option, word);
	bad_usage();
}

static size_t read_number(const char *option, const char *word)
{
	char *end;

	errno = 0;
	unsigned long value = strtoul(word, &end, 10);
	if (errno || end == word || *end || word[0] == '-') {
		warn("'--%s=%s' is no number", option, word);
		bad_usage();
	}
	return value;
}

static void read_option(struct options *options, int option)
{
	static const char *const colours[] = {"auto", "always", "never", NULL};
	static const char *const syntaxes[] = {"att", "intel", NULL};
	static const char *const bytes[] = {"exit", "load", "sample", NULL};

	switch (option) {
	case OPTION_ALL: options->all = true; break;
	case OPTION_BYTES:
		options->listing.bytes =
			(enum listing_bytes)choose("bytes", optarg, bytes);
		break;
	case OPTION_COLOUR:
		options->colour = (enum options_colour)choose("color", optarg, colours);
		break;
	case OPTION_EVENT: options->event = optarg; break;
	case OPTION_FULL: options->full = true; break;
	case OPTION_FUNCTIONS: options->table_only = true; break;
	case OPTION_DIFF: options->diff = true; break;
	case OPTION_ELF: options->elf = optarg; break;
	case OPTION_FIREFOX: options->firefox = optarg; break;
	case OPTION_FOLDED: options->folded = true; break;
	case OPTION_GDB_SCRIPT: options->gdb_script = true; break;
	case OPTION_HTML: options->html = optarg; break;
	case OPTION_NO_PAGER: options->no_pager = true; break;
	case OPTION_PPROF: options->pprof = optarg; break;
	case OPTION_JSON: options->json = true; break;
	case OPTION_MAP: options->input.map = optarg; break;
	case OPTION_RAW: options->raw = true; break;
	case OPTION_SYMFS: options->input.symfs = optarg; break;
	case OPTION_SYNTAX:
		options->listing.att = choose("syntax", optarg, syntaxes) == 0;
		break;
	case OPTION_TOP:
		options->top = read_number("top", optarg);
		options->top_given = true;
		break;
	case OPTION_VERSION: puts("annotate (Stablerun) " VERSION); exit(0);
	case 'h': fputs(help, stdout); exit(0);
	default: bad_usage();
	}
}

void options_read(struct options *options, int argc, char **argv)
{
	static char default_path[] = "perf.data";
	static char *default_paths[] = {default_path, NULL};
	int end = 1, option;

	*options = (struct options){.top = DEFAULT_TOP, .listing.att = true};
	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	while ((option = getopt_long(end, argv, "h", longs, NULL)) != -1)
		read_option(options, option);
	options->paths = argv + optind;
	options->path_count = (size_t)(end - optind);
	if (end + 2 < argc) {
		warn("one function at a time: '%s' is too much", argv[end + 2]);
		bad_usage();
	}
	if (end + 1 < argc)
		options->function = argv[end + 1];
	if (options->diff && options->path_count != 2) {
		warn("'--diff' takes two RUNs");
		bad_usage();
	}
	/* As perf does. */
	if (!options->path_count) {
		options->paths = default_paths;
		options->path_count = 1;
	}
}
