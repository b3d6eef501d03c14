#!/bin/sh
# code.elf, as other people's tools read it: the final bytes, names, lines, and no complaints.
. "$SRC/tests/lib.sh"
need objdump binutils
need gdb gdb
driver=$BUILD/obj/jit/symbols_driver

expect 0 "$driver" 1 . load patch close
pid=$(sed -n 's/^pid //p' out)
elf=jit-$pid.elf
rm -f "/tmp/perf-$pid.map"
[ -z "$(ls -A | grep '\.tmp$')" ] || fail "a temporary file is left"

readelf -aW "$elf" >readelf.out 2>readelf.err
[ ! -s readelf.err ] || fail "readelf: $(cat readelf.err)"
readelf --debug-dump=info,line,frames,aranges,Ranges "$elf" >dwarf.out 2>dwarf.err
[ ! -s dwarf.err ] || fail "readelf --debug-dump: $(cat dwarf.err)"
grep -q 'LOAD .* 0x0000000060000000 .* R E' readelf.out || fail "no segment at the code"

nm "$elf" >nm.out
cat >nm.want <<'END'
0000000060000000 T driver.inner (driver_source.py:5)
00000000600000a0 T driver.outer (driver_source.py:19) [optimised]
END
same nm.want nm.out

# The bytes after the patch, between the lines they came from.
objdump -dl "$elf" >objdump.out
grep -q '60000004:.b8 e8 03 00 00 .*mov *\$0x3e8,%eax' objdump.out ||
	fail "objdump does not show the patched constant"
[ "$(grep -c ' cc  ' objdump.out)" -lt 64 ] || fail "the room between functions is shown"

# line ADDRESS: by binutils, then by gdb.
while read -r address line; do
	got=$(addr2line -e "$elf" "$address")
	[ "$got" = "/tmp/driver_source.py:$line" ] ||
		fail "addr2line: $address is at $got, not line $line"
	gdb -nx -q -batch -ex "info line *$address" "$elf" >gdb.out 2>&1
	grep -q "Line $line of \"/tmp/driver_source.py\"" gdb.out || {
		cat gdb.out >&2
		fail "gdb: $address is not at line $line"
	}
done <<'END'
0x60000000 5
0x60000004 6
0x60000009 7
0x6000000d 8
0x60000014 9
0x600000a0 19
0x600000b2 20
0x600000b8 21
END
case $(addr2line -e "$elf" 0x60000040) in
'??:'*) ;;
*) fail "a line between two functions" ;;
esac

# The frame's description: at the entry, in the body, at the ret.
readelf --debug-dump=frames-interp "$elf" >frames.out
awk '/pc=0*60000000\.\./ { on = 1; next } /pc=/ { on = 0 } on && /^0*6/ { print $1, $2 }' \
	frames.out | sed 's/^0*//' >frames.got
cat >frames.want <<'END'
60000000 rsp+8
60000001 rsp+16
60000004 rbp+16
60000014 rsp+8
60000015 rbp+16
END
same frames.want frames.got
