#!/bin/sh
# A short run of `make fuzz-jit`: random programs print under the jit what they print under
# python3, cold, compiled at once, and with every guard failing.
. "$SRC/tests/lib.sh"
export PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 "$SRC/tests/jit/fuzz/fuzz.py" -n 25 --seed 1000 --options= \
	"--options=--threshold=1 --tier2=9" "--options=--threshold=3 --tier2=20" \
	"--options=--threshold=1 --tier2=9 --stress=deopt" "$BUILD/jit"

# It would see a difference: a print() that does not tell the truth, say.
cat >wrong.py <<'EOF'
import builtins
import runpy
import sys


def wrong(*values, **named):
    right(*[str(value).replace("39", "40") for value in values], **named)


right, builtins.print = builtins.print, wrong
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
EOF
printf '#!/bin/sh\nexec /usr/bin/python3 "%s/wrong.py" "$@"\n' "$PWD" >wrong
chmod +x wrong
expect 1 /usr/bin/python3 "$SRC/tests/jit/fuzz/fuzz.py" -n 20 --seed 5 --most 1 --whole ./wrong
grep -q '^--- program' out || fail "no difference shown: $(cat out)"
