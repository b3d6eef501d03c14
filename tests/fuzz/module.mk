# Fuzzing of what reads other people's bytes, by libFuzzer under ASan and UBSan (clang).
#
# make fuzz_NAME SECONDS=600   NAME: perfdata jitdump perfmap patches elf
# What it learns is kept in $(O)/fuzz/corpus/NAME; a finding in $(O)/fuzz/NAME-crash-….

FUZZ_NAMES := perfdata jitdump perfmap patches elf
SECONDS ?= 60
FUZZ_FLAGS := -std=gnu11 -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined
FUZZ_PARTS := $(filter-out annotate/annotate.c annotate/html.c annotate/pprof.c \
	annotate/pprof.pb-c.c, $(patsubst $(O)/obj/%.o,%.c,$(ANNOTATE_OBJECTS))) \
	$(patsubst $(O)/%.o,%.c,$(patsubst $(O)/obj/%.o,%.c,$(ANNOTATE_SHARED))) \
	tests/fuzz/fuzz.c
FUZZ_OBJECTS := $(patsubst %.c,$(O)/fuzz/obj/%.o,$(FUZZ_PARTS))
FUZZ_PROGRAMS := $(addprefix $(O)/fuzz/fuzz_,$(FUZZ_NAMES))

$(O)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	clang $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link \
		$(shell pkg-config --cflags-only-I python-3.11-embed) -DVERSION='"fuzz"' \
		-MMD -MP -c -o $@ $<

$(FUZZ_PROGRAMS): $(O)/fuzz/fuzz_%: $(O)/fuzz/obj/tests/fuzz/fuzz_%.o $(FUZZ_OBJECTS)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(ANNOTATE_LIBS)

fuzz-programs: $(FUZZ_PROGRAMS)

$(addprefix fuzz_,$(FUZZ_NAMES)): fuzz_%: $(O)/fuzz/fuzz_%
	@tests/fuzz/run $(O)/fuzz $* $(SECONDS)

.PHONY: fuzz-programs $(addprefix fuzz_,$(FUZZ_NAMES))
