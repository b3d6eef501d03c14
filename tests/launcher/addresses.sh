#!/bin/bash
# One program prints the same addresses whoever starts it: shells, an empty or a big
# environment, perf, gdb, another session, another user; and whatever kind of ELF it is.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
need gdb gdb
need perf linux-perf

# Everything must be reachable for nobody.
cp "$stablerun" stablerun
stablerun=$TMP/stablerun
mkdir -m 777 output
. "$SRC/tests/launcher/lib-contexts.sh"
contexts="bash dash no-dashes env-i 20000-bytes 1-variable 2-variables 101-variables perf
	gdb-sh gdb-bash setsid nobody unlimited-stack small-stack no-stdin setarch-R nested"

agrees() {
	context "$1" "$2" >"output/$1" || return 1
	diff output/reference "output/$1"
}

for kind in pie nopie static staticpie musl muslstatic; do
	if ! build_probe $kind probe; then
		echo "SKIP: $kind: no compiler for it"
		continue
	fi
	"$stablerun" -- ./probe >output/reference
	[ "$(wc -l <output/reference)" -eq 15 ] || fail "the probe printed too little"
	for name in $contexts; do
		check "$kind $name" agrees "$name" ./probe
	done
	check "$kind absolute" agrees bash "$TMP/probe"
	check "$kind along-PATH" env PATH="$TMP:$PATH" bash -c \
		'"$0" -- probe | diff output/reference -' "$stablerun"
done

# The layout is the kernel's own without randomisation, not one of ours: only the stack may
# differ from what setarch -R gives.
build_probe pie probe
moved() {
	"$stablerun" -- ./probe | grep -v -e local -e argv -e envp >output/ours
	(ulimit -Ss 8192; exec setarch -R ./probe) |
		grep -v -e local -e argv -e envp >output/theirs
	diff output/theirs output/ours
}
check "as setarch -R" moved

# What is beyond 32 KiB lands on another step, by a whole number of pages.
steps() {
	small=$("$stablerun" -- ./probe | awk '$1 == "local" { print $2 }')
	large=$(context 300000-bytes ./probe | awk '$1 == "local" { print $2 }')
	[ $(((small - large) % 4096)) -eq 0 ] && [ "$small" != "$large" ]
}
check "300000 bytes" steps

# A script's child, and a child of a child, however many variables there are.
printf '#!/bin/sh\n./probe\n' >script
chmod 755 script
"$stablerun" ./script >output/reference
for name in bash dash env-i 1-variable 2-variables 101-variables 20000-bytes nobody; do
	check "child $name" agrees "$name" ./script
done
finish
