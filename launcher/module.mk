# launcher: the program stablerun, linked statically because its start-up time is added to
# every run's. The objects of a subcommand are a line of their own.

BASE_OBJECTS := $(O)/launcher/base.o

LAUNCHER_OBJECTS := $(addprefix $(O)/launcher/, \
	base.o binary.o command.o environment.o launch.o machine.o main.o options.o pad.o \
	plan.o plan_json.o plan_text.o quote.o shebang.o sibling.o strv.o)
LAUNCHER_LIBS := -ljansson

# The sanitizers' runtimes cannot be linked statically.
ifndef SAN
LAUNCHER_LDFLAGS := -static
endif

$(O)/launcher/%.o: CPPFLAGS += -DVERSION='"$(VERSION)"'

$(O)/stablerun: $(LAUNCHER_OBJECTS)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) $(BASE_LDFLAGS) $(LDFLAGS) $(LAUNCHER_LDFLAGS) -o $@ \
		$^ $(LAUNCHER_LIBS)

PROGRAMS += $(O)/stablerun
