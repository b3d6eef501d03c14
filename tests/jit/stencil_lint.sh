#!/bin/sh
# stencil_cut refuses each kind of bad stencil, with its name, the offset and the reason.
. "$SRC/tests/lib.sh"

# stencil NAME: the assembly on stdin becomes op_NAME in NAME.o.
stencil() {
	{
		echo ".section .text.op_$1,\"ax\",@progbits"
		echo ".globl op_$1"
		echo ".type op_$1, @function"
		echo "op_$1:"
		cat
	} >"$1.s"
	gcc -c -o "$1.o" "$1.s"
}

# refuses NAME OFFSET TEXT: stencil_cut fails, writes nothing, and says so in one of its lines.
refuses() {
	expect 1 "$BUILD/obj/jit/stencil_cut" "$1.h" "$1.o"
	grep -qF "stencil_cut: op_$1+$2: $3" err || {
		cat err >&2
		fail "op_$1 was not refused for: $3"
	}
	[ ! -e "$1.h" ] || fail "op_$1 was refused, and yet written"
}

stencil GOOD <<'END'
	sub $24, %rsp
	call helper
	add $24, %rsp
	test %eax, %eax
	je 1f
	jmp TARGET
1:	movabs $HOLE_A, %rax
	jmp CONT
END
expect 0 "$BUILD/obj/jit/stencil_cut" good.h GOOD.o
grep -q 'frame padded from 24 to 32' good.h || fail "the frame was not padded"
grep -q 'movabsq $0x0, %rax \[HOLE_A\]' good.h || fail "no disassembly"

stencil RET <<'END'
	ret
END
refuses RET 0x0 'returns'

stencil RBP <<'END'
	nop
	mov %rsp, %rbp
	jmp CONT
END
refuses RBP 0x1 'writes rbp'

stencil EBP <<'END'
	xor %ebp, %ebp
	jmp CONT
END
refuses EBP 0x0 'writes rbp'

stencil POPRBP <<'END'
	push %rax
	pop %rbp
	jmp CONT
END
refuses POPRBP 0x1 'writes rbp'

stencil LEAVE <<'END'
	leave
	jmp CONT
END
refuses LEAVE 0x0 'writes rbp'

stencil CALLCONT <<'END'
	sub $16, %rsp
	call CONT
	add $16, %rsp
	jmp TARGET
END
refuses CALLCONT 0x4 "calls continuation 'CONT'"

stencil CALLDATA <<'END'
	call HOLE_A
	jmp CONT
END
refuses CALLDATA 0x0 "calls data hole 'HOLE_A'"

stencil TAIL <<'END'
	jmp PyNumber_Add
END
refuses TAIL 0x0 "jumps to 'PyNumber_Add'"

stencil GOT <<'END'
	mov PyLong_Type@GOTPCREL(%rip), %rax
	jmp CONT
END
refuses GOT 0x3 'unknown relocation'

stencil ABS8 <<'END'
	mov $HOLE_A, %al
	jmp CONT
END
refuses ABS8 0x1 'unknown relocation'

stencil UNKNOWN_HOLE <<'END'
	mov $HOLE_Z, %eax
	jmp CONT
END
refuses UNKNOWN_HOLE 0x1 "'HOLE_Z' is not in jit/holes.h"

stencil RIP <<'END'
	mov 8(%rip), %rax
	jmp CONT
END
refuses RIP 0x0 'refers to data beside itself'

stencil TABLE <<'END'
	jmp *table(,%rax,8)
	.section .rodata
table:	.quad CONT, TARGET
	.text
END
refuses TABLE 0x3 'refers to a table of addresses'

stencil INDIRECT <<'END'
	jmp *(,%rax,8)
END
refuses INDIRECT 0x0 'jumps through a table'

stencil DATA <<'END'
	mov counter(%rip), %rax
	jmp CONT
	.data
counter: .quad 0
END
refuses DATA 0x3 "refers to data in section '.data'"

stencil PUSH <<'END'
	push %rax
	jmp CONT
END
refuses PUSH 0x1 'leaves with 8 bytes on the stack'

stencil POP <<'END'
	pop %rax
	jmp CONT
END
refuses POP 0x0 'takes more from the stack than it put'

stencil UNBALANCED <<'END'
	test %eax, %eax
	je 1f
	sub $16, %rsp
1:	add $16, %rsp
	jmp CONT
END
refuses UNBALANCED 0x8 'the stack is'

stencil SETRSP <<'END'
	and $-16, %rsp
	jmp CONT
END
refuses SETRSP 0x0 'sets rsp'

stencil MISALIGNED <<'END'
	push %rbx
	call helper
	pop %rbx
	jmp CONT
END
refuses MISALIGNED 0x1 'calls with the stack off by 8 bytes'

stencil FALLS <<'END'
	nop
END
refuses FALLS 0x0 'runs past the end'

stencil FALLS_COND <<'END'
	test %eax, %eax
	je TARGET
END
refuses FALLS_COND 0x2 'runs past the end'

stencil MIDDLE <<'END'
	.byte 0xeb, 0x01
	mov $1, %eax
	jmp CONT
END
refuses MIDDLE 0x0 'jumps into the middle'

stencil OPERAND <<'END'
	nop
	.reloc .-1, R_X86_64_32, HOLE_A
	nop
	nop
	nop
	jmp CONT
END
refuses OPERAND 0x0 "the relocation against 'HOLE_A' is no operand"

stencil ODD_CONT <<'END'
	jmp CONT+3
END
refuses ODD_CONT 0x0 'jumps past the start of continuation'

cat >static.c <<'END'
__attribute__((noinline, used)) static int local(int x) { return x * 3; }
END
gcc -O2 -ffunction-sections -c -o static.o static.c
expect 1 "$BUILD/obj/jit/stencil_cut" static.h static.o
grep -q "code in section '.text.local' is no stencil" err || fail "a stray function was taken"

expect 1 "$BUILD/obj/jit/stencil_cut" text.h static.c
grep -q "'static.c' is not an object file" err || fail "C text was taken for an object"
expect 1 "$BUILD/obj/jit/stencil_cut" none.h no-such-file.o
grep -q "cannot open 'no-such-file.o': No such file" err || fail "a missing file"
