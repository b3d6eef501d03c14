/* Call frame information: DWARF 4, section 6.4, and LSB's .eh_frame and .eh_frame_hdr. */
#include "jit/frame_info.h"

#include "jit/buffer.h"

#include <dwarf.h>
#include <stdbool.h>
#include <string.h>

enum {
	/* DWARF numbers of registers, psABI x86-64, figure 3.36. */
	RBX = 3,
	RBP = 6,
	RSP = 7,
	RETURN_ADDRESS = 16,
	WORD = 8,
	DATA_ALIGN = -8,
	PCREL_SDATA4 = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	DATAREL_SDATA4 = DW_EH_PE_datarel | DW_EH_PE_sdata4,
	ADVANCE_MAX = 0x3f,
};

/* The state after a prologue, which holds where nothing else is said. */
static void put_initial(struct buffer *out)
{
	buffer_u8(out, DW_CFA_def_cfa);
	buffer_uleb(out, RBP);
	buffer_uleb(out, 2 * WORD);
	buffer_u8(out, DW_CFA_offset | RBP);
	buffer_uleb(out, 2);
	buffer_u8(out, DW_CFA_offset | RETURN_ADDRESS);
	buffer_uleb(out, 1);
}

static void advance(struct buffer *out, size_t delta)
{
	if (delta <= ADVANCE_MAX) {
		buffer_u8(out, (uint8_t)(DW_CFA_advance_loc | delta));
	} else {
		buffer_u8(out, DW_CFA_advance_loc4);
		buffer_u32(out, (uint32_t)delta);
	}
}

/* Whether the code begins with `push %rbp; mov %rsp, %rbp`. */
static bool has_prologue(const uint8_t *code, size_t size)
{
	static const uint8_t bytes[2][4] = {
		{0x55, 0x48, 0x89, 0xe5}, {0x55, 0x48, 0x8b, 0xec}};

	return size >= 4 &&
	       (memcmp(code, bytes[0], 4) == 0 || memcmp(code, bytes[1], 4) == 0);
}

/* From the entry to the end of the prologue. `at` becomes the offset reached. */
static void put_prologue(struct buffer *out, size_t *at)
{
	enum { AFTER_PUSH = 1, AFTER_MOV = 4 };

	buffer_u8(out, DW_CFA_remember_state);
	buffer_u8(out, DW_CFA_def_cfa);
	buffer_uleb(out, RSP);
	buffer_uleb(out, WORD);
	buffer_u8(out, DW_CFA_same_value);
	buffer_uleb(out, RBP);
	advance(out, AFTER_PUSH);
	buffer_u8(out, DW_CFA_def_cfa_offset);
	buffer_uleb(out, 2 * WORD);
	buffer_u8(out, DW_CFA_offset | RBP);
	buffer_uleb(out, 2);
	advance(out, AFTER_MOV - AFTER_PUSH);
	buffer_u8(out, DW_CFA_restore_state);
	*at = AFTER_MOV;
}

/* Registers that the prologue pushes next: a function that C calls saves them all. */
static void put_saved(struct buffer *out, const uint8_t *code, size_t size, size_t *at)
{
	unsigned slot = 2;

	while (*at + 2 < size) {
		const uint8_t *byte = code + *at;
		unsigned reg;

		if (byte[0] == 0x53) {
			reg = RBX;
			advance(out, 1);
			*at += 1;
		} else if (byte[0] == 0x41 && byte[1] >= 0x54 && byte[1] <= 0x57) {
			reg = 12 + (byte[1] - 0x54U);
			advance(out, 2);
			*at += 2;
		} else {
			return;
		}
		buffer_u8(out, (uint8_t)(DW_CFA_offset | reg));
		buffer_uleb(out, ++slot);
	}
}

/* `pop %rbp; ret` and `leave; ret`: at the ret the frame is gone. */
static void put_epilogue(struct buffer *out, size_t delta)
{
	buffer_u8(out, DW_CFA_remember_state);
	advance(out, delta + 1);
	buffer_u8(out, DW_CFA_def_cfa);
	buffer_uleb(out, RSP);
	buffer_uleb(out, WORD);
	buffer_u8(out, DW_CFA_same_value);
	buffer_uleb(out, RBP);
	advance(out, 1);
	buffer_u8(out, DW_CFA_restore_state);
}

/* The next `pop %rbp; ret` or `leave; ret`, or `size`. */
static size_t find_epilogue(const uint8_t *code, size_t size, size_t from)
{
	for (size_t i = from + 1; i < size; i++) {
		const uint8_t *ret = memchr(code + i, 0xc3, size - i);

		if (!ret)
			return size;
		i = (size_t)(ret - code);
		if (ret[-1] == 0x5d || ret[-1] == 0xc9)
			return i - 1;
	}
	return size;
}

/* The next further entry: push %rbp; mov %rsp, %rbp; jmp *%rdi. */
static size_t find_entry(const uint8_t *code, size_t size, size_t from)
{
	static const uint8_t entry[6] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xe7};
	const uint8_t *found = memmem(code + from, size - from, entry, sizeof(entry));

	return found ? (size_t)(found - code) : size;
}

/* Epilogues and further entries behind the first. The bytes of either may stand for
 * something else inside an instruction; then no pc is ever between them. */
static void put_others(
	struct buffer *out, const uint8_t *code, size_t size, size_t *at, size_t limit)
{
	enum { SPACE = 32 }; /* the instructions for one of them, at most */
	size_t epilogue = find_epilogue(code, size, *at);
	size_t entry = find_entry(code, size, *at);

	while (out->size + SPACE <= limit && (epilogue < size || entry < size)) {
		if (epilogue < entry) {
			put_epilogue(out, epilogue - *at);
			*at = epilogue + 2;
			epilogue = find_epilogue(code, size, *at);
		} else {
			size_t length;

			advance(out, entry - *at);
			put_prologue(out, &length);
			*at = entry + length;
			entry = find_entry(code, size, *at);
		}
	}
}

/* The instructions of an FDE; later entries and ends as far as `limit` bytes of `out`
 * allow. */
static void put_instructions(
	struct buffer *out, const uint8_t *code, size_t size, size_t limit)
{
	size_t at = 0;

	if (has_prologue(code, size)) {
		put_prologue(out, &at);
		if (limit == SIZE_MAX)
			put_saved(out, code, size, &at);
	}
	put_others(out, code, size, &at, limit);
}

static void put_cie_fields(struct buffer *out, const char *augmentation)
{
	buffer_u8(out, 1); /* version */
	buffer_string(out, augmentation);
	buffer_uleb(out, 1);
	buffer_sleb(out, DATA_ALIGN);
	buffer_uleb(out, RETURN_ADDRESS);
}

void frame_info_cie(struct buffer *out)
{
	size_t start = out->size;

	buffer_u32(out, 0);
	buffer_u32(out, UINT32_MAX); /* a CIE, in .debug_frame */
	put_cie_fields(out, "");
	put_initial(out);
	buffer_align(out, WORD, DW_CFA_nop);
	buffer_set_u32(out, start, (uint32_t)(out->size - start - 4));
}

void frame_info_fde(struct buffer *out, uintptr_t address, const void *code, size_t size)
{
	size_t start = out->size;

	buffer_u32(out, 0);
	buffer_u32(out, 0); /* its CIE begins the section */
	buffer_u64(out, address);
	buffer_u64(out, size);
	put_instructions(out, code, size, SIZE_MAX);
	buffer_align(out, WORD, DW_CFA_nop);
	buffer_set_u32(out, start, (uint32_t)(out->size - start - 4));
}

/* Offset of a field of the eh_frame from the code, negated: what pcrel wants. */
static uint32_t to_code(const struct buffer *out, size_t start, size_t size)
{
	size_t behind = (size + WORD - 1) & ~(size_t)(WORD - 1);

	return (uint32_t) - (behind + out->size - start);
}

size_t frame_info_eh(struct buffer *out, const void *code, size_t size)
{
	enum { HEADER = 20, END = 4, NOPS = 3 };
	size_t start = out->size, fde, header;

	buffer_u32(out, 0);
	buffer_u32(out, 0); /* a CIE, in .eh_frame */
	put_cie_fields(out, "zR");
	buffer_uleb(out, 1);
	buffer_u8(out, PCREL_SDATA4);
	put_initial(out);
	buffer_align(out, 4, DW_CFA_nop);
	buffer_set_u32(out, start, (uint32_t)(out->size - start - 4));

	fde = out->size;
	buffer_u32(out, 0);
	buffer_u32(out, (uint32_t)(out->size - start)); /* back to the CIE */
	buffer_u32(out, to_code(out, start, size));
	buffer_u32(out, (uint32_t)size);
	buffer_uleb(out, 0);
	put_instructions(
		out, code, size, start + FRAME_INFO_EH_MAX - HEADER - END - NOPS);
	buffer_align(out, 4, DW_CFA_nop);
	buffer_set_u32(out, fde, (uint32_t)(out->size - fde - 4));
	buffer_u32(out, 0); /* the end of .eh_frame */

	header = out->size;
	buffer_u8(out, 1); /* version */
	buffer_u8(out, PCREL_SDATA4);
	buffer_u8(out, DW_EH_PE_udata4);
	buffer_u8(out, DATAREL_SDATA4);
	buffer_u32(out, (uint32_t) - (out->size - start));
	buffer_u32(out, 1);
	buffer_u32(out, to_code(out, start, size) + (uint32_t)(out->size - header));
	buffer_u32(out, (uint32_t) - (header - fde));
	return out->size - header;
}
