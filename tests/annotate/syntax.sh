#!/bin/sh
# Instructions read as objdump writes them, in both syntaxes: compared over whole libraries,
# except for what capstone does not know.
. "$SRC/tests/lib.sh"
need objdump binutils
disassemble=$BUILD/obj/tests/annotate/disassemble
library=$(ldd "$(command -v perf || command -v ls)" | awk '$1 ~ /^libc\.so/ { print $3 }')
[ -e "$library" ] || skip "no libc.so to disassemble"

cat >compare.py <<'COMPARE'
import collections, re, sys
theirs, intel = {}, sys.argv[1] == "intel"
for line in open("objdump.txt"):
    found = re.match(r" +([0-9a-f]+):\t(.*)", line)
    if found:
        text = re.sub(r" *<[^>]*>|\s+#.*", "", found[2])
        theirs[found[1]] = re.sub(r"\s+", " ", text).strip()
jumps = re.compile(r"^((?:bnd |notrack )?(?:j[a-z]+|call|loop\w*|xbegin)) 0x([0-9a-f]+)$")
same, all_, kinds, unknown = 0, 0, collections.Counter(), 0
for line in open("ours.txt"):
    address, size, text = line.rstrip("\n").split(" ", 2)
    text = re.sub(r"\s+", " ", text).strip()
    if address not in theirs:
        kinds["no instruction at " + address] += 1
        continue
    if text.startswith(".byte"):
        unknown += 1
        continue
    all_ += 1
    text, wanted = jumps.sub(r"\1 \2", text), theirs[address]
    if intel: # the mnemonic is enough: the two have their own ways with numbers
        text, wanted = text.split()[0], wanted.split()[0]
    if text == wanted:
        same += 1
    else:
        kinds[f"{wanted} | {text}"] += 1
print(f"{same} of {all_} instructions read alike, {unknown} are not known")
for kind, count in kinds.most_common(5):
    print(f"  {count} {kind}")
share = same / max(all_, 1)
sys.exit(not (all_ > 10000 and share > (0.98 if intel else 0.999) and unknown < 0.02 * all_))
COMPARE
for syntax in att intel; do
	objdump -d --no-show-raw-insn -M $syntax -j .text "$library" >objdump.txt
	"$disassemble" "$library" .text $syntax >ours.txt
	if /usr/bin/python3 compare.py $syntax; then
		echo "PASS: $syntax"
	else
		echo "FAIL: $syntax"
	fi
done
