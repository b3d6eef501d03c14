/* VTune's JIT API: the collector puts the path of its library into the environment, and
 * the library's NotifyEvent() is called with an event's number and data. Interface:
 * jitprofiling.h and jitprofiling.c of Intel's ittapi. */
#include "jit/agent.h"

#include "jit/code_info.h"
#include "launcher/base.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* iJIT_JVM_EVENT and iJIT_IsProfilingActiveFlags. */
enum {
	EVENT_SHUTDOWN = 2,
	EVENT_LOAD_FINISHED = 13,
	EVENT_UNLOAD_START = 14,
	SAMPLING_ON = 1,
};

static const char variable[] = "INTEL_JIT_PROFILER64";

/* LineNumberInfo: the line of the code before `end` and behind the entry before. */
struct itt_line {
	unsigned int end;
	unsigned int line;
};

/* iJIT_Method_Load. */
struct itt_method {
	unsigned int id; /* not 0 */
	char *name;
	void *address;
	unsigned int size;
	unsigned int line_count;
	struct itt_line *lines;
	unsigned int class_id; /* not used any more */
	char *class_name;
	char *source;
};

struct itt {
	struct agent agent;
	void *library;
	int (*notify)(unsigned int event, void *data);
};

/* Ours begin at the line's first byte. */
static struct itt_line *make_lines(const struct code_info *code)
{
	struct itt_line *lines = calloc(code->row_count + 1, sizeof(*lines));

	for (size_t i = 0; lines && i < code->row_count; i++) {
		size_t end =
			i + 1 < code->row_count ? code->rows[i + 1].offset : code->size;
		lines[i].end = (unsigned)end;
		lines[i].line =
			(unsigned)(code->rows[i].line > 0 ? code->rows[i].line : 0);
	}
	return lines;
}

/* A module has as many methods as code objects: tiers of one function are told apart. */
static unsigned method_id(const struct code_info *code)
{
	return (unsigned)(code->index + 1);
}

static void load(struct agent *agent, const struct code_info *code)
{
	struct itt *itt = (struct itt *)agent;
	cleanup_free struct itt_line *lines = make_lines(code);
	struct itt_method method = {
		.id = method_id(code),
		.name = (char *)code->symbol,
		.address = (void *)code->address,
		.size = (unsigned)code->size,
		.line_count = lines ? (unsigned)code->row_count : 0,
		.lines = lines,
		.source = *code->file ? (char *)code->file : NULL,
	};

	if (code->size <= UINT_MAX && method.id)
		itt->notify(EVENT_LOAD_FINISHED, &method);
}

static void unload(struct agent *agent, const struct code_info *code)
{
	struct itt_method method = {.id = method_id(code)};

	((struct itt *)agent)->notify(EVENT_UNLOAD_START, &method);
}

/* The collector follows forks by itself. */
static void forked(struct agent *agent)
{
	(void)agent;
}

static void close_agent(struct agent *agent)
{
	struct itt *itt = (struct itt *)agent;

	itt->notify(EVENT_SHUTDOWN, NULL);
	dlclose(itt->library);
	free(itt);
}

static bool start(struct itt *itt, const char *path)
{
	unsigned int (*initialize)(void) = NULL;
	void *found[] = {agent_find(itt->library, path, "NotifyEvent"), NULL};

	if (found[0])
		found[1] = agent_find(itt->library, path, "Initialize");
	if (!found[1])
		return false;
	memcpy(&itt->notify, &found[0], sizeof(found[0]));
	memcpy(&initialize, &found[1], sizeof(found[1]));
	/* Present but idle is no mistake: nobody is sampling. */
	return initialize() & SAMPLING_ON;
}

struct agent *agent_ittnotify_open(void)
{
	const char *path = getenv(variable);
	struct itt *itt = calloc(1, sizeof(*itt));

	if (!path || !*path)
		warn("cannot tell VTune about compiled code: its collector has not set "
		     "%s",
			variable);
	if (!itt || !path || !*path) {
		free(itt);
		return NULL;
	}
	itt->agent = (struct agent){load, unload, forked, close_agent};
	itt->library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (itt->library && start(itt, path))
		return &itt->agent;
	if (itt->library)
		dlclose(itt->library);
	else
		warn("cannot tell VTune about compiled code: %s", dlerror());
	free(itt);
	return NULL;
}
