/* The numbers are those of Python's own header, the names those that build/jit compiles.
 */
#include "annotate/bytecode.h"
#include "jit/jitdump.h"
#include "jit/opcodes.h"

#include <opcode.h>
#include <stddef.h>

const char *bytecode_name(unsigned opcode)
{
#define ROW(name) [name] = #name,
	static const char *const names[256] = {OPCODES_EACH(ROW)};
#undef ROW

	return opcode < 256 ? names[opcode] : NULL;
}

unsigned bytecode_index(uint32_t discriminator)
{
	return JITDUMP_BYTECODE(discriminator);
}

unsigned bytecode_opcode(uint32_t discriminator)
{
	return JITDUMP_OPCODE(discriminator);
}
