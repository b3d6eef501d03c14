# Copy-and-patch: stencils compiled by gcc, cut out by stencil_cut, and what emits them. The list
# $(STENCILS) of sources (jit/module.mk) becomes $(O)/obj/jit/stencils.gen.h.

# Always gcc: the stencils use global register variables. Frame pointer and registers:
# jit/stencil.h. Partitioning is on, so that cold blocks leave the hot path.
STENCIL_CC     ?= gcc
STENCIL_CFLAGS := -std=gnu11 $(WARNINGS) -Wno-missing-prototypes -O2 -g0 -ffixed-rbp -ffixed-rbx -fomit-frame-pointer \
	-mpreferred-stack-boundary=3 -fno-stack-protector -fcf-protection=none \
	-fno-asynchronous-unwind-tables -ffunction-sections -fno-pic -fno-pie \
	-fno-jump-tables -freorder-blocks-and-partition -fno-align-functions -fno-align-jumps \
	-fno-align-labels -fno-align-loops -fno-stack-clash-protection -fno-tree-vectorize \
	-fno-tree-loop-distribute-patterns $(foreach n,4 5 6 7 8 9 10 11 12 13 14 15,-ffixed-xmm$(n))
PYTHON_CFLAGS  := $(shell pkg-config --cflags python-3.11-embed)

STENCIL_CUT := $(O)/obj/jit/stencil_cut
STENCIL_CUT_OBJECTS := $(addprefix $(O)/, obj/jit/stencil_cut.o obj/jit/stencil_lint.o \
	obj/jit/stencil_write.o launcher/base.o)

$(STENCIL_CUT): $(STENCIL_CUT_OBJECTS)
	$(CC) $(BASE_CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) -o $@ $^ -lelf -lcapstone

$(O)/obj/jit/cut/%.o: %.c jit/stencils.mk
	@mkdir -p $(@D)
	$(STENCIL_CC) $(CPPFLAGS) $(PYTHON_CFLAGS) $(STENCIL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/obj/jit/stencils.gen.h: $(STENCILS:%.c=$(O)/obj/jit/cut/%.o) $(STENCIL_CUT)
	$(STENCIL_CUT) $@ $(filter %.o,$^)

# What the engine links to emit code.
EMIT_OBJECTS := $(addprefix $(O)/obj/jit/, emit.o codemem.o patchpoint.o stencil.o)
$(O)/obj/jit/emit.o $(O)/obj/jit/stencil.o $(O)/obj/jit/patchpoint.o: CPPFLAGS += -I$(O)/obj
$(O)/obj/jit/emit.o $(O)/obj/jit/stencil.o $(O)/obj/jit/patchpoint.o: | $(O)/obj/jit/stencils.gen.h

# What tells the world about it. patchlog_read.o is for annotate too.
SYMBOLS_OBJECTS := $(addprefix $(O)/obj/jit/, symbols.o agent.o agent_opagent.o agent_ittnotify.o buffer.o code_elf.o code_info.o \
	debug_info.o frame_info.o gdbjit.o jitdump.o outfile.o patchlog.o patchlog_read.o \
	perfmap.o)

# The unit tests have stencils of their own, so that they need no Python.
TEST_GEN := $(O)/obj/jit/test/jit/stencils.gen.h
$(TEST_GEN): $(O)/obj/jit/cut/jit/emit_test_stencils.o $(STENCIL_CUT)
	@mkdir -p $(@D)
	$(STENCIL_CUT) $@ $(filter %.o,$^)

$(O)/obj/jit/test/%.o: jit/%.c $(TEST_GEN)
	@mkdir -p $(@D)
	$(CC) -I$(O)/obj/jit/test $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) -fno-pie -MMD -MP -c -o $@ $<

$(O)/obj/jit/codemem_test: $(addprefix $(O)/obj/jit/, codemem_test.o codemem.o)
	$(CC) $(BASE_CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) -no-pie -o $@ $^

$(O)/obj/jit/emit_test: $(addprefix $(O)/obj/jit/test/, emit_test.o emit.o stencil.o patchpoint.o) \
		$(O)/obj/jit/codemem.o
	$(CC) $(BASE_CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) -no-pie -o $@ $^

# The tests of the symbols run this in place of the engine.
$(O)/obj/jit/symbols_driver: $(addprefix $(O)/obj/jit/test/, symbols_driver.o patchpoint.o) \
		$(O)/obj/jit/codemem.o $(SYMBOLS_OBJECTS) $(O)/launcher/base.o
	$(CC) $(BASE_CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) -no-pie -o $@ $^

$(O)/obj/jit/symbols_test: $(O)/obj/jit/symbols_test.o $(SYMBOLS_OBJECTS) $(O)/launcher/base.o
	$(CC) $(BASE_CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) -o $@ $^

TEST_PROGRAMS += $(O)/obj/jit/symbols_driver $(O)/obj/jit/symbols_test
TEST_PROGRAMS += $(O)/obj/jit/codemem_test $(O)/obj/jit/emit_test $(STENCIL_CUT)
