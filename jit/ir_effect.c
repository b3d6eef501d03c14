/* What an instruction does to the stack and to the flow of control (Python/ceval.c). */
#include "jit/ir.h"
#include "jit/opcodes.h"

static int bits_of(uint32_t mask)
{
	return __builtin_popcount(mask);
}

/* Instructions whose effect does not depend on the operand. */
static const int8_t fixed_effects[256] = {
	[POP_TOP] = -1,
	[PUSH_NULL] = 1,
	[BINARY_SUBSCR] = -1,
	[GET_LEN] = 1,
	[MATCH_MAPPING] = 1,
	[MATCH_SEQUENCE] = 1,
	[MATCH_KEYS] = 1,
	[MATCH_CLASS] = -2,
	[PUSH_EXC_INFO] = 1,
	[WITH_EXCEPT_START] = 1,
	[GET_ANEXT] = 1,
	[BEFORE_ASYNC_WITH] = 1,
	[BEFORE_WITH] = 1,
	[END_ASYNC_FOR] = -2,
	[STORE_SUBSCR] = -3,
	[DELETE_SUBSCR] = -2,
	[PRINT_EXPR] = -1,
	[LOAD_BUILD_CLASS] = 1,
	[LOAD_ASSERTION_ERROR] = 1,
	[RETURN_GENERATOR] = 1,
	[RETURN_VALUE] = -1,
	[IMPORT_STAR] = -1,
	[PREP_RERAISE_STAR] = -1,
	[POP_EXCEPT] = -1,
	[STORE_NAME] = -1,
	[STORE_ATTR] = -2,
	[DELETE_ATTR] = -1,
	[STORE_GLOBAL] = -1,
	[LOAD_CONST] = 1,
	[LOAD_NAME] = 1,
	[COMPARE_OP] = -1,
	[IMPORT_NAME] = -1,
	[IMPORT_FROM] = 1,
	[POP_JUMP_FORWARD_IF_FALSE] = -1,
	[POP_JUMP_FORWARD_IF_TRUE] = -1,
	[POP_JUMP_FORWARD_IF_NOT_NONE] = -1,
	[POP_JUMP_FORWARD_IF_NONE] = -1,
	[POP_JUMP_BACKWARD_IF_NOT_NONE] = -1,
	[POP_JUMP_BACKWARD_IF_NONE] = -1,
	[POP_JUMP_BACKWARD_IF_FALSE] = -1,
	[POP_JUMP_BACKWARD_IF_TRUE] = -1,
	[IS_OP] = -1,
	[CONTAINS_OP] = -1,
	[RERAISE] = -1,
	[COPY] = 1,
	[BINARY_OP] = -1,
	[LOAD_FAST] = 1,
	[STORE_FAST] = -1,
	[LOAD_CLOSURE] = 1,
	[LOAD_DEREF] = 1,
	[STORE_DEREF] = -1,
	[LIST_APPEND] = -1,
	[SET_ADD] = -1,
	[MAP_ADD] = -2,
	[LOAD_CLASSDEREF] = 1,
	[LOAD_METHOD] = 1,
	[LIST_EXTEND] = -1,
	[SET_UPDATE] = -1,
	[DICT_MERGE] = -1,
	[DICT_UPDATE] = -1,
};

int ir_stack_effect(uint8_t opcode, uint32_t oparg, bool jumps)
{
	int count = (int)oparg;

	switch (opcode) {
	case FOR_ITER: return jumps ? -1 : 1;
	case SEND: return jumps ? -1 : 0;
	case JUMP_IF_FALSE_OR_POP:
	case JUMP_IF_TRUE_OR_POP: return jumps ? 0 : -1;
	case LOAD_GLOBAL: return 1 + (oparg & 1);
	case CALL: return -(count + 1);
	case CALL_FUNCTION_EX: return -2 - (int)(oparg & 1);
	case MAKE_FUNCTION: return -bits_of(oparg & 15);
	case BUILD_SLICE: return 1 - count;
	case BUILD_TUPLE:
	case BUILD_LIST:
	case BUILD_SET:
	case BUILD_STRING: return 1 - count;
	case BUILD_MAP: return 1 - 2 * count;
	case BUILD_CONST_KEY_MAP: return -count;
	case FORMAT_VALUE:
		return (oparg & 4) ? -1 : 0; /* 4: with a format specification */
	case UNPACK_SEQUENCE: return count - 1;
	case UNPACK_EX: return (count & 0xff) + (count >> 8);
	case RAISE_VARARGS: return -count;
	default: return fixed_effects[opcode];
	}
}

bool ir_ends(uint8_t opcode)
{
	switch (opcode) {
	case RETURN_VALUE:
	case RAISE_VARARGS:
	case RERAISE:
	case JUMP_FORWARD:
	case JUMP_BACKWARD:
	case JUMP_BACKWARD_NO_INTERRUPT: return true;
	default: return false;
	}
}

int ir_jump_target(uint8_t opcode, uint32_t oparg, uint32_t next)
{
	switch (opcode) {
	case FOR_ITER:
	case SEND:
	case JUMP_FORWARD:
	case JUMP_IF_FALSE_OR_POP:
	case JUMP_IF_TRUE_OR_POP:
	case POP_JUMP_FORWARD_IF_FALSE:
	case POP_JUMP_FORWARD_IF_TRUE:
	case POP_JUMP_FORWARD_IF_NOT_NONE:
	case POP_JUMP_FORWARD_IF_NONE: return (int)(next + oparg);
	case JUMP_BACKWARD:
	case JUMP_BACKWARD_NO_INTERRUPT:
	case POP_JUMP_BACKWARD_IF_NOT_NONE:
	case POP_JUMP_BACKWARD_IF_NONE:
	case POP_JUMP_BACKWARD_IF_FALSE:
	case POP_JUMP_BACKWARD_IF_TRUE: return (int)next - (int)oparg;
	default: return IR_NONE;
	}
}

bool ir_code_has_loop(PyCodeObject *code)
{
	const _Py_CODEUNIT *units = _PyCode_CODE(code);
	Py_ssize_t count = Py_SIZE(code);

	for (Py_ssize_t i = 0; i < count; i++) {
		uint8_t opcode = _PyOpcode_Deopt[_Py_OPCODE(units[i])];

		if (opcode == JUMP_BACKWARD ||
			(opcode >= POP_JUMP_BACKWARD_IF_NOT_NONE &&
				opcode <= POP_JUMP_BACKWARD_IF_TRUE))
			return true;
		i += _PyOpcode_Caches[opcode];
	}
	return false;
}

const char *ir_opcode_name(uint8_t opcode)
{
	static const char *const names[256] = {
#define NAME_(name) [name] = #name,
		OPCODES_EACH(NAME_)
#undef NAME_
	};

	return names[opcode] ? names[opcode] : "?";
}
