/* The command line of `stablerun [OPTION...] [--] COMMAND [ARG...]`. */
#ifndef LAUNCHER_OPTIONS_H
#define LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The launcher's own exit statuses; every other status is the program's. */
enum {
	STATUS_TROUBLE = 125,	     /* the launcher failed */
	STATUS_CANNOT_EXECUTE = 126, /* the command was found and cannot be executed */
	STATUS_NOT_FOUND = 127,
};

enum options_env { ENV_PINNED, ENV_KEEP, ENV_CLEAN };
enum options_place { PLACE_AUTO, PLACE_PERSONALITY, PLACE_MOVE, PLACE_LOAD, PLACE_OFF };
enum options_plan { PLAN_RUN, PLAN_TEXT, PLAN_JSON };

/* Strings are borrowed from the argument vector. */
struct options {
	const char *run;   /* -o; NULL: the run is not kept */
	bool kept;	   /* the run is kept: by -o, or by whoever calls decide() */
	bool force;	   /* -f: an existing -o RUN may be replaced */
	bool seeded;	   /* --seed was given */
	uint64_t seed;	   /* its number, 0 by default */
	bool clock_given;  /* --clock was given */
	unsigned clock_ms; /* --clock=startup: how long a start-up is; 0: a real clock */
	const char *rule;  /* --rule: a name, "none", or NULL to find it */
	enum options_env env;
	int cpu;	   /* --cpu, or -1 */
	const char *again; /* --again: the kept RUN whose plan is made once more */
	enum options_place place;
	const char *argv0; /* what the program sees as its name; NULL: the word itself */
	bool hold;	   /* --hold */
	bool place_given;  /* --place was on the command line */
	enum options_plan plan;
	int command_count;
	char **command; /* COMMAND and its arguments, NULL-terminated */
};

/* Reads the command line; argv[0] is skipped. --help and --version print and exit; a line
 * that makes no sense ends the process with status 125 and one message. */
void options_parse(struct options *options, int argc, char **argv);

/* The words of the options' values, as they are written on the command line. */
const char *options_env_name(enum options_env env);
const char *options_place_name(enum options_place place);

/* ---- for subcommands that make plain runs ---- */

struct option;
struct strv;

/* Rows for getopt_long() of the options that a subcommand hands on, each with this code. */
#define OPTIONS_HANDED_ON(code)                           \
	{"seed", optional_argument, NULL, code},          \
		{"clock", required_argument, NULL, code}, \
		{"rule", required_argument, NULL, code},  \
		{"env", required_argument, NULL, code},   \
		{"cpu", required_argument, NULL, code},   \
	{                                                 \
		"place", required_argument, NULL, code    \
	}

/* Adds such an option, as it was given, to a plain run's command line. */
void options_hand_on(struct strv *line, const struct option *option, const char *value);

/* The value of `option` as a number from 1 to `most`; else a message and the end. */
unsigned long options_count(const char *option, const char *value, unsigned long most);

/* Prints to standard output and exits. */
_Noreturn void options_print(const char *text);

#endif
