/* The runs by GNU parallel, on this machine or on hosts over ssh. It starts ssh through a
 * script of ours, which tries a host twice and then gives it up: a dead host fails so quickly
 * that it would draw all runs to itself. What it fails another host does (--retries). */
#include "launcher/engine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/strv.h"

enum {
	/* A remote shell takes 128 KiB in one word; the text comes in base64, and parallel
	 * doubles that. */
	SCRIPT_MOST = 40000,
	FILE_MOST = 64 << 20,
	LINE = 4096,
};

/* ssh as parallel calls it: [-p PORT] [-l USER] HOST -- WORD... The answer is kept until it
 * is whole, because half of one and another's would be no archive. */
static const char ssh_script[] =
	"#!/bin/sh\n"
	"here=${0%/*} name= user= port=\n"
	"for word; do\n"
	"	case $before in -p) port=:$word ;; -l) user=$word@ ;; esac\n"
	"	[ \"$word\" != -- ] || { host=$user$before$port; break; }\n"
	"	before=$word\n"
	"done\n"
	"key=$(printf %s \"$host\" | tr -c 'A-Za-z0-9._@:-' _)\n"
	"part=$(mktemp \"$here/part.XXXXXX\") || exit 1\n"
	"trap 'rm -f \"$part\" \"$part.err\"' EXIT\n"
	"for try in 1 2; do\n"
	"	[ ! -e \"$here/given-up/$key\" ] || exit 100\n"
	"	if ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 \\\n"
	"		-o ServerAliveCountMax=3 \"$@\" >\"$part\" 2>\"$part.err\"; then\n"
	"		cat \"$part\"\n"
	"		exit 0\n"
	"	fi\n"
	"	cause=$(grep . \"$part.err\" | tail -n 1 | tr -d '\\t\\r')\n"
	"	printf '%s\\t%s\\n' \"$host\" \"$cause\" >>\"$here/failures\"\n"
	"	[ $try = 2 ] || sleep 1\n"
	"done\n"
	"printf '%s\\t%s\\n' \"$host\" \"$cause\" >\"$here/given-up/$key\"\n"
	"exit 100\n";

/* ---- starting ---- */

static char *encode(const char *text)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t size = strlen(text), used = 0;
	char *encoded = xmalloc(size * 4 / 3 + 8);

	for (size_t i = 0; i < size; i += 3) {
		unsigned bits = 0;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 |
			       (i + k < size ? (unsigned char)text[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			encoded[used++] =
				i + k > size ? '=' : digits[bits >> (18 - 6 * k) & 63];
	}
	encoded[used] = '\0';
	return encoded;
}

/* In base64 nothing is special to the remote shell or to parallel, whose own words in
 * braces could stand in the environment. */
static char *make_command(const struct engine *engine)
{
	cleanup_free char *script = engine_script(engine->job, engine->options->program);

	if (strlen(script) > SCRIPT_MOST) {
		warn("cannot hand the runs to parallel: command and environment take %zu "
		     "bytes, of %d that a remote shell takes: unset what is not needed",
			strlen(script), SCRIPT_MOST);
		return NULL;
	}
	cleanup_free char *encoded = encode(script);
	return xasprintf("echo %s | base64 -d | sh -s {}", encoded);
}

static unsigned count_hosts(const struct engine_options *options)
{
	unsigned hosts = 1;

	for (const char *at = options->hosts; at && *at; at++)
		hosts += *at == ',';
	if (!options->hosts_file)
		return hosts;
	size_t size;
	cleanup_free char *text =
		run_read_file(AT_FDCWD, options->hosts_file, FILE_MOST, &size);
	for (const char *at = text; at && *at; at++)
		hosts += *at == '\n';
	return hosts;
}

static void add(struct strv *argv, const char *word)
{
	strv_add(argv, xstrdup(word));
}

static void make_argv(struct strv *argv, const struct engine *engine, const char *command)
{
	const struct engine_options *options = engine->options;
	static const char *const fixed[] = {"parallel", "--plain", "--will-cite"};

	strv_init(argv);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		add(argv, fixed[i]);
	strv_add(argv, xasprintf("--jobs=%lu", options->jobs ? options->jobs : 1));
	strv_add(argv, xasprintf("--retries=%u", count_hosts(options) + 1));
	strv_add(argv, xasprintf("--joblog=%s/joblog", engine->staging));
	strv_add(argv, xasprintf("--results=%s/{1}", engine->out));
	strv_add(argv, xasprintf("--arg-file=%s/list", engine->staging));
	strv_add(argv, xasprintf("--ssh=%s/ssh", engine->staging));
	if (options->hosts)
		strv_add(argv, xasprintf("--sshlogin=%s", options->hosts));
	if (options->hosts_file)
		strv_add(argv, xasprintf("--sshloginfile=%s", options->hosts_file));
	add(argv, command);
}

static int write_list(const struct engine *engine)
{
	char *text = NULL;
	size_t size = 0;
	FILE *list = open_memstream(&text, &size);

	for (unsigned run = 1; list && run <= engine->job->runs; run++)
		fprintf(list, "%u\n", run);
	if (!list || fclose(list))
		return -1;
	cleanup_free char *own = text;
	return engine_write(engine, "list", own, false);
}

/* ---- watching ---- */

/* Calls `each` with the words of every line of a file of tab-separated ones. */
static void each_line(struct engine *engine, const char *name,
	void (*each)(struct engine *, char **words, size_t count, void *context),
	void *context)
{
	cleanup_free char *path = xasprintf("%s/%s", engine->staging, name);
	size_t size;
	cleanup_free char *text = run_read_file(AT_FDCWD, path, FILE_MOST, &size);
	char *rest = text, *line;

	while (text && (line = strsep(&rest, "\n"))) {
		char *words[9], *word;
		size_t count = 0;
		while (count < ARRAY_SIZE(words) && (word = strsep(&line, "\t")))
			words[count++] = word;
		if (count >= 2)
			each(engine, words, count, context);
	}
}

/* Seq Host Starttime JobRuntime Send Receive Exitval Signal Command */
static void take_job(struct engine *engine, char **words, size_t count, void *context)
{
	char *end;
	unsigned long run = strtoul(words[0], &end, 10);

	(void)context;
	if (*end || count < 8 || run < 1 || run > engine->job->runs ||
		strcmp(words[6], "0") != 0 || strcmp(words[7], "0") != 0)
		return;
	free(engine->makers[run]);
	engine->makers[run] = xstrdup(strcmp(words[1], ":") ? words[1] : "this machine");
}

static void count_job(struct engine *engine, char **words, size_t count, void *context)
{
	(void)engine;
	(void)words;
	*(unsigned *)context += count >= 8 && strcmp(words[0], "Seq") != 0;
}

static unsigned count_done(struct engine *engine)
{
	unsigned done = 0;

	each_line(engine, "joblog", count_job, &done);
	return done;
}

/* The second one makes it end the jobs that are running. */
static void cancel(struct engine *engine, pid_t pid)
{
	(void)engine;
	kill(pid, SIGTERM);
	usleep(200000);
	kill(pid, SIGTERM);
}

/* ---- telling ---- */

struct failure {
	char *host;
	char *cause;
	unsigned count;
};

struct failures {
	struct failure *items;
	size_t count;
};

static void take_failure(struct engine *engine, char **words, size_t count, void *context)
{
	struct failures *failures = context;
	size_t i = 0;

	(void)engine;
	(void)count;
	while (i < failures->count && strcmp(failures->items[i].host, words[0]))
		i++;
	if (i == failures->count) {
		failures->items =
			xreallocarray(failures->items, i + 1, sizeof(*failures->items));
		failures->items[failures->count++] =
			(struct failure){.host = xstrdup(words[0])};
	}
	free(failures->items[i].cause);
	failures->items[i].cause = xstrdup(words[1]);
	failures->items[i].count++;
}

static void tell_failures(struct engine *engine)
{
	struct failures failures = {0};

	each_line(engine, "failures", take_failure, &failures);
	for (size_t i = 0; i < failures.count; i++) {
		struct failure *failure = &failures.items[i];
		cleanup_free char *key =
			xasprintf("%s/given-up/%s", engine->staging, failure->host);
		bool given_up = access(key, F_OK) == 0;
		const char *cause =
			*failure->cause ? failure->cause : "it gave no reason";
		if (given_up)
			warn("host '%s' failed, was tried once more and given up: %s",
				failure->host, cause);
		else
			warn("host '%s' failed and was tried once more: %s",
				failure->host, cause);
		free(failure->host);
		free(failure->cause);
	}
	free(failures.items);
}

/* Where it ran no job at all, parallel itself has something to say. */
static int judge(struct engine *engine, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !count_done(engine)) {
		warn("cannot run 'parallel': it is not installed (Debian's package: "
		     "parallel)");
		return -1;
	}
	if (!count_done(engine) && !engine->interrupted) {
		cleanup_free char *words = engine_last_line(engine, "log");
		warn("parallel made no run: %s", words ? words : "it gave no reason");
		return -1;
	}
	return 0;
}

int engine_parallel(struct engine *engine)
{
	cleanup_free char *command = make_command(engine);
	cleanup_free char *given_up = xasprintf("%s/given-up", engine->staging);
	struct strv argv;

	if (!command || engine_write(engine, "ssh", ssh_script, true) < 0 ||
		write_list(engine) < 0)
		return -1;
	if (mkdir(given_up, 0700) < 0) {
		warn("cannot create '%s': %s", given_up, strerror(errno));
		return -1;
	}
	make_argv(&argv, engine, command);
	pid_t pid = engine_start(engine, argv.items, "log", NULL);
	int status = pid < 0 ? -1 : engine_wait(engine, pid, count_done, cancel);
	strv_release(&argv);
	if (pid < 0 || judge(engine, status) < 0)
		return -1;
	each_line(engine, "joblog", take_job, NULL);
	tell_failures(engine);
	return 0;
}
