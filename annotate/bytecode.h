/* Names of CPython 3.11's bytecodes. */
#ifndef ANNOTATE_BYTECODE_H
#define ANNOTATE_BYTECODE_H

#include <stdint.h>

/* build/jit's jitdump keeps in the discriminator of a line entry which code unit of
 * co_code it came from, and that unit's opcode. */
unsigned bytecode_index(uint32_t discriminator);
unsigned bytecode_opcode(uint32_t discriminator);

/* The name of opcode number `opcode`, or NULL where it has none. */
const char *bytecode_name(unsigned opcode);

#endif
