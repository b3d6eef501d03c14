/* Compiling a code object, and getting rid of the result. */
#include "jit/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/baseline.h"
#include "jit/cache.h"
#include "jit/codemem.h"
#include "jit/emit.h"
#include "jit/ir.h"
#include "jit/jit.h"
#include "jit/opt.h"
#include "jit/symbols.h"

static struct emit emit;

/* "module.qualname", as symbol tables show it. The module is the one that defined the
 * function; at a first call the file's base name stands for it. */
static void name_code(PyCodeObject *code, char *name, size_t size)
{
	const char *file = PyUnicode_AsUTF8(code->co_filename);
	const char *qualified = PyUnicode_AsUTF8(code->co_qualname);
	const char *base = file ? strrchr(file, '/') : NULL;
	const char *end;

	if (!file || !qualified)
		PyErr_Clear();
	base = base ? base + 1 : file ? file : "?";
	end = strrchr(base, '.');
	snprintf(name, size, "%.*s.%s",
		end && end > base ? (int)(end - base) : (int)strlen(base), base,
		qualified ? qualified : "?");
}

void compile_tell(PyCodeObject *code, const struct emit *from, const char *kind)
{
	char name[512];
	const char *file = PyUnicode_AsUTF8(code->co_filename);
	struct symbols_code told = {
		.address = from->code,
		.size = from->size,
		.name = name,
		.file = file ? file : "?",
		.first_line = code->co_firstlineno,
		.lines = from->lines,
		.line_count = from->line_count,
		.kind = kind,
	};

	name_code(code, name, sizeof(name));
	symbols_load(jit.symbols, &told);
}

static struct compiled *finish(struct compiled *compiled, uint64_t start)
{
	jit.timers.functions_compiled++;
	jit.timers.code_bytes += compiled->size;
	jit.timers.us_compiling += timers_now() - start;
	return compiled;
}

static struct compiled *give_up(struct compiled *compiled, uint64_t start)
{
	if (compiled)
		compile_free(compiled);
	jit.timers.functions_not_compiled++;
	jit.timers.us_compiling += timers_now() - start;
	return NULL;
}

static bool wants_dump(PyCodeObject *code)
{
	const char *name;

	if (!jit.dump_ir)
		return false;
	name = PyUnicode_AsUTF8(code->co_name);
	if (name && !strcmp(name, jit.dump_ir))
		return true;
	name = PyUnicode_AsUTF8(code->co_qualname);
	return name && !strcmp(name, jit.dump_ir);
}

static int build(struct ir *ir, PyCodeObject *code)
{
	const char *why;
	uint64_t start = timers_now();
	int result = ir_build(ir, code, &why);

	jit.timers.us_compiling_irgen += timers_now() - start;
	if (!result && wants_dump(code))
		ir_print(ir, stderr);
	return result;
}

/* A function that nobody else has goes with its frame, and its code object with it, while its
 * code is about to return: the memory is given back when something is compiled next. Without
 * memory for the list it is not given back at all. */
static void **buried;
static size_t buried_count, buried_room;

static void bury(void *address)
{
	if (buried_count == buried_room) {
		size_t room = buried_room ? buried_room * 2 : 64;
		void **grown = reallocarray(buried, room, sizeof(*grown));

		if (!grown)
			return;
		buried = grown;
		buried_room = room;
	}
	buried[buried_count++] = address;
}

static void release_buried(void)
{
	while (buried_count)
		codemem_release(jit.memory, buried[--buried_count]);
}

struct compiled *compile_code(PyCodeObject *code)
{
	struct ir ir;
	uint64_t start = timers_now();
	uint64_t jitting;
	struct compiled *compiled = calloc(1, sizeof(*compiled));
	int result;

	release_buried();
	if (!compiled || build(&ir, code)) {
		if (compiled)
			ir_release(&ir);
		return give_up(compiled, start);
	}
	compiled->code = code;
	jitting = timers_now();
	emit_begin(&emit, jit.memory);
	result = baseline_compile(&ir, &emit, compiled);
	jit.timers.us_compiling_jitting += timers_now() - jitting;
	if (emit.failure == EMIT_NO_MEMORY || emit.failure == EMIT_NO_CODE)
		jit.broken = true;
	if (!result && jit.symbols)
		compile_tell(code, &emit, "baseline");
	emit_end(&emit);
	ir_release(&ir);
	return result ? give_up(compiled, start) : finish(compiled, start);
}

void compile_release(void *address)
{
	if (_PyRuntimeState_GetFinalizing(&_PyRuntime))
		return;
	if (jit.symbols)
		symbols_unload(jit.symbols, address);
	bury(address);
}

void compile_free(struct compiled *compiled)
{
	cache_forget_callee(compiled);
	opt_free(compiled);
	if (compiled->start) {
		compile_release(compiled->start);
		jit.timers.functions_freed++;
		jit.timers.code_bytes -= compiled->size;
	}
	for (uint32_t i = 0; i < compiled->cache_count; i++)
		cache_release(&compiled->caches[i]);
	free(compiled->caches);
	free(compiled->entries);
	free(compiled->ops);
	free(compiled->exits);
	free(compiled->exit_entries);
	free(compiled);
}
