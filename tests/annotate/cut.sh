#!/bin/sh
# A perf.data or a jitdump that is cut at any byte: no crash, and the cut is told in words and
# by the status, as it is where nothing usable is left.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
build minijit
cut_each=$BUILD/obj/tests/annotate/cut_each

RATE='-F 500' record small.data -e cpu-clock:u -e page-faults --call-graph fp -- ./minijit move 5
"$cut_each" perf small.data >cuts 2>warnings || fail "cut perf.data: $(tail -n 3 warnings)"
tail -n 1 cuts
grep -q ' 0 not told' cuts || fail "a cut perf.data was taken for a whole one: $(cat cuts)"

# A jitdump has no end mark: the cuts between its records are the ones that cannot be told.
# There are 2 loads with their lines, and a move; behind the header and each of them.
"$cut_each" dump jit-*.dump >cuts 2>warnings || fail "cut jitdump: $(tail -n 3 warnings)"
tail -n 1 cuts
grep -q ' 5 not told' cuts || fail "cuts of a jitdump: $(cat cuts)"

# A pipe's recording neither.
perf record -q -F 500 -e cpu-clock:u -z -o - -- ./minijit two 5 >pipe.data 2>err
"$cut_each" perf pipe.data >cuts 2>warnings || fail "cut pipe: $(tail -n 3 warnings)"
tail -n 1 cuts

# What the user sees.
size=$(stat -c %s small.data)
head -c 50 small.data >cut.data
expect 2 "$annotate" cut.data
grep -q "^annotate: cannot read 'cut.data': the file is cut in its header: 50 of 104 bytes" err ||
	fail "header: $(cat err)"
head -c $((size * 2 / 3)) small.data >cut.data
expect 1 "$annotate" cut.data
grep -q "^annotate: 'cut.data': the file is cut in .* at byte" err || fail "records: $(cat err)"
grep -q ' samples' out || fail "nothing was shown"
: >empty.data
expect 2 "$annotate" empty.data
grep -q "cannot read 'empty.data': it is empty" err || fail "empty: $(cat err)"
expect 2 "$annotate" no.data
grep -q "cannot read 'no.data': No such file or directory" err || fail "missing: $(cat err)"
expect 2 "$annotate" minijit
grep -q "cannot read 'minijit': it is no perf.data file" err || fail "other: $(cat err)"
mkdir perfdir && : >perfdir/data
expect 2 "$annotate" perfdir
grep -q "directory format" err || fail "directory: $(cat err)"

# A cut jitdump beside a whole recording: shown, with status 1.
rm jit-*.dump
record whole.data -e cpu-clock:u -- ./minijit two 20
set -- jit-*.dump
size=$(stat -c %s "$1")
truncate -s $((size - 10)) "$1"
expect 1 "$annotate" whole.data
grep -q "jit-.*dump': .* in a record at byte [0-9]* of $((size - 10)); 1 code object" err ||
	fail "jitdump: $(cat err)"
grep -q 'jit  *adds' out || fail "the object before the cut is not shown: $(cat out)"
truncate -s 20 "$1"
expect 1 "$annotate" whole.data
grep -q "cannot read '.*dump': it is cut in its header: 20 of 40 bytes" err ||
	fail "jitdump header: $(cat err)"
rm "$1"
expect 0 "$annotate" whole.data
grep -q "the jitdump '.*dump' of process [0-9]* is gone" err || fail "gone: $(cat err)"
