#!/bin/sh
# A short run of each fuzz target of annotate's readers; `make fuzz_NAME` runs them longer.
. "$SRC/tests/lib.sh"
need clang clang
echo 'int main(void) { return 0; }' >probe.c
clang -fsanitize=fuzzer-no-link,address probe.c -o probe 2>err ||
	skip "clang has no sanitizers here (package libclang-rt-14-dev): $(head -n 1 err)"

# AddressSanitizer does not bear some settings of the machine, which place/machine.sh changes.
exec 9<"$TMP/.." && flock -s 9
make -C "$SRC" --no-print-directory -j2 O="$TMP/build" fuzz-programs >make.log 2>&1 ||
	fail "$(tail -n 20 make.log)"
for name in perfdata jitdump perfmap patches elf; do
	"$SRC/tests/fuzz/run" "$TMP/build/fuzz" $name "${FUZZ_SECONDS:-5}" || fail "$name"
done
