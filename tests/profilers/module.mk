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
