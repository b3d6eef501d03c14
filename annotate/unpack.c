/* zstd: the only file that knows libzstd. */
#include "annotate/unpack.h"
#include "launcher/base.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

struct unpack {
	ZSTD_DStream *stream;
	uint8_t *data;
	size_t used, room;
};

enum {
	FIRST_ROOM = 1 << 20,
	LEAST_FREE = 1 << 17,
};

struct unpack *unpack_new(void)
{
	struct unpack *unpack = xcalloc(1, sizeof(*unpack));

	unpack->stream = ZSTD_createDStream();
	if (!unpack->stream)
		die(125, "out of memory");
	unpack->room = FIRST_ROOM;
	unpack->data = xmalloc(unpack->room);
	return unpack;
}

int unpack_add(struct unpack *unpack, const uint8_t *data, size_t size)
{
	ZSTD_inBuffer in = {data, size, 0};
	bool full = true;

	while (in.pos < in.size || full) {
		if (unpack->room - unpack->used < LEAST_FREE) {
			unpack->room *= 2;
			unpack->data = xrealloc(unpack->data, unpack->room);
		}
		ZSTD_outBuffer out = {unpack->data, unpack->room, unpack->used};
		size_t result = ZSTD_decompressStream(unpack->stream, &out, &in);
		unpack->used = out.pos;
		if (ZSTD_isError(result))
			return -1;
		full = out.pos == out.size;
	}
	return 0;
}

uint8_t *unpack_free(struct unpack *unpack, size_t *size)
{
	uint8_t *data = unpack->data;

	*size = unpack->used;
	ZSTD_freeDStream(unpack->stream);
	free(unpack);
	return data;
}
