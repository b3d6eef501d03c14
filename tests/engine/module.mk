# make check-engine: runs made by GNU parallel over three loopback hosts and by a Slurm of one
# machine, against as many made here: ENGINE_RUNS= (60). Needs root, and installs what it needs.
check-engine: deps
	@etc/install-packages.sh etc/packages-engine
	@$(MAKE) --no-print-directory programs
	@MUST_RUN=1 ENGINE_RUNS=$(or $(ENGINE_RUNS),60) TIMEOUT=3600 JOBS=1 tests/run $(O) 'engine/*'

.PHONY: check-engine
