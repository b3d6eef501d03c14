# RUN directories: writing, reading, comparing.

RUN_OBJECTS := $(addprefix $(O)/launcher/, \
	collect.o \
	elf_file.o \
	run.o \
	run_facts.o \
	run_file.o \
	run_info.o \
	run_json.o \
)
LAUNCHER_OBJECTS += $(RUN_OBJECTS) $(addprefix $(O)/launcher/, \
	decide.o \
	keep.o \
	perf.o \
	perfdata.o \
	recorder.o \
	sampled.o \
	sampling.o \
	watch.o \
)
