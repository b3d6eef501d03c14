/* Unpacking of zstd streams, as `perf record -z` writes them. */
#ifndef ANNOTATE_UNPACK_H
#define ANNOTATE_UNPACK_H

#include <stddef.h>
#include <stdint.h>

struct unpack;

struct unpack *unpack_new(void);

/* Feeds the next piece of the stream. 0, or -1 where it is damaged. */
int unpack_add(struct unpack *unpack, const uint8_t *data, size_t size);

/* Ends; returns owned what was unpacked, also after damage. */
uint8_t *unpack_free(struct unpack *unpack, size_t *size);

#endif
