/* Rewriting a hole in live code. */
#include "jit/patchpoint.h"

#include "jit/codemem.h"
#include "jit/stencil.h"
#include "jit/symbols.h"

#include <errno.h>
#include <string.h>

/* The bytes that stand for a value; the number of them, or 0 where it does not fit. */
static size_t encode(const struct patchpoint *point, uint64_t value, uint8_t bytes[8])
{
	value += (uint64_t)(int64_t)point->addend;
	if (point->store == STENCIL_REL32)
		value -= (uintptr_t)point->address;
	memcpy(bytes, &value, 8);
	if (point->store == STENCIL_U64)
		return 8;
	if (point->store == STENCIL_U32)
		return value <= UINT32_MAX ? 4 : 0;
	return (int64_t)value == (int32_t)value ? 4 : 0;
}

int patchpoint_set(const struct patchpoint *point, uint64_t value, struct codemem *memory,
	struct symbols *symbols, const char *why)
{
	uint8_t bytes[8], old[8];
	size_t size = encode(point, value, bytes);

	if (size == 0) {
		errno = ERANGE;
		return -1;
	}
	memcpy(old, point->address, size);
	symbols_patch(symbols, point->address, bytes, size, why);
	if (codemem_write(memory, point->address, bytes, size) == 0)
		return 0;
	/* The log has it already: it must not say what did not happen. */
	symbols_patch(symbols, point->address, old, size, "not written");
	return -1;
}

uint64_t patchpoint_get(const struct patchpoint *point)
{
	uint64_t value = 0;

	memcpy(&value, point->address, point->store == STENCIL_U64 ? 8 : 4);
	if (point->store != STENCIL_U64 && point->store != STENCIL_U32)
		value = (uint64_t)(int64_t)(int32_t)value;
	if (point->store == STENCIL_REL32)
		value += (uintptr_t)point->address;
	return value - (uint64_t)(int64_t)point->addend;
}
