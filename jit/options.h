/* The command line: the jit's own options, then Python's. */
#ifndef JIT_OPTIONS_H
#define JIT_OPTIONS_H

#include <stdbool.h>

/* Calls of a code object (without a loop) before it is compiled. */
enum { OPTIONS_THRESHOLD = 40 };
/* Turns of a loop in the baseline before it is compiled again. */
enum { OPTIONS_TIER2 = 500 };

enum options_action {
	OPTIONS_RUN,
	OPTIONS_HELP,
	OPTIONS_VERSION,
	OPTIONS_OPCODES, /* --opcodes */
	OPTIONS_BAD,	 /* `bad` says why */
};

/* A build for debugging checks always. */
#ifdef DEBUG
enum { OPTIONS_CHECK_STACK = true };
#else
enum { OPTIONS_CHECK_STACK = false };
#endif

struct options {
	enum options_action action;
	bool perf;	   /* -p */
	bool statistics;   /* -s */
	bool stress_deopt; /* --stress=deopt */
	bool check_stack;  /* --check-stack */
	bool gdb;	   /* register code with gdb; off by --gdb=off */
	bool oprofile;	   /* --agent=oprofile */
	bool vtune;	   /* --agent=vtune */
	long threshold;	   /* --threshold=N */
	long tier2; /* --tier2=N: loop turns before the optimising tier; 0: never */
	const char *dump_directory; /* --dump-dir=DIR; borrowed from argv, or NULL */
	const char *dump_ir;	    /* --dump-ir=FUNC; the same */
	char *bad;		    /* owned: what is wrong with the command line */
	/* What is left for Python: argv[0], its options, the program and its arguments.
	 * The strings are borrowed from argv but for those in `owned`. */
	char **argv;
	int argc;
	char **owned;
	int owned_count;
};

/* Takes apart argv. Own options stand anywhere before the program (FILE, -c, -m or -);
 * what is not known here is left to Python. Short options of both may share one word. */
void options_parse(struct options *options, int argc, char **argv);
void options_release(struct options *options);

/* Writes the help text to stdout. */
void options_help(void);

#endif
