/* OProfile's JIT agent interface: libopagent writes what it is told to a file that
 * opjitconv turns into an ELF for opreport. Interface: libopagent/opagent.h of OProfile
 * 1.x; the calls are part of its manual. */
#include "jit/agent.h"

#include "jit/code_info.h"
#include "launcher/base.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1 }; /* op_major_version() of this interface */

/* struct debug_line_info there. */
struct opagent_line {
	unsigned long address;
	unsigned int line;
	const char *file;
};

struct opagent {
	struct agent agent;
	void *library;
	void *handle;
	bool failed; /* one warning for all */
	void *(*open)(void);
	int (*close)(void *handle);
	int (*write_code)(void *handle, const char *name, uint64_t address,
		const void *code, unsigned int size);
	int (*write_lines)(void *handle, const void *code, size_t count,
		const struct opagent_line *lines);
	int (*unload_code)(void *handle, uint64_t address);
};

static void check(struct opagent *opagent, int result, const char *what)
{
	if (result == 0 || opagent->failed)
		return;
	opagent->failed = true;
	warn("cannot tell OProfile about all compiled code: %s failed: %s", what,
		strerror(errno));
}

static void write_lines(struct opagent *opagent, const struct code_info *code)
{
	cleanup_free struct opagent_line *lines = calloc(code->row_count, sizeof(*lines));

	if (!lines)
		return;
	for (size_t i = 0; i < code->row_count; i++)
		lines[i] = (struct opagent_line){
			.address = code->address + code->rows[i].offset,
			.line = (unsigned)(code->rows[i].line > 0 ? code->rows[i].line
								  : 0),
			.file = code->file,
		};
	check(opagent,
		opagent->write_lines(opagent->handle, (const void *)code->address,
			code->row_count, lines),
		"op_write_debug_line_info");
}

static void load(struct agent *agent, const struct code_info *code)
{
	struct opagent *opagent = (struct opagent *)agent;

	if (!opagent->handle || code->size > UINT_MAX)
		return;
	/* Lines belong to the code that follows them in its file. */
	if (code->row_count && *code->file)
		write_lines(opagent, code);
	check(opagent,
		opagent->write_code(opagent->handle, code->symbol, code->address,
			(const void *)code->address, (unsigned)code->size),
		"op_write_native_code");
}

static void unload(struct agent *agent, const struct code_info *code)
{
	struct opagent *opagent = (struct opagent *)agent;

	if (opagent->handle)
		check(opagent, opagent->unload_code(opagent->handle, code->address),
			"op_unload_native_code");
}

/* The file is the parent's, which goes on with it: it is not to be closed here. */
static void forked(struct agent *agent)
{
	struct opagent *opagent = (struct opagent *)agent;

	opagent->handle = opagent->open();
}

static void close_agent(struct agent *agent)
{
	struct opagent *opagent = (struct opagent *)agent;

	if (opagent->handle)
		check(opagent, opagent->close(opagent->handle), "op_close_agent");
	dlclose(opagent->library);
	free(opagent);
}

static bool find_calls(struct opagent *opagent, const char *name)
{
	int (*version)(void) = NULL;
	const struct {
		const char *name;
		void *place;
	} calls[] = {
		{"op_major_version", &version},
		{"op_open_agent", &opagent->open},
		{"op_close_agent", &opagent->close},
		{"op_write_native_code", &opagent->write_code},
		{"op_write_debug_line_info", &opagent->write_lines},
		{"op_unload_native_code", &opagent->unload_code},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		void *found = agent_find(opagent->library, name, calls[i].name);
		if (!found)
			return false;
		memcpy(calls[i].place, &found, sizeof(found));
	}
	if (version() == VERSION)
		return true;
	warn("cannot tell OProfile about compiled code: '%s' has version %d of its "
	     "interface, not %d",
		name, version(), VERSION);
	return false;
}

static bool open_agent(struct opagent *opagent, const char *name)
{
	if (!find_calls(opagent, name))
		return false;
	errno = 0;
	opagent->handle = opagent->open();
	if (!opagent->handle)
		warn("cannot tell OProfile about compiled code: op_open_agent failed: %s",
			errno ? strerror(errno) : "is operf recording?");
	return opagent->handle;
}

struct agent *agent_opagent_open(void)
{
	/* Where distributions put it. */
	static const char *const names[] = {
		"libopagent.so.1", "libopagent.so", "/usr/lib/oprofile/libopagent.so"};
	struct opagent *opagent = calloc(1, sizeof(*opagent));
	size_t i = 0;

	if (!opagent)
		return NULL;
	opagent->agent = (struct agent){load, unload, forked, close_agent};
	while (i < ARRAY_SIZE(names) &&
		!(opagent->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL)))
		i++;
	if (opagent->library && open_agent(opagent, names[i]))
		return &opagent->agent;
	if (opagent->library)
		dlclose(opagent->library);
	else
		warn("cannot tell OProfile about compiled code: 'libopagent.so' cannot "
		     "be loaded");
	free(opagent);
	return NULL;
}
