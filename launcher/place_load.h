/* Loading a program into this very process, without execve: what is left where ptrace is
 * refused as well. The kernel goes on taking the process for the launcher in some ways;
 * place_load_cost says in which. */
#ifndef LAUNCHER_PLACE_LOAD_H
#define LAUNCHER_PLACE_LOAD_H

/* What a program that was loaded can notice, in words. */
extern const char place_load_cost[];

/* Replaces this process's program by the ELF file at `path` (and its interpreter) at the
 * places that --place=move gives. To be called in place of execve, single-threaded.
 * Returns only on failure, with nothing changed: why, in words (static). */
const char *place_load(const char *path, char *const *argv, char *const *envp);

#endif
