/* Call frame information of JIT code, in both its forms. Every code object keeps rbp as
 * its frame pointer from the prologue to the epilogue; what stencils do to rsp does not
 * matter. */
#ifndef JIT_FRAME_INFO_H
#define JIT_FRAME_INFO_H

#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Bytes that frame_info_eh() may write at most: they are mapped behind the code. */
enum { FRAME_INFO_EH_MAX = 120 };

/* For a jitdump: .eh_frame with one CIE and one FDE, and then .eh_frame_hdr, as perf lays
 * them out: at the next multiple of 8 behind the code. Returns the size of the latter. */
size_t frame_info_eh(struct buffer *out, const void *code, size_t size);

/* For ELF: the CIE of a .debug_frame, and an FDE for one code object. */
void frame_info_cie(struct buffer *out);
void frame_info_fde(struct buffer *out, uintptr_t address, const void *code, size_t size);

#endif
