/* The text that a host runs: one run, in the directory and the environment of the command
 * line, sent back as an archive on standard output. */
#include "launcher/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/options.h"
#include "launcher/quote.h"
#include "launcher/strv.h"

extern char **environ;

static void put_word(FILE *text, const char *word)
{
	quote_single(text, word);
	fputc(' ', text);
}

static void put_words(FILE *text, const struct strv *words, size_t from)
{
	for (size_t i = from; i < words->count; i++)
		put_word(text, words->items[i]);
}

char *engine_script(const struct engine_job *job, const char *program)
{
	char *script = NULL;
	size_t size = 0;
	cleanup_free char *cwd = getcwd(NULL, 0);
	FILE *text = open_memstream(&script, &size);

	if (!text)
		die(STATUS_TROUBLE, "out of memory");
	fputs("cd ", text);
	put_word(text, cwd ? cwd : ".");
	fputs("|| exit 3\n"
	      "dir=$(mktemp -d \"${TMPDIR:-/tmp}/stablerun.XXXXXX\") || exit 3\n"
	      "trap 'rm -rf \"$dir\"' EXIT\n"
	      "trap 'exit 3' HUP INT TERM\n"
	      "env -i ",
		text);
	/* What a remote shell adds or leaves out would be another environment. */
	for (char **variable = environ; *variable; variable++)
		put_word(text, *variable);
	put_word(text, program);
	fputs("perf ", text);
	put_words(text, job->perf_options, 0);
	fputs("-o \"$dir/run\" ", text);
	put_words(text, job->command, 1);
	fputs("</dev/null >\"$dir/out\" 2>\"$dir/err\"\n"
	      "[ -e \"$dir/run/perf.data\" ] || { grep . \"$dir/err\" | tail -n 3 >&2; "
	      "exit 3; }\n"
	      "tar -C \"$dir\" -cf - run out err\n",
		text);
	if (ferror(text) | fclose(text))
		die(STATUS_TROUBLE, "out of memory");
	return script;
}
