/* The command line of `stablerun [OPTION...] [--] COMMAND [ARG...]`. */
#include "launcher/options.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"
#include "launcher/strv.h"

enum {
	OPTION_AGAIN = 256,
	OPTION_SEED,
	OPTION_CLOCK,
	OPTION_RULE,
	OPTION_ENV,
	OPTION_CPU,
	OPTION_PLACE,
	OPTION_NAME,
	OPTION_HOLD,
	OPTION_PLAN,
	OPTION_VERSION,
	OPTION_HELP,
};

/* Each of these stands in the summary below and in stablerun.1. */
static const struct option long_options[] = {
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"again", required_argument, NULL, OPTION_AGAIN},
	{"seed", optional_argument, NULL, OPTION_SEED},
	{"clock", required_argument, NULL, OPTION_CLOCK},
	{"rule", required_argument, NULL, OPTION_RULE},
	{"env", required_argument, NULL, OPTION_ENV},
	{"cpu", required_argument, NULL, OPTION_CPU},
	{"place", required_argument, NULL, OPTION_PLACE},
	{"name", required_argument, NULL, OPTION_NAME},
	{"hold", no_argument, NULL, OPTION_HOLD},
	{"plan", optional_argument, NULL, OPTION_PLAN},
	{"version", no_argument, NULL, OPTION_VERSION},
	{"help", no_argument, NULL, OPTION_HELP},
	{0},
};

static const char usage[] =
	"Usage: stablerun [OPTION...] [--] COMMAND [ARG...]\n"
	"       stablerun annotate|diff|gdb|jit|perf|rules|show|verify ...\n"
	"Run COMMAND so that every run has the same addresses.\n"
	"\n"
	"  -o, --output=RUN   keep the run in the directory RUN\n"
	"  -f, --force        with -o: replace an existing RUN\n"
	"      --again=RUN    launch as the kept RUN was: its program, arguments,\n"
	"                     environment and limits\n"
	"      --seed[=N]     deterministic randomness, from the number N (default 0)\n"
	"      --clock=HOW    startup[:MS]: CLOCK_MONOTONIC stands still, and threads\n"
	"                     take turns, until a program has computed for MS (200)\n"
	"                     milliseconds; real (default)\n"
	"      --rule=NAME    use the rule NAME for the runtime; none: no rule\n"
	"      --env=MODE     pinned: sorted, volatile variables dropped, stack padded\n"
	"                     (default); keep: as it is; clean: a small fixed set\n"
	"      --cpu=N        run on CPU number N only\n"
	"      --place=HOW    how addresses are fixed: auto (default), personality,\n"
	"                     move, load, off\n"
	"      --name=NAME     what COMMAND sees as its own name\n"
	"      --hold         leave the program stopped before its first instruction,\n"
	"                     for 'gdb -p' or SIGCONT\n"
	"      --plan[=json]  print every pin and where it came from; run nothing\n"
	"      --version      print the version\n"
	"      --help         print this\n"
	"\n"
	"The exit status is COMMAND's own; 125 where stablerun itself fails, 126 where\n"
	"COMMAND cannot be executed, 127 where it is not found.\n";

static const char *const env_names[] = {
	[ENV_PINNED] = "pinned",
	[ENV_KEEP] = "keep",
	[ENV_CLEAN] = "clean",
};

static const char *const place_names[] = {
	[PLACE_AUTO] = "auto",
	[PLACE_PERSONALITY] = "personality",
	[PLACE_MOVE] = "move",
	[PLACE_LOAD] = "load",
	[PLACE_OFF] = "off",
};

const char *options_env_name(enum options_env env)
{
	return env_names[env];
}

const char *options_place_name(enum options_place place)
{
	return place_names[place];
}

_Noreturn static void refuse(const char *option, const char *value, const char *expected)
{
	die(STATUS_TROUBLE, "bad value '%s' for option '%s': expected %s", value, option,
		expected);
}

static int parse_word(const char *option, const char *value, const char *const *words,
	size_t count, const char *expected)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(words[i], value))
			return (int)i;
	refuse(option, value, expected);
}

static uint64_t parse_number(
	const char *option, const char *value, uint64_t most, const char *expected)
{
	char *end;

	/* strtoull takes signs and blanks; a number of ours begins with a digit. */
	if (*value < '0' || *value > '9')
		refuse(option, value, expected);
	errno = 0;
	unsigned long long number = strtoull(value, &end, 0);
	if (errno || *end || number > most)
		refuse(option, value, expected);
	return number;
}

static unsigned parse_clock(const char *value)
{
	static const char startup[] = "startup";
	static const char expected[] = "real, startup or startup:MS with MS up to 60000";
	enum { USUAL_MS = 200, MOST_MS = 60000 };

	if (!strcmp(value, "real"))
		return 0;
	if (strncmp(value, startup, strlen(startup)))
		refuse("--clock", value, expected);
	const char *rest = value + strlen(startup);
	if (!*rest)
		return USUAL_MS;
	if (*rest != ':')
		refuse("--clock", value, expected);
	return (unsigned)parse_number("--clock", rest + 1, MOST_MS, expected);
}

/* Standard output is only ever written by --help, --version and --plan. */
_Noreturn void options_print(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout))
		die(STATUS_TROUBLE, "cannot write to standard output: %s",
			strerror(errno));
	exit(0);
}

unsigned long options_count(const char *option, const char *value, unsigned long most)
{
	cleanup_free char *expected = xasprintf("a number from 1 to %lu", most);
	unsigned long number = parse_number(option, value, most, expected);

	if (!number)
		refuse(option, value, expected);
	return number;
}

void options_hand_on(struct strv *line, const struct option *option, const char *value)
{
	strv_add(line, xasprintf("--%s%s%s", option->name, value ? "=" : "",
			       value ? value : ""));
}

static void parse_option(struct options *options, int option)
{
	switch (option) {
	case 'o':
		options->run = optarg;
		options->kept = true;
		break;
	case 'f': options->force = true; break;
	case OPTION_AGAIN: options->again = optarg; break;
	case OPTION_SEED:
		options->seeded = true;
		if (optarg)
			options->seed = parse_number(
				"--seed", optarg, UINT64_MAX, "a number below 2^64");
		break;
	case OPTION_CLOCK:
		options->clock_ms = parse_clock(optarg);
		options->clock_given = true;
		break;
	case OPTION_RULE: options->rule = optarg; break;
	case OPTION_ENV:
		options->env = (enum options_env)parse_word("--env", optarg, env_names,
			ARRAY_SIZE(env_names), "pinned, keep or clean");
		break;
	case OPTION_CPU:
		options->cpu = (int)parse_number(
			"--cpu", optarg, CPU_SETSIZE - 1, "a CPU number from 0 to 1023");
		break;
	case OPTION_PLACE:
		options->place = (enum options_place)parse_word("--place", optarg,
			place_names, ARRAY_SIZE(place_names),
			"auto, personality, move or off");
		options->place_given = true;
		break;
	case OPTION_NAME: options->argv0 = optarg; break;
	case OPTION_HOLD: options->hold = true; break;
	case OPTION_PLAN:
		if (optarg && strcmp(optarg, "json") && strcmp(optarg, "text"))
			refuse("--plan", optarg, "text or json");
		options->plan = optarg && !strcmp(optarg, "json") ? PLAN_JSON : PLAN_TEXT;
		break;
	case OPTION_VERSION: options_print("stablerun " VERSION "\n");
	case OPTION_HELP: options_print(usage);
	default: exit(STATUS_TROUBLE); /* getopt has said what is wrong */
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	int option;

	*options = (struct options){.cpu = -1};
	/* getopt prints argv[0] before its messages: ours begin with the program's name.
	 */
	char *name = argv[0];
	argv[0] = (char *)program_name;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+o:f", long_options, NULL)) != -1)
		parse_option(options, option);
	argv[0] = name;
	options->command = argv + optind;
	options->command_count = argc - optind;
	if (options->force && !options->run)
		die(STATUS_TROUBLE, "option '-f' needs '-o RUN'");
	if (!options->command_count && !options->again)
		die(STATUS_TROUBLE, "no command given; try 'stablerun --help'");
}
