/* Unpacking of .xz data held in memory. */
#ifndef ANNOTATE_XZ_H
#define ANNOTATE_XZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns owned what `data` unpacks to, or NULL where it is damaged. */
uint8_t *xz_unpack(const uint8_t *data, size_t size, size_t *unpacked);

#endif
