# launcher: the program stablerun, linked statically because its start-up time is added to
# every run's.

# What the other programs may link of it.
BASE_OBJECTS := $(O)/launcher/base.o

LAUNCHER_OBJECTS := $(addprefix $(O)/launcher/, \
	base.o \
	binary.o \
	command.o \
	env_line.o \
	environment.o \
	launch.o \
	lookup.o \
	machine.o \
	main.o \
	options.o \
	pad.o \
	plan.o \
	plan_block.o \
	plan_json.o \
	plan_text.o \
	quote.o \
	shebang.o \
	sibling.o \
	stack.o \
	strv.o \
)

# Moving programs to their places
LAUNCHER_OBJECTS += $(addprefix $(O)/launcher/, \
	place_calls.o \
	place_elf.o \
	place_facts.o \
	place_helper.o \
	place_layout.o \
	place_load.o \
	place_load_file.o \
	place_load_page.o \
	place_load_stack.o \
	place_maps.o \
	place_move.o \
	place_read.o \
	place_stack.o \
	remote.o \
)

include launcher/run.mk

# gdb
LAUNCHER_OBJECTS += $(addprefix $(O)/launcher/, \
	again.o \
	gdb.o \
	gdb_save.o \
)

# Supervision
LAUNCHER_OBJECTS += $(addprefix $(O)/launcher/, \
	answer.o \
	answer_clock.o \
	answer_code.o \
	answer_random.o \
	codeelf.o \
	codekeep.o \
	codesym.o \
	crash.o \
	codesym_find.o \
	detach.o \
	device.o \
	filter.o \
	image.o \
	kept.o \
	kept_merge.o \
	passing.o \
	region.o \
	seed.o \
	settle.o \
	supervise.o \
	supervisor.o \
	task.o \
	vdso.o \
	watchdog.o \
)
LAUNCHER_LIBS := -ljansson -lelf -lz -linih

# The sanitizers' runtimes cannot be linked statically.
ifndef SAN
LAUNCHER_LDFLAGS := -static
endif

$(O)/launcher/%.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

$(O)/stablerun: $(LAUNCHER_OBJECTS)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) $(LAUNCHER_LDFLAGS) -o $@ \
		$^ $(LAUNCHER_LIBS)

PROGRAMS += $(O)/stablerun

# Unit tests: each its own objects and what it tests.
LAUNCHER_TESTS := $(addprefix $(O)/launcher/, binary_test environment_test pad_test \
	place_elf_test place_layout_test place_maps_test place_stack_test remote_test \
	seed_test \
	shebang_test \
	vdso_test codekeep_test)
TEST_PROGRAMS += $(LAUNCHER_TESTS)

$(O)/launcher/binary_test: $(addprefix $(O)/launcher/, binary_test.o binary.o base.o)
$(O)/launcher/environment_test: $(addprefix $(O)/launcher/, \
	environment_test.o environment.o strv.o base.o)
$(O)/launcher/pad_test: $(addprefix $(O)/launcher/, pad_test.o pad.o base.o)
$(O)/launcher/shebang_test: $(addprefix $(O)/launcher/, \
	shebang_test.o shebang.o env_line.o strv.o base.o)
$(O)/launcher/seed_test: $(addprefix $(O)/launcher/, seed_test.o seed.o)
$(O)/launcher/codekeep_test: $(addprefix $(O)/launcher/, \
	codekeep_test.o codekeep.o codesym.o region.o seed.o task.o base.o)
$(O)/launcher/vdso_test: $(addprefix $(O)/launcher/, vdso_test.o vdso.o)
$(O)/launcher/place_elf_test: $(addprefix $(O)/launcher/, place_elf_test.o place_elf.o)
$(O)/launcher/place_layout_test: $(addprefix $(O)/launcher/, \
	place_layout_test.o place_layout.o place_calls.o)
$(O)/launcher/place_maps_test: $(addprefix $(O)/launcher/, place_maps_test.o place_maps.o)
$(O)/launcher/remote_test: $(addprefix $(O)/launcher/, remote_test.o remote.o)
$(O)/launcher/place_stack_test: $(addprefix $(O)/launcher/, \
	place_stack_test.o place_stack.o place_maps.o)

$(LAUNCHER_TESTS):
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^

# gdb's extension lies beside the program, where `stablerun gdb` looks for it.
GDB_EXTENSION := $(patsubst launcher/%,$(O)/%,$(wildcard launcher/gdb/*.py launcher/gdb/*/*.py))

$(O)/gdb/%.py: launcher/gdb/%.py
	@mkdir -p $(@D)
	cp $< $@

PROGRAMS += $(GDB_EXTENSION)
