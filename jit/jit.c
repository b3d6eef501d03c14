/* The engine as a whole: one per process, for the main interpreter. */
#include "jit/jit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "jit/codemem.h"
#include "jit/hook.h"
#include "jit/options.h"
#include "jit/runtime.h"
#include "jit/symbols.h"
#include "jit/table.h"
#include "launcher/base.h"

struct jit jit;

/* At exit, however the program exits: os._exit() and signals excepted. */
static void finish(void)
{
	symbols_close(jit.symbols);
	jit.symbols = NULL;
	if (jit.statistics)
		timers_print(&jit.timers);
}

static void in_child(void)
{
	if (jit.symbols)
		symbols_forked(jit.symbols);
}

void jit_start(const struct options *options)
{
	unsigned outputs = 0;

	jit.interpreter = PyInterpreterState_Main();
	jit.threshold = (uint32_t)options->threshold;
	jit.tier2 = options->tier2;
	jit.statistics = options->statistics;
	jit.perf = options->perf;
	jit.stress_deopt = options->stress_deopt;
	jit.check_stack = options->check_stack;
	jit.dump_ir = options->dump_ir;
	atexit(finish);
	if (!options->threshold)
		return;
	jit.memory = codemem_new(CODEMEM_AUTO);
	if (!jit.memory || table_start()) {
		warn("cannot reserve memory for code, so everything is interpreted: %s",
			strerror(errno));
		return;
	}
	if (options->perf)
		outputs |= SYMBOLS_PERF;
	if (options->gdb)
		outputs |= SYMBOLS_GDB;
	if (options->oprofile)
		outputs |= SYMBOLS_OPROFILE;
	if (options->vtune)
		outputs |= SYMBOLS_VTUNE;
	if (outputs) {
		jit.symbols = symbols_open(outputs, options->dump_directory);
		pthread_atfork(NULL, NULL, in_child);
	}
	runtime_number_start();
	hook_install(jit.interpreter);
}
