/* The generated table of stencils. */
#define STENCIL_TABLE
#include "jit/stencil.h"
