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
	$(foreach page,$(wildcard launcher/*.1 annotate/*.1 jit/*.1), \
		644:$(page):$(MANDIR)/man1/$(notdir $(page))) \
	644:etc/completions/stablerun.bash:$(DATADIR)/bash-completion/completions/stablerun \
	644:etc/completions/_stablerun:$(DATADIR)/zsh/site-functions/_stablerun \
	$(foreach rule,$(wildcard etc/rules/*.rule), \
		644:$(rule):$(DATADIR)/stablerun/rules/$(notdir $(rule))) \
	$(foreach profile,$(wildcard etc/seccomp/*.json), \
		644:$(profile):$(DATADIR)/stablerun/seccomp/$(notdir $(profile))) \
	$(foreach module,$(sort $(shell find launcher/gdb -name '*.py')), \
		644:$(module):$(DATADIR)/stablerun/$(patsubst launcher/%,%,$(module)))

# Directories that are only ours, deepest first.
INSTALLED_DIRS = $(addprefix $(DATADIR)/stablerun/,gdb/stablerun gdb rules seccomp) $(DATADIR)/stablerun

install: programs
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

.PHONY: install uninstall
