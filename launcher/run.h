/* A RUN: the directory that keeps one run of a command, complete by itself.
 *
 * Files: run.json, maps.start, maps.exit, code.elf, jit-PID.dump, perf-PID.map,
 * patches.log, perf.data; files of other processes of the run carry their pid
 * (code-PID.elf, …). Further runs of `stablerun perf -n N` are RUNs of their own in
 * RUN/2, RUN/3, …
 *
 * Writing goes to a hidden sibling that is renamed when it is complete, so that a RUN
 * under its own name is never a half. */
#ifndef LAUNCHER_RUN_H
#define LAUNCHER_RUN_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "launcher/strv.h"

/* The hidden sibling of the RUN called %.200s, up to the pid of its maker. */
#define RUN_TEMPORARY ".%.200s."

enum {
	RUN_SCHEMA = 1,
	RUN_MESSAGE = 512,
};

struct run_pair {
	char *name;
	char *value;
};

struct run_pairs {
	struct run_pair *items;
	size_t count;
};

/* What was fixed for the run, to what, and who asked for it. */
struct run_pin {
	char *name;
	char *value;
	char *source;
};

struct run_limit {
	char *name;
	uint64_t soft; /* UINT64_MAX: unlimited */
	uint64_t hard;
};

/* Nanoseconds since 1970 and of CLOCK_MONOTONIC, which perf and jitdump stamp with. */
struct run_clock {
	uint64_t realtime;
	uint64_t monotonic;
};

/* A range whose bytes are kept in code.elf, or another process' file. */
struct run_code {
	pid_t pid;
	uint64_t address;
	uint64_t size;
	char *fate;    /* "live at exit", "unmapped", … */
	uint64_t time; /* CLOCK_MONOTONIC, ns, when the bytes were copied */
};

enum run_end {
	RUN_END_UNKNOWN, /* `end_unknown` says why */
	RUN_END_EXITED,	 /* `status` */
	RUN_END_KILLED,	 /* `signal`, `core` */
};

/* All that run.json says. Every pointer is owned and may be NULL for "not known". */
struct run_info {
	char *stablerun; /* version of the writer */
	struct strv argv;
	char *exec; /* absolute path of the program executed */
	struct strv env;
	char *cwd;
	pid_t pid;
	pid_t *pids; /* every process of the run that is known, `pid` among them */
	size_t pid_count;
	enum run_end end;
	int status;
	int signal;
	bool core;
	char *end_unknown;
	struct run_pin *pins;
	size_t pin_count;
	/* Those pins that a run of the same needs as numbers. */
	bool seeded;
	uint64_t seed;
	unsigned clock_ms; /* 0: the clock was the kernel's */
	bool on_one_cpu;
	unsigned one_cpu;
	struct run_limit *limits;
	size_t limit_count;
	unsigned long personality;
	char *place; /* "personality", "move", "off", … */
	char *rule;  /* name of the runtime rule, or NULL */
	struct run_pairs auxv;
	struct run_pairs
		marks; /* start_stack, start_brk, arg_start, … of proc_pid_stat(5) */
	char *kernel;
	char *cpu_model;
	char *cpu_features;
	uint64_t ld_so_cache_size;
	struct run_pairs build_ids; /* path, hex */
	struct run_clock start;
	struct run_clock finish;
	uint64_t lost_samples;
	struct run_code *code; /* what code.elf holds, by process and address */
	size_t code_count;
	struct strv
		lost_code; /* a sentence for each piece of code that could not be kept */
	struct strv notes; /* anything else that a reader has to know */
	char *event;	   /* what was sampled, in perf's words; NULL: nothing */
	unsigned long frequency; /* samples a second asked for */
	char *no_samples; /* why there is no perf.data, where samples were wanted */
	char *maps_start; /* how and when maps.start and maps.exit were read */
	char *maps_exit;
	unsigned runs;
};

void run_info_release(struct run_info *info);

/* Adds copies. The value of a name that is there already is replaced (pairs). */
void run_pairs_set(struct run_pairs *pairs, const char *name, const char *value);
const char *run_pairs_get(const struct run_pairs *pairs, const char *name);
void run_limit_add(struct run_info *info, const char *name, uint64_t soft, uint64_t hard);
void run_pid_add(struct run_info *info, pid_t pid); /* once, however often it is called */
struct run_code *run_code_add(struct run_info *info, pid_t pid, uint64_t address,
	uint64_t size, const char *fate, uint64_t time); /* valid until the next */
void run_pin_add(
	struct run_info *info, const char *name, const char *value, const char *source);

/* ---- reading (run_read.c) ---- */

struct run {
	int directory; /* of the RUN, O_PATH-like; closed by run_close() */
	char *path;    /* as given, for messages */
	struct run_info info;
};

/* Opens the RUN at `path`. Returns 0, or -1 with one line in `message` that names the
 * file, the place and the cause; then nothing is to be closed. */
int run_open(struct run *run, const char *path, char message[RUN_MESSAGE]);
void run_close(struct run *run);

/* A helper completes a RUN after its program has ended, and `stablerun -o R -- x; stablerun
 * show R` is to see it: waits (run_wait.c) for a helper that is about to make `path`. */
void run_wait(const char *path);

/* run.json's text in memory, as run_open() reads it. `name` stands in messages. */
int run_info_parse(struct run_info *info, const char *text, size_t size, const char *name,
	char message[RUN_MESSAGE]);

/* Reads a whole file of at most `limit` bytes. Returns owned memory with a NUL after its
 * `size` bytes, or NULL with errno (EFBIG where the file is longer). */
char *run_read_file(int directory, const char *name, size_t limit, size_t *size);

/* The last line of such a file that says something; owned, or NULL where none does. */
char *run_last_line(int directory, const char *name, size_t limit,
	bool (*says_nothing)(const char *line));

/* Lists a directory from its first entry on, and leaves the descriptor to the caller. To
 * be closed by closedir(); NULL with errno. */
DIR *run_entries(int directory);

/* ---- writing (run.c) ---- */

struct run_writer {
	int directory;	      /* the sibling being filled */
	int parent;	      /* where it and the RUN stand */
	int room;	      /* see run_reserve(); -1 */
	char *name;	      /* of the RUN in `parent`; all four are owned */
	char *temporary;      /* of the sibling */
	char *path;	      /* absolute, of the RUN */
	char *temporary_path; /* absolute, of the sibling */
	bool automatic; /* NAME.run was chosen by us: an earlier one becomes NAME.run.old
			 */
	bool stale;	/* what `temporary` names is to be removed */
	bool replace;	/* -f: an earlier RUN of this name is replaced */
};

/* Creates the directory that a RUN named `path` is collected in; NULL: NAME.run in the
 * current directory, NAME being the base name of `command`. An explicit `path` that
 * exists is refused unless `force`. Returns 0 or -1 with `message`. */
int run_begin(struct run_writer *writer, const char *path, const char *command,
	bool force, char message[RUN_MESSAGE]);

/* Keeps room for run.json free, so that a disk which the run fills still has it. */
void run_reserve(struct run_writer *writer);
/* Gives it up, to be used. False where there is none any more. */
bool run_use_reserve(struct run_writer *writer);

/* Writes run.json and gives the RUN its name. Where that fails what could be kept stays
 * where `message` says. Returns 0 or -1. run_release() is to follow. */
int run_finish(struct run_writer *writer, const struct run_info *info,
	char message[RUN_MESSAGE]);

/* Removes what the RUN has replaced, and closes and frees all. */
void run_release(struct run_writer *writer);

/* Removes what was collected and releases the writer. */
void run_abandon(struct run_writer *writer);

/* Returns the text of run.json (run_json.c), owned, or NULL when memory ran out. */
char *run_info_format(const struct run_info *info);

/* Writes one file of a RUN: 0, or -1 with errno and no half of the file left. */
int run_write_file(int directory, const char *name, const void *bytes, size_t size);

/* Removes a directory with all that is in it; follows no symbolic links. 0 or -1 with
 * errno. */
int run_remove_tree(int parent, const char *name);

/* Copies /proc/PID/maps into the RUN as `name`, of a process that has not ended. */
int run_save_maps(int directory, const char *name, pid_t pid);

/* ---- facts (run_facts.c) ---- */

/* What the machine is: kernel, cpu, size of ld.so.cache. */
void run_note_machine(struct run_info *info);
/* The limits of the calling process. */
void run_note_limits(struct run_info *info);
/* /proc/PID/auxv, /proc/PID/personality and the marks of /proc/PID/stat; 0 or -1 with errno. */
int run_note_process(struct run_info *info, pid_t pid);
/* The build-id of each file that `maps`, the text of /proc/PID/maps, names, where it has
 * one; and the same of a file of the RUN. */
void run_note_build_ids(struct run_info *info, const char *maps);
void run_note_build_ids_at(struct run_info *info, int directory, const char *name);
struct run_clock run_clock_now(void);
/* From waitpid()'s status. */
void run_note_end(struct run_info *info, int wait_status);

/* ---- collecting (collect.c) ---- */

/* Moves what the processes info->pids wrote about their code (perf maps in /tmp, jitdumps
 * and the jit's files in `working`) into the RUN. What cannot be moved is noted in
 * info->lost_code and left where it is. `directory` is the RUN's;
 * `patterns` are further names, with %p for the pid (NULL: none). */
void run_collect(int directory, struct run_info *info, const char *working,
	const struct strv *patterns);

#endif
