/* Finding files of the recorded machine. A file counts as the recorded one when its
 * build-id is the recorded one, or when none was recorded. */
#include "annotate/module.h"
#include "annotate/kallsyms.h"
#include "launcher/base.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

struct module *modules_get(struct modules *modules, const char *path, const uint8_t *id,
	unsigned id_size, bool kernel)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = modules->list[i];
		if (module->kernel == kernel && strcmp(module->path, path) == 0 &&
			module->build_id_size == id_size &&
			(!id_size || memcmp(module->build_id, id, id_size) == 0))
			return module;
	}
	struct module *module = xcalloc(1, sizeof(*module));

	module->path = xstrdup(path);
	module->name = strrchr(module->path, '/');
	module->name = module->name && module->name[1] ? module->name + 1 : module->path;
	module->kernel = kernel;
	if (id_size > ELFFILE_BUILD_ID_ROOM)
		id_size = ELFFILE_BUILD_ID_ROOM;
	if (id_size)
		memcpy(module->build_id, id, id_size);
	module->build_id_size = id_size;
	modules->list =
		xreallocarray(modules->list, modules->count + 1, sizeof(*modules->list));
	return modules->list[modules->count++] = module;
}

static bool is_recorded(const struct module *module, struct elffile *file)
{
	uint8_t id[ELFFILE_BUILD_ID_ROOM] = {0};
	unsigned size = elffile_build_id(file, id);

	/* perf pads short ids to 20 bytes with zeros. */
	return !module->build_id_size ||
	       (size && memcmp(id, module->build_id, size) == 0);
}

/* Opens `path` when it is the recorded file; takes `path`, which is kept in `*found`. */
static struct elffile *try(
	const struct module *module, char *path, char **found, bool *replaced)
{
	struct fault fault;
	struct elffile *file = elffile_open(path, &fault);

	if (file && !is_recorded(module, file)) {
		*replaced = true;
		elffile_close(file);
		file = NULL;
	}
	if (file)
		*found = path;
	else
		free(path);
	return file;
}

static void to_hex(char *text, const uint8_t *bytes, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		snprintf(text + (size_t)i * 2, 3, "%02x", bytes[i]);
}

/* perf keeps what it recorded under ~/.debug. */
static struct elffile *try_cache(
	const struct module *module, const char *hex, char **found, bool *replaced)
{
	static const char *const names[] = {"elf", "vdso", "debug"};
	const char *home = getenv("HOME");
	struct elffile *file = NULL;

	for (size_t i = 0; home && !file && i < ARRAY_SIZE(names); i++)
		file = try(module,
			xasprintf("%s/.debug/.build-id/%.2s/%s/%s", home, hex, hex + 2,
				names[i]),
			found, replaced);
	return file;
}

static void find_file(struct modules *modules, struct module *module)
{
	const char *root = modules->symfs ? modules->symfs : "";
	char hex[2 * ELFFILE_BUILD_ID_ROOM + 1] = "";
	bool replaced = false;
	size_t length = strlen(module->path);
	static const char gone[] = " (deleted)";

	if (length > sizeof(gone) &&
		strcmp(module->path + length - sizeof(gone) + 1, gone) == 0)
		length -= sizeof(gone) - 1;
	if (module->path[0] == '/')
		module->file =
			try(module, xasprintf("%s%.*s", root, (int)length, module->path),
				&module->found, &replaced);
	/* --symfs may also hold the files side by side. */
	if (!module->file && modules->symfs)
		module->file = try(module,
			xasprintf("%s/%.*s", root,
				(int)(length - (size_t)(module->name - module->path)),
				module->name),
			&module->found, &replaced);
	to_hex(hex, module->build_id, module->build_id_size);
	if (!module->file && module->build_id_size)
		module->file = try_cache(module, hex, &module->found, &replaced);
	if (!module->file)
		module->trouble = xstrdup(
			replaced ? "the file was replaced since (its build-id differs)"
				 : "the file is not there");
}

static void find_debug(struct modules *modules, struct module *module)
{
	const char *root = modules->symfs ? modules->symfs : "";
	char hex[2 * ELFFILE_BUILD_ID_ROOM + 1] = "";
	uint8_t id[ELFFILE_BUILD_ID_ROOM];
	unsigned size = module->file ? elffile_build_id(module->file, id) : 0;
	bool ignored;

	if (!size) {
		size = module->build_id_size;
		memcpy(id, module->build_id, size);
	}
	to_hex(hex, id, size);
	if (size > 1)
		module->debug = try(module,
			xasprintf("%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, hex,
				hex + 2),
			&module->found_debug, &ignored);
	const char *link = module->file ? elffile_debug_link(module->file) : NULL;
	char *slash = module->found ? strrchr(module->found, '/') : NULL;
	if (module->debug || !link || !slash || strchr(link, '/'))
		return;
	int length = (int)(slash - module->found);
	char *places[] = {xasprintf("%.*s/%s", length, module->found, link),
		xasprintf("%.*s/.debug/%s", length, module->found, link),
		xasprintf("/usr/lib/debug%.*s/%s", length, module->found, link)};
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (module->debug)
			free(places[i]);
		else
			module->debug =
				try(module, places[i], &module->found_debug, &ignored);
	}
}

/* This process has a vdso itself: the recorded one, as long as the kernel is the same. */
static void load_vdso(struct module *module)
{
	const Elf64_Ehdr *image = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	struct fault fault;

	/* The section headers are the last thing in the image. */
	if (image && image->e_ident[EI_CLASS] == ELFCLASS64)
		module->file = elffile_open_memory(image,
			image->e_shoff + (size_t)image->e_shentsize * image->e_shnum,
			&fault);
	if (module->file && !is_recorded(module, module->file)) {
		elffile_close(module->file);
		module->file = NULL;
	}
	if (!module->file)
		module->trouble = xstrdup("it is of another kernel");
}

static void load_kernel(
	struct modules *modules, struct module *module, const char *release)
{
	struct utsname here;

	if (!modules->symfs && release && uname(&here) == 0 &&
		strcmp(here.release, release) != 0) {
		module->trouble =
			xasprintf("this machine runs Linux %s, not the recorded %s",
				here.release, release);
		return;
	}
	cleanup_free char *path =
		xasprintf("%s/proc/kallsyms", modules->symfs ? modules->symfs : "");
	if (kallsyms_read(path, &module->symbols) < 0)
		module->trouble = xstrdup(
			"/proc/kallsyms hides the addresses (see kernel.kptr_restrict)");
	else
		symbols_index(&module->symbols);
}

/* Functions that only the unwind table knows are named by their place: "luajit+0x5a30". */
static void add_frames(struct module *module)
{
	size_t count = 0;
	uint64_t *starts = elffile_frames(module->file, &count);

	for (size_t i = 0; i < count; i++) {
		char *name = xasprintf(
			"%s+0x%llx", module->name, (unsigned long long)starts[i]);
		symbols_add(&module->symbols,
			(struct symbol){starts[i], 0, symbols_own(&module->symbols, name),
				SYMBOLS_LABEL, false, NULL});
	}
	free(starts);
}

void module_find(struct modules *modules, struct module *module)
{
	if (module->kernel || module->sought)
		return;
	module->sought = true;
	if (strcmp(module->path, "[vdso]") == 0)
		load_vdso(module);
	if (!module->file &&
		(module->build_id_size || strcmp(module->path, "[vdso]") != 0))
		find_file(modules, module);
}

void module_load(struct modules *modules, struct module *module, const char *release)
{
	if (module->loaded)
		return;
	module->loaded = true;
	if (module->kernel) {
		load_kernel(modules, module, release);
		return;
	}
	module_find(modules, module);
	bool full = module->file && elffile_symbols(module->file, &module->symbols);
	if (!full) {
		find_debug(modules, module);
		if (module->debug)
			full = elffile_symbols(module->debug, &module->symbols);
	}
	if (!full && module->file)
		add_frames(module);
	if (module->symbols.count && module->file) {
		free(module->trouble);
		module->trouble = NULL;
	} else if (module->file && !module->trouble) {
		module->trouble = xstrdup("the file has no symbols");
	}
	symbols_index(&module->symbols);
}

void modules_release(struct modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = modules->list[i];
		symbols_release(&module->symbols);
		elffile_close(module->file);
		elffile_close(module->debug);
		free(module->path);
		free(module->found);
		free(module->found_debug);
		free(module->trouble);
		free(module);
	}
	free(modules->list);
	*modules = (struct modules){0};
}
