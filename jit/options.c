/* The command line: the jit's own options, then Python's. */
#include "jit/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/base.h"

/* Python's options that take an argument, in the same word or the next one
 * (Python/getopt.c: SHORT_OPTS "+bBc:dEhiIJm:OPqRsStuvVW:xX:?"); -c and -m end the
 * options. */
static bool takes_argument(char letter)
{
	return letter == 'W' || letter == 'X';
}

static bool starts_program(char letter)
{
	return letter == 'c' || letter == 'm';
}

static void keep(struct options *options, char *word)
{
	options->argv[options->argc++] = word;
}

static void reject(struct options *options, char *why)
{
	if (options->action == OPTIONS_BAD) {
		free(why);
		return;
	}
	options->action = OPTIONS_BAD;
	options->bad = why;
}

/* The value of "--name=value", or NULL where the word is another option. */
static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(word, name, length) && word[length] == '=' ? word + length + 1
								   : NULL;
}

static void parse_number(
	struct options *options, long *number, const char *text, const char *word)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	if (!*text || *end || errno || *number < 0 || *number > INT_MAX)
		reject(options,
			xasprintf("'%s': not a number from 0 to %d", word, INT_MAX));
}

static void parse_stress(struct options *options, const char *value, const char *word)
{
	if (!strcmp(value, "deopt"))
		options->stress_deopt = true;
	else
		reject(options, xasprintf("'%s': the only stress is 'deopt'", word));
}

static void parse_gdb(struct options *options, const char *value, const char *word)
{
	if (!strcmp(value, "on"))
		options->gdb = true;
	else if (!strcmp(value, "off"))
		options->gdb = false;
	else
		reject(options, xasprintf("'%s': neither 'on' nor 'off'", word));
}

static void parse_agent(struct options *options, const char *value, const char *word)
{
	if (!strcmp(value, "oprofile"))
		options->oprofile = true;
	else if (!strcmp(value, "vtune"))
		options->vtune = true;
	else
		reject(options, xasprintf("'%s': neither 'oprofile' nor 'vtune'", word));
}

/* Own options with a value that was forgotten: Python would call them unknown. */
static bool lacks_value(const char *word)
{
	static const char *const names[] = {"--threshold", "--tier2", "--stress",
		"--dump-dir", "--dump-ir", "--gdb", "--agent"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(word, names[i]))
			return true;
	return false;
}

/* True where the word was an own long option. */
static bool parse_long(struct options *options, const char *word)
{
	const char *value;

	if (!strcmp(word, "--help"))
		options->action = OPTIONS_HELP;
	else if (!strcmp(word, "--version"))
		options->action = OPTIONS_VERSION;
	else if (!strcmp(word, "--opcodes"))
		options->action = OPTIONS_OPCODES;
	else if (!strcmp(word, "--check-stack"))
		options->check_stack = true;
	else if ((value = value_of(word, "--threshold")))
		parse_number(options, &options->threshold, value, word);
	else if ((value = value_of(word, "--tier2")))
		parse_number(options, &options->tier2, value, word);
	else if ((value = value_of(word, "--stress")))
		parse_stress(options, value, word);
	else if ((value = value_of(word, "--gdb")))
		parse_gdb(options, value, word);
	else if ((value = value_of(word, "--agent")))
		parse_agent(options, value, word);
	else if ((value = value_of(word, "--dump-dir")))
		options->dump_directory = value;
	else if ((value = value_of(word, "--dump-ir")))
		options->dump_ir = value;
	else if (lacks_value(word))
		reject(options, xasprintf("'%s': needs a value: %s=…", word, word));
	else
		return false;
	return true;
}

/* Takes own letters out of a word of short options. Sets *ends where the program starts
 * after this word, and *argument where Python takes the next word as an argument. */
static void parse_short(struct options *options, char *word, bool *ends, bool *argument)
{
	char *rest = xstrdup(word);
	size_t length = 1;
	size_t i = 1;

	for (; word[i]; i++) {
		if (word[i] == 'p') {
			options->perf = true;
			continue;
		}
		if (word[i] == 's') {
			options->statistics = true;
			continue;
		}
		rest[length++] = word[i];
		*ends = starts_program(word[i]);
		*argument = takes_argument(word[i]) && !word[i + 1];
		if (*ends || takes_argument(word[i])) {
			strcpy(rest + length, word + i + 1);
			length += strlen(word + i + 1);
			break;
		}
	}
	rest[length] = '\0';
	if (length == strlen(word)) {
		free(rest);
		keep(options, word);
	} else if (length > 1) {
		options->owned[options->owned_count++] = rest;
		keep(options, rest);
	} else {
		free(rest);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	int i = 1;
	bool ends = false;

	*options = (struct options){
		.threshold = OPTIONS_THRESHOLD,
		.tier2 = OPTIONS_TIER2,
		.gdb = true,
		.check_stack = OPTIONS_CHECK_STACK,
		.argv = xcalloc((size_t)argc + 1, sizeof(char *)),
		.owned = xcalloc((size_t)argc + 1, sizeof(char *)),
	};
	if (argc > 0)
		keep(options, argv[0]);
	while (i < argc && !ends) {
		char *word = argv[i];
		bool argument = false;

		if (word[0] != '-' || !word[1] || !strcmp(word, "--"))
			break;
		i++;
		if (word[1] == '-') {
			if (parse_long(options, word))
				continue;
			keep(options, word);
			argument = !strcmp(word, "--check-hash-based-pycs");
		} else {
			parse_short(options, word, &ends, &argument);
		}
		if (argument && i < argc)
			keep(options, argv[i++]);
	}
	while (i < argc)
		keep(options, argv[i++]);
}

void options_release(struct options *options)
{
	for (int i = 0; i < options->owned_count; i++)
		free(options->owned[i]);
	free(options->owned);
	free(options->argv);
	free(options->bad);
}

void options_help(void)
{
	fputs("usage: jit [OPTION...] FILE | -c CODE | -m MODULE | - [ARG...]\n"
	      "Runs a Python program, its hot code compiled.\n"
	      "\n"
	      "  -p                write what perf needs: /tmp/perf-PID.map and, in "
	      "DIR,\n"
	      "                    jit-PID.dump, jit-PID.elf and jit-PID.patches\n"
	      "  -s                print timers and counters to stderr at exit\n"
	      "  --dump-dir=DIR    DIR for the files of -p (default: the current "
	      "directory)\n"
	      "  --threshold=N     compile a function at its Nth call (default 40; with "
	      "a\n"
	      "                    loop: at the first one); 0: never\n"
	      "  --tier2=N         turns of a loop before it is optimised (default 500);\n"
	      "                    0: never\n"
	      "  --stress=deopt    let every guard fail in turn\n"
	      "  --check-stack     assert the stack at every instruction of compiled code\n"
	      "  --gdb=on|off      register code with gdb (default: on)\n"
	      "  --agent=WHICH     tell a profiler's agent about compiled code: oprofile "
	      "or\n"
	      "                    vtune\n"
	      "  --dump-ir=FUNC    print the intermediate code of functions of this "
	      "name\n"
	      "  --opcodes         list the instructions and how each is compiled\n"
	      "  --help, --version\n"
	      "\n"
	      "Every other option, and the environment, is Python's: see jit -h. "
	      "Python's -s\n"
	      "(no user site) is PYTHONNOUSERSITE=1 here.\n",
		stdout);
}
