# RUN directories: writing, reading, comparing.

RUN_OBJECTS := $(addprefix $(O)/launcher/, \
	collect.o \
	elf_file.o \
	run.o \
	run_facts.o \
	run_file.o \
	run_info.o \
	run_json.o \
	run_read.o \
	run_wait.o \
)
LAUNCHER_OBJECTS += $(RUN_OBJECTS) $(addprefix $(O)/launcher/, \
	agree.o \
	codes.o \
	decide.o \
	diff.o \
	diff_causes.o \
	diff_code.o \
	diff_json.o \
	diff_maps.o \
	engine.o \
	engine_child.o \
	engine_parallel.o \
	engine_script.o \
	engine_slurm.o \
	gather.o \
	gather_main.o \
	keep.o \
	maps.o \
	perf.o \
	perfdata.o \
	recorder.o \
	sampled.o \
	rule_apply.o \
	rule_match.o \
	rule_parse.o \
	rules.o \
	rules_list.o \
	sampling.o \
	show.o \
	verify.o \
	verify_run.o \
	watch.o \
)

# A build directory is complete: the rules stand beside the program, as the gdb files do.
RULES := $(patsubst etc/%,$(O)/%,$(wildcard etc/rules/*.rule))
$(O)/rules/%.rule: etc/rules/%.rule
	@mkdir -p $(@D)
	cp $< $@
PROGRAMS += $(RULES)

LAUNCHER_RUN_TESTS := $(O)/launcher/sampling_test $(O)/launcher/agree_test
TEST_PROGRAMS += $(LAUNCHER_RUN_TESTS)
$(O)/launcher/sampling_test: $(addprefix $(O)/launcher/, \
		sampling_test.o sampling.o perfdata.o run_file.o base.o)
$(O)/launcher/agree_test: $(addprefix $(O)/launcher/, \
		agree_test.o agree.o run_info.o strv.o base.o)
$(LAUNCHER_RUN_TESTS):
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^
