#!/bin/bash
# Where personality() is refused a program prints the same addresses whoever starts it and
# whatever kind of ELF it is, and they are those of --place=move outside of the filter.
#
# ROUNDS=14 runs each kind of program 210 times, in 15 contexts.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
# The machine's settings stay while this runs.
exec 9<"$TMP/.." && flock -s 9
rounds=${ROUNDS:-2}
big=$(head -c 20000 /dev/zero | tr '\0' x)

with_variables() {
	count=$1
	shift
	for ((i = 0; i < count; i++)); do export "VARIABLE_$i=$i"; done
	exec "$@"
}

context() {
	name=$1
	shift
	case $name in
	bash) bash -c '"$@"; exit' bash "$refuse" "$stablerun" -- "$@" ;;
	dash) dash -c '"$@"; exit' dash "$refuse" "$stablerun" -- "$@" ;;
	env-i) env -i "$refuse" "$stablerun" -- "$@" ;;
	20000-bytes) BIG=$big "$refuse" "$stablerun" -- "$@" ;;
	1-variable) (with_variables 1 "$refuse" "$stablerun" -- "$@") ;;
	101-variables) (with_variables 101 "$refuse" "$stablerun" -- "$@") ;;
	perf) "$refuse" perf record -q -e cpu-clock:u -o output/perf.data -- \
		"$stablerun" -- "$@" ;;
	setsid) setsid -w "$refuse" "$stablerun" -- "$@" ;;
	nobody) as_nobody "$refuse" "$stablerun" -- "$@" ;;
	unlimited-stack) (ulimit -s unlimited; exec "$refuse" "$stablerun" -- "$@") ;;
	no-stdin) "$refuse" "$stablerun" -- "$@" <&- ;;
	outside) "$stablerun" --place=move -- "$@" ;;
	outside-nobody) as_nobody "$stablerun" --place=move -- "$@" ;;
	gdb) timeout 300 "$refuse" "$stablerun" gdb --gdb=./quiet-gdb -- "$@" <<-'END' ;;
		set debuginfod enabled off
		set confirm off
		continue
	END
	setarch-R) setarch -R "$stablerun" --place=move -- "$@" ;;
	esac
}

# The program has its output for itself: what gdb says goes elsewhere.
cat >quiet-gdb <<'END'
#!/bin/sh
[ "$1" != --configuration ] || exec gdb "$@"
exec gdb "$@" >gdb.log 2>&1
END
chmod 755 quiet-gdb

agrees() {
	for round in $(seq "$2"); do
		context "$1" ./probe >output/now 2>output/err || {
			cat output/err
			return 1
		}
		diff output/reference output/now || return 1
	done
	# Neither says anything of its own accord: perf of what it wrote, gdb of its extension,
	# which does not lie beside this copy.
	! grep -v -e '^\[ perf record' -e 'gdb extension not found' output/err
}

# What is put at the kernel's own places, and what is shifted by one constant.
compares() {
	/usr/bin/python3 - output/moved output/personality "$1" <<'END'
import sys
def read(path):
    return dict(line.rsplit(None, 1) for line in open(path))
moved, plain, kind = read(sys.argv[1]), read(sys.argv[2]), sys.argv[3]
shifts = {name: int(plain[name], 16) - int(moved[name], 16) for name in plain}
mapped = {"mmap", "mmap 2M", "vdso", "thread"}
if kind != "muslstatic":
    mapped.add("malloc 1M")
if kind in ("pie", "nopie", "musl"):
    mapped |= {"libc", "ld.so"}
if kind == "staticpie":
    mapped |= {"libc", "entry", "main", "bss"}
wanted = {name: 0x10400000000 if name in mapped else 0 for name in plain}
print({name: (hex(shifts[name]), hex(wanted[name])) for name in plain
       if shifts[name] != wanted[name]})
sys.exit(shifts != wanted or moved.keys() != plain.keys() or len(plain) < 18)
END
}

for kind in pie nopie static staticpie musl muslstatic; do
	if ! build_probe $kind probe; then
		echo "SKIP: $kind: no compiler for it"
		continue
	fi
	"$refuse" "$stablerun" -- ./probe >output/reference
	"$refuse" "$stablerun" -- ./probe strings >output/moved
	"$stablerun" --place=personality -- ./probe strings >output/personality
	for name in bash dash env-i 20000-bytes 1-variable 101-variables perf setsid nobody \
		unlimited-stack no-stdin outside outside-nobody setarch-R gdb; do
		check "$kind $name" agrees "$name" "$rounds"
	done
	check "$kind against a personality run" compares "$kind"
done
finish
