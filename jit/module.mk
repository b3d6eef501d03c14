# jit: the engine and what it stands on.

# Sources of the stencils.
STENCILS :=

include jit/stencils.mk
