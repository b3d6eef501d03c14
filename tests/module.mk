# Tests: `make check` runs every tests/*/*.sh and every unit test in $(TEST_PROGRAMS).

check: deps
	@$(MAKE) --no-print-directory programs test-programs
	@tests/run $(O) $(T)

.PHONY: check
