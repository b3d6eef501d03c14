/* What an address in code means: "name", "name+0x10", for call targets and constants. */
#ifndef ANNOTATE_NAMING_H
#define ANNOTATE_NAMING_H

#include "annotate/profile.h"

/* Writes what `address` means in the process of `function` at its end, into `text` of
 * `room` bytes. False where nothing is known. `code_only`: names of data do not count. */
bool naming_address(const struct function *function, uint64_t address, bool code_only,
	char *text, size_t room);

/* The same for a GOT slot, whose content is meant: the symbol that is put there. */
bool naming_slot(
	const struct function *function, uint64_t address, char *text, size_t room);

#endif
