# The profilers beside perf: pprof_NAME, prof_NAME and oprof_NAME for the programs that
# run_NAME knows, and what tests them.

pprof_targets := $(addprefix pprof_,$(python_names))
prof_targets := $(addprefix prof_,$(python_names))
oprof_targets := $(addprefix oprof_,$(python_names))

# make pprof_NAME: samples by gperftools; RUNS=N merges N runs, HZ= samples so often. ARGS=
# and INPUT= as in run_NAME.
$(pprof_targets): pprof_%: programs
	@RUNS="$(RUNS)" HZ="$(HZ)" tests/profilers/pprof $(O) $(python_program) "$(ARGS)" "$(INPUT)"

.PHONY: $(pprof_targets) $(prof_targets) $(oprof_targets)

# A jit for gprof: its own objects count their calls (-pg), libpython's do not.
PROF_OBJECTS := $(patsubst $(O)/%,$(O)/prof/%, \
	$(ENGINE_OBJECTS) $(EMIT_OBJECTS) $(SYMBOLS_OBJECTS) $(O)/launcher/base.o)
PROF_COMPILE = $(CC) $(CPPFLAGS) -I$(O)/obj $(PYTHON_CFLAGS) -DJIT_VERSION='"$(VERSION)"' \
	$(BASE_CFLAGS) $(CFLAGS) -fno-pie -pg -MMD -MP -c -o $@ $<

$(O)/prof/obj/%.o: %.c | $(O)/obj/jit/stencils.gen.h
	@mkdir -p $(@D)
	$(PROF_COMPILE)
$(O)/prof/launcher/%.o: launcher/%.c
	@mkdir -p $(@D)
	$(PROF_COMPILE)
$(O)/prof/jit: $(PROF_OBJECTS)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(LDFLAGS) $(BASE_LDFLAGS) $(ENGINE_LDFLAGS) -pg -o $@ $^ $(PYTHON_LIBS)

# make prof_NAME: what compiling NAME costs, by gprof over RUNS runs (10), and the timers of -s.
$(prof_targets): prof_%: programs $(O)/prof/jit
	@RUNS="$(RUNS)" tests/profilers/gprof $(O) $(python_program) "$(ARGS)" "$(INPUT)"

# make oprof_NAME: samples by OProfile, or by perf where there is none; says what was lost.
$(oprof_targets): oprof_%: programs
	@tests/profilers/oprof $(O) $(python_program) "$(ARGS)" "$(INPUT)"

# make check-profilers: what tests the recipes above, with the packages that they need and no
# skips; STARTUP_RUNS= short runs are merged (100).
check-profilers: deps
	@etc/install-packages.sh etc/packages-profilers
	@$(MAKE) --no-print-directory programs $(O)/prof/jit
	@MUST_RUN=1 STARTUP_RUNS=$(or $(STARTUP_RUNS),100) tests/run $(O) 'profilers/*'

.PHONY: check-profilers
