# annotate: reads recordings and shows them.

ANNOTATE_OBJECTS := $(addprefix $(O)/obj/annotate/, \
	annotate.o att.o attr.o bytecode.o code.o code_patches.o demangle.o diff.o disasm.o elffile.o \
	elfwrite.o fault.o features.o file.o firefox.o folded.o gdbscript.o gperf.o \
	hits.o html.o input.o input_module.o jitdump.o json.o kallsyms.o large.o lines.o listing.o listing_arrows.o listing_lines.o \
	listing_marks.o locate.o machine.o merge.o module.o naming.o narrow.o options.o pager.o \
	patches.o pen.o perfdata.o perfmap.o pprof.o pprof.pb-c.o profile.o recall.o select.o source.o \
	spans.o stacks.o symbols.o tally.o text.o text_listing.o unpack.o unwind.o versions.o warnings.o xz.o)
# The launcher's parts that are meant for others: messages, memory, reading a RUN.
ANNOTATE_SHARED := $(addprefix $(O)/launcher/, base.o elf_file.o pad.o run_info.o run_file.o \
	run_read.o run_wait.o strv.o) $(O)/obj/jit/patchlog_read.o
# capstone's tables are megabytes of relocations as a shared object: linked statically they
# cost nothing at the start, since annotate itself is at a fixed address.
ANNOTATE_LIBS := -l:libcapstone.a -ldw -lelf -llzma -lzstd -ljansson -lprotobuf-c -ldl

$(O)/obj/annotate/%.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

# Names of bytecodes are numbered by Python's header.
$(O)/obj/annotate/bytecode.o: private CPPFLAGS += $(shell pkg-config --cflags-only-I python-3.11-embed)

$(O)/obj/annotate/html.o: annotate/page.html

$(O)/obj/annotate/pprof.pb-c.c $(O)/obj/annotate/pprof.pb-c.h &: annotate/pprof.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(O)/obj $<
$(O)/obj/annotate/pprof.pb-c.o: $(O)/obj/annotate/pprof.pb-c.c
	$(CC) $(CPPFLAGS) -I$(O)/obj $(BASE_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(O)/obj/annotate/pprof.o: private CPPFLAGS += -I$(O)/obj
$(O)/obj/annotate/pprof.o: $(O)/obj/annotate/pprof.pb-c.h

$(O)/annotate: $(ANNOTATE_OBJECTS) $(ANNOTATE_SHARED)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) -no-pie -o $@ $^ $(ANNOTATE_LIBS)

PROGRAMS += $(O)/annotate

# Reads files cut at every byte, for tests/annotate/cut.sh.
ANNOTATE_PARTS := $(filter-out %/annotate.o,$(ANNOTATE_OBJECTS)) $(ANNOTATE_SHARED)
$(O)/obj/tests/annotate/cut_each: $(O)/obj/tests/annotate/cut_each.o $(ANNOTATE_PARTS)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) -no-pie -o $@ $^ $(ANNOTATE_LIBS)

TEST_PROGRAMS += $(O)/obj/tests/annotate/cut_each

$(O)/obj/annotate/spans_test: $(O)/obj/annotate/spans_test.o $(O)/obj/annotate/spans.o \
		$(O)/launcher/base.o
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) -o $@ $^

TEST_PROGRAMS += $(O)/obj/annotate/spans_test

# Shows what tests/annotate/syntax.sh compares with objdump.
$(O)/obj/tests/annotate/disassemble: $(O)/obj/tests/annotate/disassemble.o $(ANNOTATE_PARTS)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) -no-pie -o $@ $^ $(ANNOTATE_LIBS)

TEST_PROGRAMS += $(O)/obj/tests/annotate/disassemble
