/* The kinds of holes, shared by the tool that cuts the stencils and the code that fills
 * them. */
#ifndef JIT_STENCIL_KINDS_H
#define JIT_STENCIL_KINDS_H

/* How a hole's value is stored: x86-64 psABI's relocations by their meaning. */
enum stencil_store {
	STENCIL_REL32, /* value + addend - address of the hole, signed (PC32, PLT32) */
	STENCIL_U32,   /* value + addend, zero-extended by the processor (32) */
	STENCIL_S32,   /* value + addend, sign-extended by the processor (32S) */
	STENCIL_U64,   /* value + addend (64) */
};

/* What a hole refers to. */
enum stencil_class {
	STENCIL_HOLE,	/* `index` is an enum holes */
	STENCIL_SYMBOL, /* `index` is one of stencil_symbols */
	STENCIL_HOT,	/* the stencil's own hot part */
	STENCIL_COLD,	/* its cold part */
};

#endif
