/* What optimised code calls without putting its numbers away: functions that keep the
 * registers in which doubles live, xmm4 to xmm15. */
#include "jit/opt.h"

#define KEEPING(name, work)                          \
	asm(".text\n"                                \
	    ".p2align 4\n"                           \
	    ".globl " name "\n"                      \
	    ".type " name ", @function\n" name ":\n" \
	    "	.cfi_startproc\n"                      \
	    "	sub $104, %rsp\n"                      \
	    "	.cfi_def_cfa_offset 112\n"             \
	    "	movsd %xmm4, (%rsp)\n"                 \
	    "	movsd %xmm5, 8(%rsp)\n"                \
	    "	movsd %xmm6, 16(%rsp)\n"               \
	    "	movsd %xmm7, 24(%rsp)\n"               \
	    "	movsd %xmm8, 32(%rsp)\n"               \
	    "	movsd %xmm9, 40(%rsp)\n"               \
	    "	movsd %xmm10, 48(%rsp)\n"              \
	    "	movsd %xmm11, 56(%rsp)\n"              \
	    "	movsd %xmm12, 64(%rsp)\n"              \
	    "	movsd %xmm13, 72(%rsp)\n"              \
	    "	movsd %xmm14, 80(%rsp)\n"              \
	    "	movsd %xmm15, 88(%rsp)\n"              \
	    "	call " work "\n"                     \
	    "	movsd (%rsp), %xmm4\n"                 \
	    "	movsd 8(%rsp), %xmm5\n"                \
	    "	movsd 16(%rsp), %xmm6\n"               \
	    "	movsd 24(%rsp), %xmm7\n"               \
	    "	movsd 32(%rsp), %xmm8\n"               \
	    "	movsd 40(%rsp), %xmm9\n"               \
	    "	movsd 48(%rsp), %xmm10\n"              \
	    "	movsd 56(%rsp), %xmm11\n"              \
	    "	movsd 64(%rsp), %xmm12\n"              \
	    "	movsd 72(%rsp), %xmm13\n"              \
	    "	movsd 80(%rsp), %xmm14\n"              \
	    "	movsd 88(%rsp), %xmm15\n"              \
	    "	add $104, %rsp\n"                      \
	    "	.cfi_def_cfa_offset 8\n"               \
	    "	ret\n"                                 \
	    "	.cfi_endproc\n"                        \
	    ".size " name ", . - " name "\n")

KEEPING("opt_drop", "opt_work_drop");
KEEPING("opt_new_int", "opt_work_new_int");
KEEPING("opt_new_float", "opt_work_new_float");
