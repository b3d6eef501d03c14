/* What the fuzz targets share: the input as a file, and a silent program. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Path of a file with this content; the same file is used again by the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
