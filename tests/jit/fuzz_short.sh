#!/bin/sh
# A short run of `make fuzz-jit`: random programs print under the jit what they print under
# python3, cold, compiled at once, and with every guard failing.
. "$SRC/tests/lib.sh"
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$SRC/tests/jit/fuzz/fuzz.py" -n 25 --seed 1000 --options= \
	"--options=--threshold=1 --tier2=9" "--options=--threshold=3 --tier2=20" \
	"--options=--threshold=1 --tier2=9 --stress=deopt" "$BUILD/jit"

# It would see a difference: under another hash seed or a wrong answer, say.
cat >wrong <<'EOF'
#!/bin/sh
/usr/bin/python3 "$@" | sed 's/39/40/'
EOF
chmod +x wrong
expect 1 /usr/bin/python3 "$SRC/tests/jit/fuzz/fuzz.py" -n 20 --seed 5 --most 1 --whole ./wrong
grep -q '^--- program' out || fail "no difference shown: $(cat out)"
