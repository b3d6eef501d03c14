# Sourced: the contexts in which a program is started through stablerun. context NAME
# COMMAND... runs it in one; files go to the directory output, that anyone can write to.
# $stablerun is to be a path that the user nobody can execute.

big=$(head -c 20000 /dev/zero | tr '\0' x)
huge=$(head -c 100000 /dev/zero | tr '\0' x)

with_variables() {
	count=$1
	shift
	for ((i = 0; i < count; i++)); do export "VARIABLE_$i=$i"; done
	exec "$@"
}

in_gdb() {
	shell=$1
	shift
	# "run" takes the arguments anew.
	arguments=$([ $# -eq 1 ] || printf '%q ' "${@:2}")
	env SHELL="$shell" LINES=24 COLUMNS=80 gdb -q -nx -batch \
		-iex 'set debuginfod enabled off' -ex "set exec-wrapper $stablerun --" \
		-ex 'break main' -ex "run $arguments>output/gdb" -ex continue "$1" >gdb.log 2>&1
	# Stopped in main once, and went on to its end.
	[ "$(grep -c '^Breakpoint 1, ' gdb.log)" -eq 1 ] || { cat gdb.log; return 1; }
	cat output/gdb
}

under_perf() {
	perf record -q -e cpu-clock:u -o output/perf.data -- "$@" 2>perf.log || {
		cat perf.log
		return 1
	}
}

context() {
	name=$1
	shift
	case $name in
	bash) bash -c '"$@"; exit' bash "$stablerun" -- "$@" ;;
	dash) dash -c '"$@"; exit' dash "$stablerun" -- "$@" ;;
	no-dashes) "$stablerun" "$@" ;;
	env-i) env -i "$stablerun" -- "$@" ;;
	20000-bytes) BIG=$big "$stablerun" -- "$@" ;;
	300000-bytes) (A=$huge B=$huge C=$huge; export A B C; exec "$stablerun" -- "$@") ;;
	1-variable) (with_variables 1 "$stablerun" -- "$@") ;;
	2-variables) (with_variables 2 "$stablerun" -- "$@") ;;
	101-variables) (with_variables 101 "$stablerun" -- "$@") ;;
	perf) under_perf "$stablerun" -- "$@" ;;
	gdb-sh) in_gdb /bin/sh "$@" ;;
	gdb-bash) in_gdb /bin/bash "$@" ;;
	setsid) setsid -w "$stablerun" -- "$@" ;;
	nobody) as_nobody "$stablerun" -- "$@" ;;
	unlimited-stack) (ulimit -s unlimited; exec "$stablerun" -- "$@") ;;
	small-stack) (ulimit -Ss 1024; exec "$stablerun" -- "$@") ;;
	no-stdin) "$stablerun" -- "$@" <&- ;;
	setarch-R) setarch -R "$stablerun" -- "$@" ;;
	nested) "$stablerun" -- "$stablerun" -- "$@" ;;
	esac
}
