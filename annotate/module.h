/* Native code: an ELF file, the vdso or the kernel, with its symbols, found on this
 * machine or under --symfs even where the recorded file was moved, stripped or replaced.
 */
#ifndef ANNOTATE_MODULE_H
#define ANNOTATE_MODULE_H

#include "annotate/elffile.h"
#include "annotate/symbols.h"

struct module {
	char *path;	  /* as recorded */
	const char *name; /* the last part of it */
	uint8_t build_id[ELFFILE_BUILD_ID_ROOM];
	unsigned build_id_size; /* 0: not known */
	bool kernel;
	bool sought, loaded;
	struct elffile *file;  /* its bytes; NULL: not found */
	struct elffile *debug; /* separate debug information; NULL: none */
	struct symbols symbols;
	char *found;	   /* path of `file` on this machine */
	char *found_debug; /* path of `debug` */
	char *trouble;	   /* why there are no symbols, or NULL */
	uint64_t samples;
};

struct modules {
	const char *symfs; /* files of the recorded machine are under it; NULL: here */
	struct module **list;
	size_t count;
};

/* The module of a mapped file, made on first use. The build-id may be unknown (size 0).
 */
struct module *modules_get(struct modules *modules, const char *path, const uint8_t *id,
	unsigned id_size, bool kernel);

/* Finds the file alone, if it is there. */
void module_find(struct modules *modules, struct module *module);

/* Finds and reads the file and its symbols, once. `release` is the recorded kernel's, or
 * NULL. Afterwards `file` and `symbols` are as good as they get. */
void module_load(struct modules *modules, struct module *module, const char *release);

void modules_release(struct modules *modules);

#endif
