/* xz: the only file that knows liblzma. */
#include "annotate/xz.h"
#include "launcher/base.h"

#include <lzma.h>
#include <stdlib.h>

static const uint64_t MEMORY_LIMIT = 256 << 20;
static const size_t SIZE_LIMIT = 1 << 30;

uint8_t *xz_unpack(const uint8_t *data, size_t size, size_t *unpacked)
{
	uint64_t limit = MEMORY_LIMIT;

	for (size_t room = size * 4 + 4096; room < SIZE_LIMIT; room *= 2) {
		uint8_t *out = xmalloc(room);
		size_t in_at = 0, out_at = 0;
		lzma_ret result = lzma_stream_buffer_decode(
			&limit, 0, NULL, data, &in_at, size, out, &out_at, room);

		if (result == LZMA_OK) {
			*unpacked = out_at;
			return out;
		}
		free(out);
		if (result != LZMA_BUF_ERROR)
			return NULL;
	}
	return NULL;
}
