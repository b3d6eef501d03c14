# Tests: `make check` runs every tests/*/*.sh and every unit test in $(TEST_PROGRAMS);
# the recipes for single Python programs, the demo and the figures.

check: deps
	@etc/install-packages.sh etc/packages-browser || \
		echo "without a browser the test of annotate's page is skipped" >&2
	@$(MAKE) --no-print-directory programs test-programs
	@tests/run $(O) $(T)

# The programs that run_NAME, perf_NAME and dbg_NAME know.
python_programs := $(wildcard tests/*.py tests/bench/*.py tests/programs/*.py tests/profilers/*.py)
python_names := $(sort $(basename $(notdir $(python_programs))))
python_program = $(firstword $(filter %/$*.py,$(python_programs)))
# Static patterns: an implicit run_% would also claim every file whose name begins so.
run_targets := $(addprefix run_,$(python_names))
perf_targets := $(addprefix perf_,$(python_names))
dbg_targets := $(addprefix dbg_,$(python_names))

# make run_NAME: runs NAME.py under the jit at stable addresses. ARGS= are options of the jit,
# INPUT= arguments of the program.
$(run_targets): run_%: programs
	@$(O)/stablerun -- $(O)/jit $(ARGS) $(python_program) $(INPUT)

# make perf_NAME: records it, collects what belongs to the run and shows where the time went.
$(perf_targets): perf_%: programs
	@tests/bench/profile $(O) $(python_program) "$(ARGS)" "$(INPUT)"

# make dbg_NAME: gdb on it, at the addresses of the other recipes.
$(dbg_targets): dbg_%: programs
	@$(O)/stablerun gdb -- $(O)/jit $(ARGS) $(python_program) $(INPUT)

# make demo: the main job on n-body, from installing what is missing to the hottest listing.
demo: deps
	@$(MAKE) --no-print-directory programs
	@tests/bench/demo $(O)

# make bench: the figures, each beside its peer. PROGRAMS="nbody fib" chooses programs,
# RUNS=5 says how often each runs, PARTS="start programs annotate" chooses tables.
bench: deps
	@$(MAKE) --no-print-directory programs $(O)/tests/bench/measure
	@RUNS="$(RUNS)" PARTS="$(PARTS)" tests/bench/figures $(O) $(CHOSEN_PROGRAMS)

MEASURE_OBJECTS := $(O)/tests/bench/measure.o $(O)/launcher/base.o
TEST_PROGRAMS += $(O)/tests/bench/measure

$(O)/tests/bench/measure: $(MEASURE_OBJECTS)
	$(CC) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^

.PHONY: check demo bench $(run_targets) $(perf_targets) $(dbg_targets)

# make check-regress: CPython's own tests under the jit, every function compiled at once and
# with every guard failing in turn. LISTS= chooses the lists, OPTIONS= the jit's options.
LISTS ?= tests/jit/regress.list tests/jit/regress_heavy.list
check-regress: deps programs
	@nice $(PYTHON) tests/jit/regress.py $(addprefix --list=,$(LISTS)) \
		$(if $(OPTIONS),--options="$(OPTIONS)",--options=--threshold=1 \
		"--options=--threshold=1 --stress=deopt") $(O)/jit

.PHONY: check-regress

# make fuzz-jit N=10000: random programs under python3 and the jit, cold, at once and with every
# guard failing; SEED= numbers the first one.
N ?= 1000
SEED ?= 1
fuzz-jit: deps programs
	@nice $(PYTHON) tests/jit/fuzz/fuzz.py -n $(N) --seed $(SEED) --options= \
		"--options=--threshold=1 --tier2=9" "--options=--threshold=3 --tier2=20" \
		"--options=--threshold=1 --tier2=9 --stress=deopt" $(O)/jit

.PHONY: fuzz-jit

# make check-runtimes: the rules over every runtime that has one, in all contexts; installs
# the runtimes. RUNS= runs in each context.
check-runtimes: deps
	@etc/install-packages.sh etc/packages-runtimes
	@$(MAKE) --no-print-directory programs
	@RUNS=$(or $(RUNS),10) TIMEOUT=3600 LINES_SHOWN=400 tests/run $(O) runtimes/verify; \
		status=$$?; cat $(O)/runtimes.txt; exit $$status

.PHONY: check-runtimes

# make check-san: the jit's own tests (bench programs, the quick part of CPython's tests, a short
# fuzzing) under ASan and UBSan. jit/main.c has the settings that Python needs for it.
check-san: deps
	@$(MAKE) --no-print-directory O=build-san SAN=1 programs test-programs
	@TIMEOUT=1800 UBSAN_OPTIONS=print_stacktrace=1 tests/run build-san 'jit/*' '*/jit/*'

# make check-valgrind: the bench programs and some of CPython's tests under valgrind.
check-valgrind: deps programs
	@echo valgrind | etc/install-packages.sh /dev/stdin
	@SRC=$(CURDIR) BUILD=$(abspath $(O)) tests/jit/valgrind

.PHONY: check-san check-valgrind

# make check-compilers: gcc and clang build everything without a warning, clang-format is content.
check-compilers: deps
	@SRC=$(CURDIR) TMP=$$(mktemp -d) tests/repository/compilers

.PHONY: check-compilers
