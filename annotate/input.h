/* One recording with all that belongs to it: a RUN directory or a perf.data file, its
 * processes and their JIT code. */
#ifndef ANNOTATE_INPUT_H
#define ANNOTATE_INPUT_H

#include "annotate/code.h"
#include "annotate/machine.h"
#include "annotate/module.h"
#include "annotate/perfdata.h"
#include "annotate/warnings.h"

struct input_options {
	const char *symfs; /* files of the recorded machine are under it; NULL: here */
	const char *map;   /* a perf map, or a directory of them, to use; NULL: none */
};

/* A file's build-id as run.json tells it. */
struct input_build_id {
	char *path; /* owned */
	uint8_t id[ELFFILE_BUILD_ID_ROOM];
	unsigned size;
};

struct input {
	char *path;	 /* as the user named it */
	char *directory; /* of the RUN; NULL: a bare perf.data */
	char *data_path;
	struct input_build_id *build_ids; /* owned */
	size_t build_id_count;
	struct perfdata data;
	struct machine machine;
	struct modules *modules; /* borrowed; shared by all inputs */
	struct code_set **sets;
	size_t set_count;
	uint64_t first_sample, last_sample; /* ns */
	uint64_t lost;	  /* samples and records that never reached the file */
	char *cwd;	  /* of the recorded command; NULL: not known */
	char *program;	  /* its absolute path; NULL: not known */
	uint32_t run_pid; /* by run.json; 0: not known */
	unsigned side;	  /* 0 or 1, where two profiles are compared */
	unsigned index;	  /* among the inputs */
	uint64_t samples; /* counted by the profile */
};

/* Opens `path`: 0, or -1 with the fault worded. Close with input_close() once nothing
 * refers to names or bytes of it any more. */
int input_open(struct input *input, const char *path, const struct input_options *options,
	struct modules *modules, struct warnings *warnings, struct fault *fault);
void input_close(struct input *input);

/* The JIT code object at `address` in `process` (or inherited by it), or NULL. */
struct code_place *input_code(const struct process *process, uint64_t address,
	uint64_t time, struct spans_validity *validity, bool *late);

/* The module of a mapping, of which only the file was sought. */
struct module *input_file(struct input *input, struct mapping *mapping);

/* The module of a mapping, and the module's own address for a run-time one (0, or -1). */
struct module *input_module(struct input *input, struct mapping *mapping);
int input_module_address(
	struct input *input, struct mapping *mapping, uint64_t address, uint64_t *own);

/* The same for an address anywhere in the file's image, data included. Does not read
 * files that were not sampled. */
int input_data_address(
	struct input *input, struct mapping *mapping, uint64_t address, uint64_t *own);

#endif
