/* disassemble FILE SECTION att|intel: a section's instructions as annotate shows them, one a line:
 * address, size, text. For comparison with objdump. */
#include "annotate/disasm.h"
#include "annotate/elffile.h"
#include "launcher/base.h"

#include <stdio.h>
#include <string.h>

const char program_name[] = "disassemble";

int main(int argc, char **argv)
{
	static struct disasm_instruction instruction;
	struct fault fault;
	uint64_t address = 0;
	size_t size = 0;

	if (argc != 4)
		die(2, "usage: disassemble FILE SECTION att|intel");
	struct elffile *file = elffile_open(argv[1], &fault);
	if (!file)
		die(2, "cannot open '%s': %s", argv[1], fault.text);
	const uint8_t *bytes = elffile_section(file, argv[2], &size, &address);
	if (!bytes)
		die(2, "'%s' has no section '%s'", argv[1], argv[2]);
	struct disasm *disasm =
		disasm_new(elffile_machine(file), strcmp(argv[3], "att") == 0);
	for (size_t at = 0; at < size; at += instruction.size) {
		disasm_decode(disasm, bytes + at, size - at, address + at, &instruction);
		printf("%llx %u %s\n", (unsigned long long)(address + at),
			instruction.size, instruction.text);
	}
	disasm_free(disasm);
	elffile_close(file);
	return 0;
}
