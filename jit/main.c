/* jit: Python with its hot code compiled. */
#include "jit/python.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/jit.h"
#include "jit/lower.h"
#include "jit/opcodes.h"
#include "jit/options.h"
#include "launcher/base.h"

const char program_name[] = "jit";

enum { STATUS_USAGE = 2 };

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SANITIZED)
/* Under AddressSanitizer every object is a block of malloc()'s, so that the sanitizer knows
 * it; Python's tests ask for memory that nobody has, and handle SIGSEGV; its extension
 * modules leak by design. */
enum { ALLOCATOR = PYMEM_ALLOCATOR_MALLOC };
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:allow_user_segv_handler=1:detect_leaks=0";
}
#else
enum { ALLOCATOR = PYMEM_ALLOCATOR_NOT_SET };
#endif

static PyStatus set_wide(PyConfig *config, wchar_t **field, const char *text)
{
	return PyConfig_SetBytesString(config, field, text);
}

/* sys.orig_argv is what the user typed, own options included, so that a program that runs
 * itself again does so in the same way. */
static PyStatus set_original(PyConfig *config, int argc, char **argv)
{
	PyStatus status = PyStatus_Ok();

	for (int i = 0; i < argc && !PyStatus_Exception(status); i++) {
		wchar_t *word = Py_DecodeLocale(argv[i], NULL);

		if (!word)
			return PyStatus_NoMemory();
		status = PyWideStringList_Append(&config->orig_argv, word);
		PyMem_RawFree(word);
	}
	return status;
}

/* sys.executable must be this program, whatever argv[0] says, for Python's children. */
static PyStatus set_program(PyConfig *config)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		return PyStatus_Ok();
	path[length] = '\0';
	return set_wide(config, &config->executable, path);
}

static PyStatus start_python(struct options *options, int argc, char **argv)
{
	PyPreConfig preconfig;
	PyConfig config;
	PyStatus status;

	PyPreConfig_InitPythonConfig(&preconfig);
	preconfig.allocator = ALLOCATOR;
	status = Py_PreInitializeFromBytesArgs(&preconfig, options->argc, options->argv);
	if (PyStatus_Exception(status))
		return status;
	PyConfig_InitPythonConfig(&config);
	status = PyConfig_SetBytesArgv(&config, options->argc, options->argv);
	if (!PyStatus_Exception(status))
		status = set_program(&config);
	if (!PyStatus_Exception(status))
		status = set_original(&config, argc, argv);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	return status;
}

/* The internal structures that the stencils reach into are those of one release: a
 * shared libpython cannot creep in (it is linked statically), but check what was built.
 */
static void check_version(void)
{
	if (strncmp(Py_GetVersion(), PY_VERSION " ", sizeof(PY_VERSION)))
		die(STATUS_USAGE, "built with the headers of Python %s, linked with %s",
			PY_VERSION, Py_GetVersion());
}

static void print_opcodes(void)
{
#define PRINT_(name)                                        \
	printf("%-28s %s\n", #name,                         \
		lower_describe(name) ? lower_describe(name) \
				     : "left to the interpreter");
	OPCODES_EACH(PRINT_)
#undef PRINT_
	printf("%-28s %s\n%-28s %s\n", "EXTENDED_ARG",
		"compiled: part of the instruction that follows", "CACHE",
		"no instruction: where the interpreter keeps what it has seen");
}

int main(int argc, char **argv)
{
	struct options options;
	PyStatus status;
	int result;

	options_parse(&options, argc, argv);
	switch (options.action) {
	case OPTIONS_HELP: options_help(); return 0;
	case OPTIONS_VERSION:
		printf("jit %s (Python %s)\n", JIT_VERSION, PY_VERSION);
		return 0;
	case OPTIONS_OPCODES: print_opcodes(); return 0;
	case OPTIONS_BAD: die(STATUS_USAGE, "%s", options.bad);
	case OPTIONS_RUN: break;
	}
	check_version();
	status = start_python(&options, argc, argv);
	if (PyStatus_Exception(status))
		Py_ExitStatusException(status);
	jit_start(&options);
	result = Py_RunMain();
	options_release(&options);
	return result;
}
