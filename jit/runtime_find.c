/* Which function does an instruction. */
#include "jit/runtime_stack.h"

runtime_op *runtime_find(uint8_t opcode)
{
	static runtime_op *const functions[256] = {
#define FUNCTION_(number, name) [number] = name,
		RUNTIME_EACH(FUNCTION_)
#undef FUNCTION_
	};

	return functions[opcode];
}
