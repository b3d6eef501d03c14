# make install and make uninstall: PREFIX= (default /usr/local) and DESTDIR= as usual. The
# sibling programs get names of their own, so that no generic name lands in a PATH.

PREFIX  ?= /usr/local
DESTDIR ?=
BINDIR   = $(PREFIX)/bin
DATADIR  = $(PREFIX)/share
MANDIR   = $(DATADIR)/man

# MODE:SOURCE:TARGET for each file; install and uninstall walk the same list.
INSTALLED = \
	755:$(O)/stablerun:$(BINDIR)/stablerun \
	$(foreach program,$(filter %/annotate %/jit,$(PROGRAMS)), \
		755:$(program):$(BINDIR)/stablerun-$(notdir $(program))) \
	$(foreach page,$(MANUALS), \
		644:$(page):$(MANDIR)/man1/$(notdir $(page))) \
	$(foreach name,stablerun stablerun-annotate stablerun-jit, \
		644:etc/completions/stablerun.bash:$(DATADIR)/bash-completion/completions/$(name)) \
	644:etc/completions/_stablerun:$(DATADIR)/zsh/site-functions/_stablerun \
	$(foreach rule,$(wildcard etc/rules/*.rule), \
		644:$(rule):$(DATADIR)/stablerun/rules/$(notdir $(rule))) \
	$(foreach profile,$(wildcard etc/seccomp/*.json), \
		644:$(profile):$(DATADIR)/stablerun/seccomp/$(notdir $(profile))) \
	$(foreach module,$(sort $(shell find launcher/gdb -name '*.py')), \
		644:$(module):$(DATADIR)/stablerun/$(patsubst launcher/%,%,$(module))) \
	$(foreach document,README.md etc/CONTAINERS.md etc/CHANGELOG.md, \
		644:$(document):$(DATADIR)/doc/stablerun/$(notdir $(document))) \
	$(foreach example,tests/bench/nbody.py tests/bench/fib.py, \
		644:$(example):$(DATADIR)/doc/stablerun/examples/$(notdir $(example)))

# Directories that are only ours, deepest first.
INSTALLED_DIRS = $(addprefix $(DATADIR)/stablerun/,gdb/stablerun gdb rules seccomp) \
	$(DATADIR)/stablerun $(DATADIR)/doc/stablerun/examples $(DATADIR)/doc/stablerun

# The manuals of the sibling programs by the names that these have when they are installed.
MANUALS = $(O)/man/stablerun.1 $(O)/man/stablerun-annotate.1 $(O)/man/stablerun-jit.1
RENAME = sed -e 's/^\.Nm $*$$/.Nm stablerun-$*/; s/^\.B $*$$/.B stablerun-$*/' \
	-e 's/^$* \\-/stablerun-$* \\-/; s/^\.TH \([A-Z]* \)/.TH STABLERUN-\1/'
$(O)/man/stablerun.1: launcher/stablerun.1
	@mkdir -p $(@D)
	cp $< $@
$(O)/man/stablerun-annotate.1: annotate/annotate.1 etc/install.mk
$(O)/man/stablerun-jit.1: jit/jit.1 etc/install.mk
$(O)/man/stablerun-%.1:
	@mkdir -p $(@D)
	$(RENAME) $< >$@

install: programs $(MANUALS)
	@set -e; for item in $(INSTALLED); do \
		mode=$${item%%:*} rest=$${item#*:}; \
		install -D -m "$$mode" "$${rest%%:*}" "$(DESTDIR)$${rest#*:}"; \
	done

uninstall:
	@for item in $(INSTALLED); do rm -f "$(DESTDIR)$${item##*:}"; done
	@for directory in $(INSTALLED_DIRS); do \
		rm -rf "$(DESTDIR)$$directory/__pycache__"; \
		rmdir "$(DESTDIR)$$directory" 2>/dev/null || true; \
	done

# make deb: a Debian package in $(O)/deb, of what is built, by debhelper and without a network.
# The recipe is etc/debian.
deb: programs $(MANUALS)
	@etc/debian/build $(CURDIR) $(O) $(VERSION)

# make check-deb: lintian on the package, and its life in a fresh root: installed, its demo run,
# removed. Needs root for that, and the packages of etc/packages-release.
check-deb: deps
	@etc/install-packages.sh etc/packages-release
	@$(MAKE) --no-print-directory deb
	@MUST_RUN=1 TIMEOUT=1800 tests/run $(O) 'release/*'

.PHONY: install uninstall deb check-deb
