# jit: the engine and what it stands on.

# Sources of the stencils.
STENCILS := $(addprefix jit/, stencils_stack.c stencils_flow.c stencils_object.c stencils_number.c stencils_cache.c \
	stencils_call.c stencils_builtin.c stencils_iterate.c stencils_operand.c stencils_container.c stencils_opt.c stencils_opt_frame.c \
	stencils_opt_object.c stencils_opt_iterate.c)

include jit/stencils.mk

# Debian's static archive has the interpreter's internals, which its shared library hides;
# linked without PIE, so that code in low memory reaches it. Modules in shared objects need
# its symbols exported.
PYTHON_ARCHIVE := $(shell pkg-config --variable=libdir python-3.11-embed)/libpython3.11.a
PYTHON_LIBS := -Wl,-export-dynamic -Wl,--whole-archive $(PYTHON_ARCHIVE) \
	-Wl,--no-whole-archive -lexpat -lz -lm -ldl

ENGINE_OBJECTS := $(addprefix $(O)/obj/jit/, main.o options.o jit.o hook.o vectorcall.o check.o table.o compile.o \
	ir_build.o ir_effect.o baseline.o lower.o lower_ops.o lower_cache.o lower_operate.o lower_flow.o lower_end.o enter.o frame.o except.o \
	timers.o errors.o runtime.o runtime_find.o runtime_object.o runtime_call.o runtime_bind.o runtime_super.o \
	runtime_build.o runtime_names.o runtime_raise.o runtime_async.o runtime_misc.o runtime_number.o \
	runtime_generator.o runtime_operator.o cache.o cache_builtin.o cache_iterate.o cache_operand.o cache_call.o cache_shape.o cache_seed.o opt_runtime.o \
	opt_compile.o opt_edge.o opt_enter.o opt_for.o opt_loop.o opt_state.o opt_op.o opt_number.o opt_call.o opt_object.o opt_generic.o opt_element.o opt_asm.o opt_asm_number.o opt_keep.o opt_iterate.o opt_slice.o)

$(ENGINE_OBJECTS): private BASE_CFLAGS += -fno-pie
$(ENGINE_OBJECTS): private CPPFLAGS += -I$(O)/obj $(PYTHON_CFLAGS) -DJIT_VERSION='"$(VERSION)"'
$(ENGINE_OBJECTS): | $(O)/obj/jit/stencils.gen.h

# Calls of functions from libpython come by jit/vectorcall.c.
ENGINE_LDFLAGS := -no-pie -Wl,--wrap=_PyFunction_Vectorcall

$(O)/jit: $(ENGINE_OBJECTS) $(EMIT_OBJECTS) $(SYMBOLS_OBJECTS) $(O)/launcher/base.o
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) $(ENGINE_LDFLAGS) -o $@ $^ \
		$(PYTHON_LIBS)

PROGRAMS += $(O)/jit
