/* `stablerun gdb RUN | -- COMMAND`: gdb whose program is launched through exec-wrapper by
 * this program, with the run's exact plan or with a new one, and with the extension
 * loaded that knows the run.
 *
 * gdb gets, in this order: the extension (-iex, before any file is read), our settings
 * (-ex), the user's own arguments, the program with its arguments. */
#include "launcher/gdb.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/base.h"
#include "launcher/command.h"
#include "launcher/gdb_save.h"
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/place.h"
#include "launcher/quote.h"
#include "launcher/run.h"
#include "launcher/sibling.h"
#include "launcher/strv.h"

enum { OPTION_GDB = 256, OPTION_CORE, OPTION_SAVE, OPTION_HELP };

static const struct option long_options[] = {
	{"gdb", required_argument, NULL, OPTION_GDB},
	{"core", required_argument, NULL, OPTION_CORE},
	{"save", required_argument, NULL, OPTION_SAVE}, /* for the extension */
	{"help", no_argument, NULL, OPTION_HELP},
	{0},
};

static const char usage[] =
	"Usage: stablerun gdb [--gdb=PATH] [--core=FILE] RUN [GDB-ARG...]\n"
	"       stablerun gdb [--gdb=PATH] [LAUNCH-OPTION...] -- COMMAND [ARG...]\n"
	"Debug COMMAND, or the command of the kept RUN, at the run's addresses.\n"
	"\n"
	"      --gdb=PATH   the gdb to use (default: gdb)\n"
	"      --core=FILE  open a core file of the run's program instead of running it\n"
	"      --help       print this\n"
	"\n"
	"In gdb, 'help stablerun' lists what it knows of the run: info, hot, list, "
	"break,\n"
	"diff, check.\n";

struct session {
	const char *gdb;
	const char *core;
	struct strv wrapper; /* the words of exec-wrapper */
	const char *run;     /* or NULL */
	char *exec;	     /* the program's file */
	struct strv args;    /* its arguments, argv[0] left out */
	char *cwd;	     /* the program's working directory, or NULL */
	bool move;	     /* the program is moved to its places, which gdb's tracing
			      * would prevent: it is started and held before gdb comes */
	char *const *extra;  /* gdb's own arguments from the user */
	int extra_count;
};

/* Where the extension lies: beside the program when built, in share/ when installed. */
static char *extension_find(const char *own)
{
	cleanup_free char *directory = xstrdup(own);
	char *slash = strrchr(directory, '/');
	static const char *const places[] = {"gdb", "../share/stablerun/gdb"};

	*(slash ? slash : directory) = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = xasprintf("%s/%s/load.py", directory, places[i]);
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* Runs `gdb --configuration` and looks for a line; 1 yes, 0 no, -1 it cannot be run. */
static int gdb_has_python(const char *gdb)
{
	cleanup_free char *text = NULL;
	size_t size = 0, used = 0;
	int status, ends[2];

	if (pipe(ends))
		return -1;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execlp(gdb, gdb, "--configuration", (char *)NULL);
		_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_EXECUTE);
	}
	close(ends[1]);
	for (ssize_t got = 1; child > 0 && got > 0; used += (size_t)got) {
		size = used + 4096;
		text = xrealloc(text, size);
		got = read(ends[0], text + used, size - used - 1);
		if (got < 0)
			got = 0;
	}
	close(ends[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
		WEXITSTATUS(status))
		return -1;
	text[used] = '\0';
	return strstr(text, "--with-python") != NULL;
}

/* The words as one line that a POSIX shell reads back: gdb starts programs by one. */
static char *shell_line(const struct strv *words)
{
	char *line = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&line, &size);

	if (!stream)
		die(STATUS_TROUBLE, "out of memory");
	for (size_t i = 0; i < words->count; i++) {
		if (i)
			fputc(' ', stream);
		quote_print(stream, words->items[i]);
	}
	if (fclose(stream))
		die(STATUS_TROUBLE, "out of memory");
	return line;
}

static void add_command(struct strv *argv, const char *option, char *command)
{
	strv_add(argv, xstrdup(option));
	strv_add(argv, command);
}

static void add_extension(
	struct strv *argv, const struct session *session, const char *own)
{
	int python = gdb_has_python(session->gdb);
	char *extension = extension_find(own);

	if (python < 0)
		die(STATUS_NOT_FOUND, "cannot run '%s': %s", session->gdb,
			"not found or not executable (Debian: package gdb)");
	if (!python || !extension) {
		warn("%s: addresses are the run's, but there are no stablerun commands",
			python ? "gdb extension not found beside the program"
			       : "this gdb has no Python");
		free(extension);
		return;
	}
	add_command(argv, "-iex", xasprintf("source %s", extension));
	add_command(argv, "-iex", xasprintf("set stablerun-program %s", own));
	free(extension);
	if (session->run)
		add_command(argv, "-ex", xasprintf("stablerun load %s", session->run));
}

/* The program, as stablerun's child that is then gdb's: stopped before its first
 * instruction, in its place. Dies with gdb. */
static pid_t start_held(const struct session *session)
{
	struct strv argv;
	int status;

	strv_init(&argv);
	strv_add(&argv, xstrdup(session->wrapper.items[0]));
	strv_add(&argv, xstrdup("--hold"));
	strv_copy(&argv, session->wrapper.items + 1);
	strv_add(&argv, xstrdup(session->exec));
	strv_copy(&argv, session->args.items);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent || (session->cwd && chdir(session->cwd)))
			_exit(STATUS_TROUBLE);
		execv(argv.items[0], argv.items);
		_exit(STATUS_TROUBLE);
	}
	strv_release(&argv);
	if (pid < 0 || waitpid(pid, &status, WUNTRACED) < 0)
		die(STATUS_TROUBLE, "cannot start the program: %s", strerror(errno));
	/* Its own message said why. */
	if (!WIFSTOPPED(status))
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_TROUBLE);
	return pid;
}

static void add_settings(struct strv *argv, const struct session *session)
{
	/* The launcher sees to the addresses; gdb's own attempt would only warn where
	 * personality() is refused. */
	add_command(argv, "-iex", xstrdup("set disable-randomization off"));
	/* exec-wrapper works through the start-up shell only. */
	add_command(argv, "-iex", xstrdup("set startup-with-shell on"));
	add_command(argv, "-iex",
		xasprintf("set exec-wrapper %s", shell_line(&session->wrapper)));
	/* gdb would report twice that the program was stopped when it came; through a
	 * pipe it does not show its table. 'run' comes too late there: the launcher says
	 * so by itself. */
	if (session->move)
		add_command(argv, "-iex",
			xstrdup("pipe handle SIGSTOP nostop noprint nopass | cat "
				">/dev/null"));
	if (session->cwd)
		add_command(argv, "-iex", xasprintf("set cwd %s", session->cwd));
}

_Noreturn static void session_start(const struct session *session)
{
	struct strv argv;
	cleanup_free char *own = sibling_own_path();

	strv_init(&argv);
	strv_add(&argv, xstrdup(session->gdb));
	strv_add(&argv, xstrdup("-q"));
	if (!session->core)
		add_settings(&argv, session);
	add_extension(&argv, session, own);
	for (int i = 0; i < session->extra_count; i++)
		strv_add(&argv, xstrdup(session->extra[i]));
	if (session->core) {
		strv_add(&argv, xstrdup(session->exec));
		strv_add(&argv, xasprintf("--core=%s", session->core));
	} else if (session->move) {
		strv_add(&argv, xstrdup(session->exec));
		strv_add(&argv, xasprintf("--pid=%d", (int)start_held(session)));
	} else {
		strv_add(&argv, xstrdup("--args"));
		strv_add(&argv, xstrdup(session->exec));
		strv_copy(&argv, session->args.items);
	}
	execvp(session->gdb, argv.items);
	die(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_EXECUTE,
		"cannot execute '%s': %s", session->gdb, strerror(errno));
}

/* The command of a kept run, launched as it was. */
static int session_of_run(struct session *session, const char *path)
{
	char message[RUN_MESSAGE];
	struct run run;

	if (run_open(&run, path, message)) {
		warn("%s", message);
		return STATUS_TROUBLE;
	}
	char *absolute = realpath(path, NULL);
	session->run = absolute ? absolute : path;
	if (!run.info.exec || access(run.info.exec, R_OK)) {
		warn("cannot open the run's program '%s': %s",
			run.info.exec ? run.info.exec : "(unknown)", strerror(errno));
		run_close(&run);
		return STATUS_TROUBLE;
	}
	session->exec = xstrdup(run.info.exec);
	session->cwd = run.info.cwd ? xstrdup(run.info.cwd) : NULL;
	if (run.info.argv.count > 1)
		strv_copy(&session->args, run.info.argv.items + 1);
	session->move = run.info.place && !strcmp(run.info.place, "move");
	strv_add(&session->wrapper, xasprintf("--again=%s", session->run));
	strv_add(&session->wrapper, xstrdup("--"));
	run_close(&run);
	return 0;
}

/* A new command, launched by the options that stand before its `--`. */
static int session_of_command(struct session *session, char *const *options,
	int option_count, char *const *words)
{
	struct machine machine;
	struct command command;

	machine_read(&machine, environ);
	int status = command_find(&command, &machine, words);
	if (!status) {
		session->exec = xstrdup(command.exec);
		session->move = place_will_move(
			options, (size_t)option_count, machine.persona_refused);
		if (command.argv.count > 1)
			strv_copy(&session->args, command.argv.items + 1);
		for (int i = 0; i < option_count; i++)
			strv_add(&session->wrapper, xstrdup(options[i]));
		strv_add(&session->wrapper, xstrdup("--"));
	}
	command_release(&command);
	machine_release(&machine);
	return status;
}

static int find_separator(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return i;
	return 0;
}

int gdb_main(int argc, char **argv)
{
	struct session session = {.gdb = "gdb"};
	int separator = find_separator(argc, argv), option;
	cleanup_free char *own = sibling_own_path();
	pid_t save = 0;

	strv_init(&session.wrapper);
	strv_init(&session.args);
	strv_add(&session.wrapper, xstrdup(own));
	opterr = 0;
	optind = 1;
	/* Options that are not ours are the launcher's where a `--` follows. */
	while (optind < argc && argv[optind][0] == '-' && optind != separator) {
		int index = optind;
		option = getopt_long(argc, argv, "+", long_options, NULL);
		if (option == OPTION_GDB) {
			session.gdb = optarg;
		} else if (option == OPTION_CORE) {
			session.core = optarg;
		} else if (option == OPTION_SAVE) {
			save = (pid_t)strtol(optarg, NULL, 10);
		} else if (option == OPTION_HELP) {
			fputs(usage, stdout);
			return 0;
		} else if (separator) {
			optind = index;
			break;
		} else {
			die(STATUS_TROUBLE, "bad option '%s'; try 'stablerun gdb --help'",
				argv[index]);
		}
	}
	int status;
	if (separator && separator >= optind) {
		if (separator + 1 >= argc)
			die(STATUS_TROUBLE,
				"no command given; try 'stablerun gdb --help'");
		status = session_of_command(&session, argv + optind, separator - optind,
			argv + separator + 1);
	} else {
		if (optind >= argc)
			die(STATUS_TROUBLE, "no RUN given; try 'stablerun gdb --help'");
		if (save > 0)
			return gdb_save(save, argv[optind]);
		session.extra = argv + optind + 1;
		session.extra_count = argc - optind - 1;
		status = session_of_run(&session, argv[optind]);
	}
	if (status)
		return status;
	session_start(&session);
}
