/* code.elf: code at its true addresses, with its names, for every tool that opens ELF. */
#ifndef LAUNCHER_CODEELF_H
#define LAUNCHER_CODEELF_H

struct codekeep;
struct codesyms;

enum { CODEELF_MESSAGE = 256 };

/* Writes what was kept into `file`, an empty file open for writing. The symbols are
 * settled ones; those outside of all that was kept are left out. Returns 0, or -1 with a
 * message that says why. */
int codeelf_write(int file, const struct codekeep *keep, const struct codesyms *syms,
	char message[CODEELF_MESSAGE]);

#endif
