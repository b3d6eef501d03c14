#!/bin/bash
# Settings of the whole machine that change where programs go or who may trace them: as root
# each is set for a moment and restored, where it can be.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
$sanitized && skip "this stablerun is built with AddressSanitizer, which these settings break"
build_probe pie probe
chmod 755 probe refuse
kernel=/proc/sys
"$stablerun" --place=move -- ./probe >output/reference

restore() {
	while [ ${#saved[@]} -gt 0 ]; do
		echo "${saved[-1]#*=}" >"${saved[-1]%%=*}"
		unset 'saved[-1]'
	done
}
saved=()
trap restore EXIT

# set_to FILE VALUE: false where there is no such setting or it is not ours to change.
set_to() {
	[ -w "$kernel/$1" ] || return 1
	saved+=("$kernel/$1=$(cat "$kernel/$1")")
	{ echo "$2" >"$kernel/$1"; } 2>/dev/null
}

# Sanitized programs do not run under these settings: tests that have some wait.
exec 9<"$TMP/.." && flock 9

# With 32 random bits all that is mapped is lower by one constant, for everybody.
wide() {
	"$refuse" "$stablerun" -- ./probe >output/wide.root || return 1
	for round in 1 2 3 4 5; do
		# A parent that was started under the setting too.
		as_nobody "$refuse" sh -c '"$@"; :' sh "$stablerun" -- ./probe \
			>output/wide.$round || return 1
	done
	[ "$(distinct output/wide.*)" -eq 1 ] || return 1
	/usr/bin/python3 - output/reference output/wide.root <<'END'
import sys
usual, wide = (dict(line.rsplit(None, 1) for line in open(path)) for path in sys.argv[1:])
shifts = {int(usual[name], 16) - int(wide[name], 16) for name in usual}
print({name: (usual[name], wide[name]) for name in usual})
sys.exit(shifts != {0, 0xf0000000000})
END
}
if set_to vm/mmap_rnd_bits 32; then
	check "mmap_rnd_bits = 32" wide
else
	echo "SKIP: mmap_rnd_bits = 32: cannot be set here"
fi
restore

# Nothing may be promised that memory does not suffice for; what is inaccessible is no promise.
strict() {
	"$refuse" "$stablerun" -- ./probe >output/strict || return 1
	diff output/reference output/strict
}
if set_to vm/overcommit_ratio 10000 && set_to vm/overcommit_memory 2; then
	check "overcommit_memory = 2" strict
else
	echo "SKIP: overcommit_memory = 2: cannot be set here"
fi
restore

# Yama: 1 lets a process be traced by whom it names, 2 by administrators only.
yama() {
	as_nobody "$refuse" "$stablerun" -- ./probe >output/yama 2>output/err
	status=$?
	cat output/err
	[ $status -eq 0 ] || return 1
	if [ "$1" -eq 1 ]; then
		diff output/reference output/yama
	else
		grep '^stablerun: warning: .*traces it: Operation not permitted' output/err
	fi
}
for scope in 1 2; do
	if set_to kernel/yama/ptrace_scope $scope; then
		check "Yama's ptrace_scope = $scope" yama $scope
	else
		echo "SKIP: Yama's ptrace_scope = $scope: this kernel has no Yama, or it is not to be set"
	fi
	restore
done
finish
