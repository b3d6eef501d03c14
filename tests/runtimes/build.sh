#!/bin/sh
# build.sh DIR: compiles the scripts that have to be compiled into DIR, then prints a line
# "NAME<tab>COMMAND" for each runtime that is installed; a runtime that is not prints
# "NAME<tab>".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

# row NAME COMMAND...: the row of a runtime whose first word is to be there.
row() {
	name=$1
	shift
	if command -v "$1" >/dev/null; then
		printf '%s\t%s\n' "$name" "$*"
	else
		printf '%s\t\n' "$name"
	fi
}

row node node "$here/hot.js"
row luajit luajit "$here/hot.lua"
row pypy pypy3 "$here/hot.py"
row php php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing \
	"$here/hot.php"
row guile guile "$here/hot.scm"
row ruby ruby --yjit "$here/hot.rb"
row jit "${BUILD:-build}/jit" --threshold=1 "$here/hot.py"
if command -v javac >/dev/null; then
	javac -d "$out" "$here/Hot.java"
	row java java -cp "$out" Hot
else
	row java javac
fi
if command -v mcs >/dev/null; then
	mcs -out:"$out/hot.exe" "$here/hot.cs"
	row mono mono "$out/hot.exe"
else
	row mono mcs
fi
if command -v erlc >/dev/null; then
	erlc -o "$out" "$here/hot.erl"
	row erlang erl -noshell -pa "$out" -run hot main
else
	row erlang erlc
fi
cc -O1 -static -o "$out/hot" "$here/hot.c"
row qemu-user qemu-x86_64 "$out/hot"
