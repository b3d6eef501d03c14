/* Telling the world about JIT code: one table of live code, and the outputs fed from it.
 */
#include "jit/symbols.h"

#include "jit/agent.h"
#include "jit/code_elf.h"
#include "jit/code_info.h"
#include "jit/gdbjit.h"
#include "jit/jitdump.h"
#include "jit/patchlog.h"
#include "jit/perfmap.h"
#include "launcher/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct symbols {
	unsigned outputs; /* enum symbols_output */
	char *directory;  /* of the files: absolute where it could be found out */
	char *current;	  /* the directory that relative file names are meant from */
	struct code_table table; /* live code */
	/* Code that was freed and whose place is still free. code.elf has it too: the
	 * program frees its functions on its way to the exit, and the profile asks for
	 * them. */
	struct code_table freed;
	uint64_t next_index;
	struct outfile map;
	struct jitdump dump;
	struct patchlog log;
	struct gdbjit *gdb;
	struct agent *agents[2]; /* NULL: not asked for, or not there */
	bool warned;		 /* of memory */
};

/* The first failure is worth a line; the program runs on. */
static void warn_memory(struct symbols *symbols)
{
	if (!symbols->warned)
		warn("out of memory: some code will have no name");
	symbols->warned = true;
}

static char *absolute(const char *current, const char *directory)
{
	char *path = NULL;

	if (!directory)
		return strdup(current);
	if (*directory == '/' || asprintf(&path, "%s/%s", current, directory) < 0)
		return strdup(directory);
	return path;
}

/* Opens the files; false where none could be. */
static bool open_files(struct symbols *symbols)
{
	bool map = perfmap_open(&symbols->map);
	bool dump = jitdump_open(&symbols->dump, symbols->directory);
	bool log = patchlog_open(&symbols->log, symbols->directory);

	return map || dump || log;
}

static void open_agents(struct symbols *symbols, unsigned outputs)
{
	if (outputs & SYMBOLS_OPROFILE)
		symbols->agents[0] = agent_open(AGENT_OPROFILE);
	if (outputs & SYMBOLS_VTUNE)
		symbols->agents[1] = agent_open(AGENT_VTUNE);
	symbols->outputs |= symbols->agents[0] ? SYMBOLS_OPROFILE : 0;
	symbols->outputs |= symbols->agents[1] ? SYMBOLS_VTUNE : 0;
}

static void load_agents(struct symbols *symbols, const struct code_info *code)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols->agents); i++)
		if (symbols->agents[i])
			symbols->agents[i]->load(symbols->agents[i], code);
}

static void unload_agents(struct symbols *symbols, const struct code_info *code)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols->agents); i++)
		if (symbols->agents[i])
			symbols->agents[i]->unload(symbols->agents[i], code);
}

static void fork_agents(struct symbols *symbols)
{
	for (size_t i = 0; i < ARRAY_SIZE(symbols->agents); i++)
		if (symbols->agents[i])
			symbols->agents[i]->forked(symbols->agents[i]);
	for (size_t i = 0; i < symbols->table.count; i++)
		load_agents(symbols, symbols->table.codes[i]);
}

static void release(struct symbols *symbols)
{
	code_table_release(&symbols->table);
	code_table_release(&symbols->freed);
	free(symbols->directory);
	free(symbols->current);
	free(symbols);
}

struct symbols *symbols_open(unsigned outputs, const char *directory)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	char *current = getcwd(NULL, 0);

	if (symbols) {
		symbols->map.fd = symbols->dump.file.fd = symbols->log.file.fd = -1;
		symbols->current = current ? current : strdup(".");
		symbols->directory =
			symbols->current ? absolute(symbols->current, directory) : NULL;
	} else {
		free(current);
	}
	if (!symbols || !symbols->directory) {
		warn("out of memory: no symbols for compiled code");
		if (symbols)
			release(symbols);
		return NULL;
	}
	if (outputs & SYMBOLS_PERF && open_files(symbols))
		symbols->outputs |= SYMBOLS_PERF;
	if (outputs & SYMBOLS_GDB) {
		symbols->gdb = gdbjit_new(symbols->current);
		symbols->outputs |= symbols->gdb ? SYMBOLS_GDB : 0;
	}
	open_agents(symbols, outputs);
	if (symbols->outputs)
		return symbols;
	release(symbols);
	return NULL;
}

/* Live and freed code in one ascending array, owned. NULL: no memory. */
static struct code_info **all_code(const struct symbols *symbols)
{
	const struct code_table *live = &symbols->table, *freed = &symbols->freed;
	struct code_info **all = calloc(live->count + freed->count + 1, sizeof(*all));
	size_t i = 0, k = 0;

	while (all && i + k < live->count + freed->count) {
		bool first = k == freed->count ||
			     (i < live->count &&
				     live->codes[i]->address < freed->codes[k]->address);
		struct code_info *code = first ? live->codes[i] : freed->codes[k];

		all[i + k] = code;
		i += first;
		k += !first;
	}
	return all;
}

/* code.elf: written beside its place and renamed, so that it is whole or not there. */
static void write_elf(struct symbols *symbols)
{
	struct code_elf elf = {0};
	struct buffer image = {0};
	struct outfile file;
	char name[64], hidden[64];
	cleanup_free char *path = NULL;
	struct code_info **all = all_code(symbols);

	snprintf(name, sizeof(name), "jit-%d.elf", (int)getpid());
	snprintf(hidden, sizeof(hidden), ".jit-%d.elf.tmp", (int)getpid());
	if (!all ||
		!code_elf_build(&elf, &image, all,
			symbols->table.count + symbols->freed.count, symbols->current,
			true) ||
		asprintf(&path, "%s/%s", symbols->directory, name) < 0) {
		path = NULL;
		warn_memory(symbols);
	} else if (outfile_open(&file, symbols->directory, hidden)) {
		struct iovec piece = {image.bytes, image.size};
		cleanup_free char *temporary = strdup(file.path);

		if (!outfile_write(&file, &piece, 1)) {
			if (temporary)
				unlink(temporary);
		} else {
			if (rename(file.path, path) != 0)
				warn("cannot create '%s': %s", path, strerror(errno));
			outfile_close(&file);
		}
	}
	free(all);
	buffer_release(&image);
	code_elf_release(&elf);
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	if (symbols->outputs & SYMBOLS_PERF) {
		write_elf(symbols);
		outfile_close(&symbols->map);
		jitdump_close(&symbols->dump);
		patchlog_close(&symbols->log);
	}
	gdbjit_free(symbols->gdb);
	for (size_t i = 0; i < ARRAY_SIZE(symbols->agents); i++)
		if (symbols->agents[i])
			symbols->agents[i]->close(symbols->agents[i]);
	release(symbols);
}

void symbols_forked(struct symbols *symbols)
{
	if (!symbols)
		return;
	fork_agents(symbols);
	/* The parent writes this buffer out; here it would be twice. */
	if (!(symbols->outputs & SYMBOLS_PERF))
		return;
	buffer_clear(&symbols->log.lines);
	outfile_close(&symbols->map);
	jitdump_abandon(&symbols->dump);
	patchlog_close(&symbols->log);
	if (!open_files(symbols)) {
		symbols->outputs &= ~(unsigned)SYMBOLS_PERF;
		return;
	}
	for (size_t i = 0; i < symbols->table.count; i++) {
		const struct code_info *code = symbols->table.codes[i];

		perfmap_add(&symbols->map, code);
		jitdump_load(&symbols->dump, code, NULL, 0);
	}
}

void symbols_load(struct symbols *symbols, const struct symbols_code *code)
{
	struct code_info *info;

	if (!symbols) {
		gdbjit_announce();
		return;
	}
	info = code_info_new(code, symbols->next_index);
	if (!info) {
		warn_memory(symbols);
		return;
	}
	symbols->next_index++;
	code_table_drop(&symbols->freed, info->address, info->size);
	if (!code_table_add(&symbols->table, info)) {
		warn_memory(symbols);
		return;
	}
	if (symbols->outputs & SYMBOLS_PERF) {
		patchlog_flush(&symbols->log);
		perfmap_add(&symbols->map, info);
		jitdump_load(&symbols->dump, info, code->lines, code->line_count);
	}
	load_agents(symbols, info);
	if (symbols->gdb)
		gdbjit_update(symbols->gdb, &symbols->table, info->address);
	else
		gdbjit_announce();
}

/* Keeps a copy of code that is about to be freed. */
static void keep(struct symbols *symbols, struct code_info *code)
{
	code->saved = malloc(code->size);
	if (!code->saved) {
		code_info_free(code);
		return;
	}
	memcpy(code->saved, (const void *)code->address, code->size);
	code_table_add(&symbols->freed, code);
}

void symbols_unload(struct symbols *symbols, const void *address)
{
	struct code_info *code;

	if (!symbols)
		return;
	code = code_table_take(&symbols->table, (uintptr_t)address);
	if (!code)
		return;
	unload_agents(symbols, code);
	if (symbols->outputs & SYMBOLS_PERF) {
		patchlog_unload(&symbols->log, address, code->size);
		keep(symbols, code);
	} else {
		code_info_free(code);
	}
	if (symbols->gdb)
		gdbjit_update(symbols->gdb, &symbols->table, (uintptr_t)address);
}

void symbols_patch(struct symbols *symbols, const void *address, const void *bytes,
	size_t size, const char *why)
{
	if (symbols && symbols->outputs & SYMBOLS_PERF)
		patchlog_patch(&symbols->log, address, bytes, size, why);
}

void symbols_object(
	struct symbols *symbols, const void *object, const char *type, const char *repr)
{
	if (symbols && symbols->outputs & SYMBOLS_PERF)
		patchlog_object(&symbols->log, object, type, repr);
}
