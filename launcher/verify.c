/* `stablerun verify [-n N] [--contexts=LIST] -- COMMAND`: N runs in each context; what moved
 * against the first run, and why. */
#include "launcher/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/codes.h"
#include "launcher/decide.h"
#include "launcher/diff.h"
#include "launcher/options.h"
#include "launcher/plan.h"
#include "launcher/run.h"
#include "launcher/sibling.h"

enum {
	VERIFY_SAME = 0,
	VERIFY_MOVED = 1,
	RUNS_MOST = 10000,
	OPTION_CONTEXTS = 256,
	OPTION_KEEP,
	OPTION_HELP,
	OPTION_PASSED,
};

const char *const verify_context_names[VERIFY_CONTEXTS] = {
	[VERIFY_PLAIN] = "plain",
	[VERIFY_ENV] = "env",
	[VERIFY_PERF] = "perf",
	[VERIFY_GDB] = "gdb",
};

static const struct option long_options[] = {
	{"runs", required_argument, NULL, 'n'},
	{"contexts", required_argument, NULL, OPTION_CONTEXTS},
	{"keep", required_argument, NULL, OPTION_KEEP},
	{"help", no_argument, NULL, OPTION_HELP},
	OPTIONS_HANDED_ON(OPTION_PASSED),
	{0},
};

static const char usage[] =
	"Usage: stablerun verify [OPTION...] [--] COMMAND [ARG...]\n"
	"Run COMMAND again and again in several contexts: does anything move?\n"
	"\n"
	"  -n, --runs=N         runs in each context (default 3)\n"
	"      --contexts=LIST  of plain, env (another environment and shell), perf, gdb;\n"
	"                       default: all\n"
	"      --keep=DIR       keep every run in DIR\n"
	"      --help           print this\n"
	"\n"
	"and --seed, --clock, --rule, --env, --cpu, --place as a plain run has them. What\n"
	"COMMAND prints is not shown. The exit status is 0 where nothing moved, 1 where\n"
	"something did, 125 to 127 in trouble.\n";

struct verify {
	unsigned runs;
	bool contexts[VERIFY_CONTEXTS];
	const char *keep;
	struct strv passed; /* options of a plain run */
	struct verify_launch launch;
	char *directory; /* of the runs; owned */

	struct run first; /* what the others are compared with */
	bool have_first;
	struct codes codes;  /* of the first */
	bool *address_moved; /* of each code object of the first, in any run */
	bool *bytes_differ;
	size_t bytes_known;
	size_t extra;	/* code objects that other runs had besides, at most */
	unsigned parts; /* enum diff_part that moved in any run */
	unsigned made[VERIFY_CONTEXTS];
	unsigned moved[VERIFY_CONTEXTS];
	char *diverged; /* the first run that moved; owned */
	unsigned troubles;
};

/* ---- the command line ---- */

static void parse_contexts(struct verify *verify, const char *list)
{
	memset(verify->contexts, 0, sizeof(verify->contexts));
	while (*list) {
		size_t length = strcspn(list, ",");
		int context = 0;
		while (context < VERIFY_CONTEXTS &&
			(strlen(verify_context_names[context]) != length ||
				strncmp(verify_context_names[context], list, length) !=
					0))
			context++;
		if (context == VERIFY_CONTEXTS)
			die(STATUS_TROUBLE,
				"bad value '%s' for option '--contexts': expected a list of "
				"plain, env, perf, gdb",
				list);
		verify->contexts[context] = true;
		list += length;
		list += *list == ',';
	}
}

static void parse_option(struct verify *verify, int option, int index)
{
	switch (option) {
	case 'n': verify->runs = (unsigned)options_count("-n", optarg, RUNS_MOST); break;
	case OPTION_CONTEXTS: parse_contexts(verify, optarg); break;
	case OPTION_KEEP: verify->keep = optarg; break;
	case OPTION_HELP: options_print(usage);
	case OPTION_PASSED:
		options_hand_on(&verify->passed, &long_options[index], optarg);
		break;
	default: exit(STATUS_TROUBLE);
	}
}

static void parse(struct verify *verify, int argc, char **argv)
{
	int option, index = 0;

	*verify = (struct verify){.runs = 3, .contexts = {true, true, true, true}};
	argv[0] = (char *)program_name;
	optind = 1;
	while ((option = getopt_long(argc, argv, "+n:", long_options, &index)) != -1)
		parse_option(verify, option, index);
	if (optind == argc)
		die(STATUS_TROUBLE, "no command given; try 'stablerun verify --help'");
}

/* Finds the command as a plain run would, and what is known of it before any run. */
static int prepare(struct verify *verify, char **command)
{
	struct strv line = {0};
	struct options options;
	struct plan plan;

	strv_add(&line, xstrdup(program_name));
	strv_copy(&line, verify->passed.items ? verify->passed.items : (char *[]){NULL});
	strv_add(&line, xstrdup("--"));
	strv_copy(&line, command);
	options_parse(&options, (int)line.count, line.items);
	options.kept = true;
	int status = decide(&plan, &options);
	if (status)
		return status;
	char *file = realpath(plan.file, NULL);
	cleanup_free char *exec = realpath(plan.exec, NULL);
	bool script = !file || !exec || strcmp(exec, file) != 0;
	verify->launch = (struct verify_launch){.stablerun = sibling_own_path(),
		.options = &verify->passed,
		/* Through symbolic links as the user wrote it: a name can matter. */
		.file = *plan.file == '/' ? xstrdup(plan.file) : steal_pointer(&file),
		.arguments = command + 1,
		.script = script};
	free(file);
	plan_release(&plan);
	strv_release(&line);
	return 0;
}

/* ---- comparing ---- */

static void compare_codes(struct verify *verify, const struct run *run)
{
	struct codes codes;

	codes_read(&codes, run);
	cleanup_free size_t *partner = codes_pair(&verify->codes, &codes);
	size_t paired = 0;
	for (size_t i = 0; i < verify->codes.count; i++) {
		const struct code *x = &verify->codes.items[i];
		if (partner[i] == codes.count) {
			verify->address_moved[i] = true;
			verify->bytes_differ[i] |= x->bytes != NULL;
			continue;
		}
		const struct code *y = &codes.items[partner[i]];
		paired++;
		verify->address_moved[i] |= x->address != y->address;
		verify->bytes_differ[i] |=
			x->bytes && (!y->bytes || !y->bytes || x->size != y->size ||
					    memcmp(x->bytes, y->bytes, x->size) != 0);
	}
	if (codes.count - paired > verify->extra)
		verify->extra = codes.count - paired;
	codes_release(&codes);
}

static void take_first(struct verify *verify, struct run *run)
{
	verify->first = *run;
	verify->have_first = true;
	codes_read(&verify->codes, &verify->first);
	verify->address_moved = xcalloc(verify->codes.count, sizeof(bool));
	verify->bytes_differ = xcalloc(verify->codes.count, sizeof(bool));
	for (size_t i = 0; i < verify->codes.count; i++)
		verify->bytes_known += verify->codes.items[i].bytes != NULL;
}

static void take_other(
	struct verify *verify, struct run *run, enum verify_context context)
{
	struct diff diff;

	compare_codes(verify, run);
	if (diff_runs(&diff, &verify->first, run) == 0 && diff.moved) {
		verify->parts |= diff.moved;
		verify->moved[context]++;
		if (!verify->diverged)
			verify->diverged = xstrdup(run->path);
	}
	diff_release(&diff);
	run_close(run);
}

static bool same_end(const struct run_info *a, const struct run_info *b)
{
	return a->end == b->end && a->status == b->status && a->signal == b->signal;
}

static void take_run(struct verify *verify, enum verify_context context, const char *path)
{
	struct run run;
	char message[RUN_MESSAGE];

	if (run_open(&run, path, message) < 0) {
		warn("%s", message);
		verify->troubles++;
		return;
	}
	verify->made[context]++;
	if (verify->have_first && !same_end(&verify->first.info, &run.info))
		warn("warning: a run under '%s' ended in another way than the first",
			verify_context_names[context]);
	if (verify->have_first)
		take_other(verify, &run, context);
	else
		take_first(verify, &run);
}

/* ---- running ---- */

static void progress(
	const struct verify *verify, enum verify_context context, unsigned run)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s: run %u of %u", verify_context_names[context],
			run, verify->runs);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
}

/* One whose tool is missing is left out, and said. */
static void run_context(struct verify *verify, enum verify_context context)
{
	for (unsigned i = 1; i <= verify->runs; i++) {
		char *cause = NULL;
		cleanup_free char *run = xasprintf(
			"%s/%s-%u", verify->directory, verify_context_names[context], i);
		cleanup_free char *log = xasprintf("%s.log", run);
		progress(verify, context, i);
		int result = verify_launch(&verify->launch, context, i, run, log, &cause);
		end_progress();
		if (result == 0) {
			take_run(verify, context, run);
			continue;
		}
		warn("no run under '%s': %s", verify_context_names[context], cause);
		free(cause);
		verify->troubles++;
		return;
	}
}

static void run_all(struct verify *verify)
{
	for (int context = 0; context < VERIFY_CONTEXTS; context++) {
		if (!verify->contexts[context])
			continue;
		if (context == VERIFY_GDB && verify->launch.script) {
			warn("'%s' is a script: not run under gdb", verify->launch.file);
			continue;
		}
		run_context(verify, (enum verify_context)context);
	}
}

/* ---- the verdict ---- */

static size_t count_false(const bool *flags, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		found += !flags[i];
	return found;
}

static unsigned total(const unsigned *counts)
{
	unsigned sum = 0;

	for (int i = 0; i < VERIFY_CONTEXTS; i++)
		sum += counts[i];
	return sum;
}

static void print_contexts(const struct verify *verify)
{
	const char *before = " (";

	for (int i = 0; i < VERIFY_CONTEXTS; i++) {
		if (!verify->made[i])
			continue;
		printf("%s%s %u", before, verify_context_names[i], verify->made[i]);
		before = ", ";
	}
	printf(")\n");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void print_verdict(const struct verify *verify)
{
	const char *name = base_name(verify->launch.file);
	size_t count = verify->codes.count;

	if (count)
		printf("%s: %zu of %zu code objects at the same address in %u runs", name,
			count_false(verify->address_moved, count), count,
			total(verify->made));
	else
		printf("%s: no JIT code; %s in %u runs", name,
			verify->parts ? "memory moved" : "nothing moved",
			total(verify->made));
	print_contexts(verify);
	if (verify->extra)
		printf("%s: up to %zu more code objects in other runs\n", name,
			verify->extra);
	if (verify->bytes_known)
		printf("%s: the bytes of %zu of %zu code objects are the same at exit\n",
			name,
			count_false(verify->bytes_differ, count) -
				(count - verify->bytes_known),
			verify->bytes_known);
	printf("%s: program, libraries, stack and heap %s\n", name,
		verify->parts & (DIFF_STACK | DIFF_HEAP | DIFF_PROGRAM | DIFF_MAPPINGS)
			? "moved"
			: "stand still");
	for (int i = 0; i < VERIFY_CONTEXTS && verify->parts; i++) {
		if (verify->moved[i])
			printf("%s: something moved in %u of %u runs under '%s'\n", name,
				verify->moved[i], verify->made[i],
				verify_context_names[i]);
	}
}

static void print_divergence(const struct verify *verify)
{
	struct run run;
	struct diff diff;
	char message[RUN_MESSAGE];

	if (!verify->diverged || run_open(&run, verify->diverged, message) < 0)
		return;
	printf("\nthe first run that differs:\n");
	if (diff_runs(&diff, &verify->first, &run) == 0)
		diff_print(&diff, base_name(verify->first.path), base_name(run.path));
	diff_release(&diff);
	run_close(&run);
}

static int make_directory(struct verify *verify)
{
	const char *temporary = getenv("TMPDIR");

	if (verify->keep) {
		if (mkdir(verify->keep, 0700) < 0 && errno != EEXIST) {
			warn("cannot create '%s': %s", verify->keep, strerror(errno));
			return -1;
		}
		verify->directory = realpath(verify->keep, NULL);
		return verify->directory ? 0 : -1;
	}
	verify->directory = xasprintf("%s/stablerun-verify.XXXXXX",
		temporary && *temporary == '/' ? temporary : "/tmp");
	if (mkdtemp(verify->directory))
		return 0;
	warn("cannot create '%s': %s", verify->directory, strerror(errno));
	return -1;
}

static void release(struct verify *verify)
{
	if (verify->have_first) {
		codes_release(&verify->codes);
		run_close(&verify->first);
	}
	if (!verify->keep)
		run_remove_tree(AT_FDCWD, verify->directory);
	free(verify->address_moved);
	free(verify->bytes_differ);
	free(verify->diverged);
	free(verify->directory);
	free((char *)verify->launch.stablerun);
	free((char *)verify->launch.file);
	strv_release(&verify->passed);
}

int verify_main(int argc, char **argv)
{
	struct verify verify;

	parse(&verify, argc, argv);
	int status = prepare(&verify, argv + optind);
	if (status)
		return status;
	if (make_directory(&verify) < 0)
		return STATUS_TROUBLE;
	run_all(&verify);
	if (!verify.have_first) {
		release(&verify);
		return STATUS_TROUBLE;
	}
	print_verdict(&verify);
	print_divergence(&verify);
	if (fflush(stdout))
		die(STATUS_TROUBLE, "cannot write to standard output: %s",
			strerror(errno));
	status = verify.parts || verify.extra ? VERIFY_MOVED
		 : verify.troubles	      ? STATUS_TROUBLE
					      : VERIFY_SAME;
	release(&verify);
	return status;
}
