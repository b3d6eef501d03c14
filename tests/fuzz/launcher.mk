# Fuzzing of the launcher's readers: rule files, run.json, kept maps, perf.data, ELF facts.
#
# make fuzz_NAME SECONDS=600   NAME: rule runjson maps

LAUNCHER_FUZZ_NAMES := rule runjson maps
LAUNCHER_FUZZ_OBJECTS := $(patsubst $(O)/%.o,$(O)/fuzz/obj/%.o,$(RUN_OBJECTS)) \
	$(addprefix $(O)/fuzz/obj/, \
	launcher/base.o launcher/codes.o launcher/maps.o launcher/pad.o launcher/perfdata.o \
	launcher/rule_match.o launcher/rule_parse.o launcher/strv.o tests/fuzz/fuzz.o)
LAUNCHER_FUZZ_PROGRAMS := $(addprefix $(O)/fuzz/fuzz_,$(LAUNCHER_FUZZ_NAMES))

$(LAUNCHER_FUZZ_PROGRAMS): $(O)/fuzz/fuzz_%: $(O)/fuzz/obj/tests/fuzz/fuzz_%.o \
		$(LAUNCHER_FUZZ_OBJECTS)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LAUNCHER_LIBS)

launcher-fuzz-programs: $(LAUNCHER_FUZZ_PROGRAMS)

$(addprefix fuzz_,$(LAUNCHER_FUZZ_NAMES)): fuzz_%: $(O)/fuzz/fuzz_%
	@tests/fuzz/run $(O)/fuzz $* $(SECONDS)

.PHONY: launcher-fuzz-programs $(addprefix fuzz_,$(LAUNCHER_FUZZ_NAMES))
