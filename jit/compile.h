/* Compiling a code object, and getting rid of the result. */
#ifndef JIT_COMPILE_H
#define JIT_COMPILE_H

#include "jit/compiled.h"
#include "jit/python.h"

/* Compiles by the baseline. Returns owned, or NULL: interpret it. No exception is set. */
struct compiled *compile_code(PyCodeObject *code);

struct emit;

/* Tells the symbols about code just committed. */
void compile_tell(PyCodeObject *code, const struct emit *emit, const char *kind);

/* Gives native code back; nothing at the end of the process, where all of it goes. */
void compile_release(void *address);
/* Frees a compiled form and its native code; nothing runs in it any more. */
void compile_free(struct compiled *compiled);

#endif
