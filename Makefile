# Stablerun: one non-recursive Makefile; each folder's module.mk names its objects.
#
#   make            build everything into $(O)
#   make demo       install what is missing, build, run the main job and show its result
#   make check      the same, then every test; T='jit/* runs/perf' chooses
#   make bench      the figures, each beside its peer; PROGRAMS="nbody fib", RUNS=5
#   make install    into PREFIX (/usr/local), below DESTDIR; make uninstall removes it
#   make deb        a Debian package in $(O)/deb
#   make clean      remove $(O); make deps installs the packages of etc/packages
#
# For a Python program NAME below tests/; ARGS= are options of the jit, INPUT= of the program:
#
#   make run_NAME   run it under the jit at stable addresses
#   make perf_NAME  record it under perf and show where its time went
#   make dbg_NAME   gdb on it
#   make pprof_NAME  samples by gperftools; RUNS=N merges N runs
#   make prof_NAME  what compiling it costs, by gprof, and the timers of -s; RUNS=10
#   make oprof_NAME  samples by OProfile, or by perf where there is none
#
# Longer tests, which install what they need:
#
#   make check-runtimes   the rules over every runtime that has one; RUNS=10
#   make check-regress    CPython's own tests under the jit
#   make check-profilers  the recipes pprof_NAME, prof_NAME and oprof_NAME
#   make check-engine     runs made by GNU parallel over ssh and by Slurm
#   make check-deb        the Debian package: lintian, and its life in a fresh root
#   make check-compilers  gcc and clang without a warning; make format-check for the layout
#   make check-san, make check-valgrind   the jit under sanitizers and under valgrind
#   make fuzz-jit         random programs under python3 and the jit; N=1000
#   make fuzz_NAME        a reader under libFuzzer; SECONDS=60
#
# O=DIR builds elsewhere, SAN=1 with ASan and UBSan, DEBUG=1 for debugging (the jit asserts its
# stack at every instruction), COVERAGE=1 for gcov, CC=clang with clang.

ifdef SAN
O ?= build-san
else ifdef DEBUG
O ?= build-debug
else
O ?= build
endif
ifeq ($(origin CC),default)
CC := gcc
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wpointer-arith -Wwrite-strings -Wundef
CPPFLAGS += -I. -D_GNU_SOURCE
ifdef DEBUG
CFLAGS   ?= -Og -g
CPPFLAGS += -DDEBUG
endif
CFLAGS   ?= -O2 -g
BASE_CFLAGS := -std=gnu11 $(WARNINGS) -fno-omit-frame-pointer
ifdef WERROR
BASE_CFLAGS += -Werror
endif
ifdef SAN
BASE_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined
BASE_LDFLAGS += -fsanitize=address,undefined
endif
ifdef COVERAGE
BASE_CFLAGS += --coverage
BASE_LDFLAGS += --coverage
endif

VERSION := 0.1.0
PYTHON  := /usr/bin/python3

all: programs

# `make bench PROGRAMS="nbody fib"` means bench programs: out of the way of the list below.
ifeq ($(origin PROGRAMS),command line)
CHOSEN_PROGRAMS := $(PROGRAMS)
override undefine PROGRAMS
endif

# Each module.mk appends to these: programs that `all` builds, programs only tests need.
PROGRAMS :=
TEST_PROGRAMS :=

-include launcher/module.mk
-include jit/module.mk
-include annotate/module.mk
include tests/module.mk
include tests/profilers/module.mk
include tests/engine/module.mk
include tests/fuzz/module.mk
include tests/fuzz/launcher.mk
include etc/install.mk

programs: $(PROGRAMS)
test-programs: $(TEST_PROGRAMS)

# build/jit and build/annotate are programs: the objects of those folders are in $(O)/obj/.
$(O)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(BASE_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

deps:
	@etc/install-packages.sh

clean:
	rm -rf $(O)

format-check:
	clang-format --dry-run --Werror $$(git ls-files '*.c' '*.h')

help:
	@sed -n '/^#/!q;s/^# \{0,1\}//p' Makefile

.PHONY: all programs test-programs deps clean format-check help
.DELETE_ON_ERROR:
# Objects that no list names are kept; those that are named are made anew where they are missing.
.PRECIOUS: $(O)/%.o $(O)/obj/%.o

-include $(shell find $(O) -name '*.d' 2>/dev/null)
