/* Emission, by running what was emitted; the stencils are in emit_test_stencils.c. */
#include "jit/emit.h"

#include "jit/codemem.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uintptr_t emit_test_helper(uintptr_t a, uintptr_t b);
uintptr_t emit_test_rare(uintptr_t a, uintptr_t b);
uintptr_t emit_test_sse(double value);

static int failures;
static struct codemem *memory;

#define check(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                     \
		}                                                                       \
	} while (0)

uintptr_t emit_test_helper(uintptr_t a, uintptr_t b)
{
	/* Faults where a stencil calls with a misaligned stack. */
	volatile double space[2] __attribute__((aligned(16))) = {1, 2};

	__asm__ volatile("movaps %0, %%xmm0"
			 :
			 : "m"(*(const double(*)[2])space)
			 : "xmm0");
	return a * 10 + b;
}

uintptr_t emit_test_rare(uintptr_t a, uintptr_t b)
{
	return emit_test_helper(a, b);
}

uintptr_t emit_test_sse(double value)
{
	return (uintptr_t)(value * 4);
}

static struct {
	const void *address;
	size_t size;
	char why[40];
	int count;
} logged;

void symbols_patch(struct symbols *symbols, const void *address, const void *bytes,
	size_t size, const char *why)
{
	(void)symbols;
	(void)bytes;
	logged.address = address;
	logged.size = size;
	snprintf(logged.why, sizeof(logged.why), "%s", why);
	logged.count++;
}

/* push rbp; mov rsp, rbp; push r12-r15; mov rdi, r15; xor r14d, r14d */
static const uint8_t prologue[] = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x41, 0x55, 0x41,
	0x56, 0x41, 0x57, 0x49, 0x89, 0xff, 0x45, 0x31, 0xf6};
/* mov r15, rax; pop r15-r12; pop rbp; ret */
static const uint8_t epilogue[] = {
	0x4c, 0x89, 0xf8, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0xc3};

static uintptr_t run(const void *code, uintptr_t argument)
{
	uintptr_t (*entry)(uintptr_t);

	memcpy(&entry, &code, sizeof(entry));
	return entry(argument);
}

static void begin(struct emit *e)
{
	emit_begin(e, memory);
	emit_bytes(e, prologue, sizeof(prologue));
}

static void *finish(struct emit *e)
{
	emit_bytes(e, epilogue, sizeof(epilogue));
	return emit_commit(e);
}

static void test_straight(struct emit *e)
{
	void *code;

	begin(e);
	emit_stencil(e, STENCIL_SET, &(struct emit_holes){.a = 0xfffffff0});
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 0x30});
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = (uint64_t)-5});
	code = finish(e);
	/* The trailing jumps are gone. */
	check(e->size == sizeof(prologue) + 6 + 7 + 7 + sizeof(epilogue));
	check(code && run(code, 0) == 0xfffffff0UL + 0x30 - 5);
	codemem_release(memory, code);
	begin(e);
	emit_stencil(e, STENCIL_SET64, &(struct emit_holes){.a = 0x123456789abcdef0});
	code = finish(e);
	check(code && run(code, 0) == 0x123456789abcdef0);
	codemem_release(memory, code);
}

static void test_loop(struct emit *e)
{
	int head;
	void *code;

	begin(e);
	head = emit_label(e);
	emit_stencil(e, STENCIL_SET_COUNTER, &(struct emit_holes){.a = 1000});
	emit_align(e, 16);
	emit_bind(e, head);
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 3});
	emit_stencil(e, STENCIL_LOOP, &(struct emit_holes){.target = head});
	code = finish(e);
	check((uintptr_t)emit_address(e, head) % 16 == 0);
	check(code && run(code, 5) == 3005);
	codemem_release(memory, code);
}

/* Forward references, CONT as a label, a jump, and code in the cold part. */
static void test_forward(struct emit *e)
{
	int out, cold, back;
	uint8_t *code;

	begin(e);
	out = emit_label(e);
	cold = emit_label(e);
	back = emit_label(e);
	emit_stencil(e, STENCIL_GUARD, &(struct emit_holes){.a = 77, .exit = cold});
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 1, .cont = out});
	emit_bytes(e, "\xcc", 1);
	emit_cold(e, true);
	emit_bind(e, cold);
	emit_stencil(e, STENCIL_SET, &(struct emit_holes){.a = 500});
	emit_stencil(e, STENCIL_COLD_WORK, &(struct emit_holes){.exit = out});
	emit_jump(e, back);
	emit_cold(e, false);
	emit_bind(e, back);
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 100});
	emit_bind(e, out);
	code = finish(e);
	check(code && run(code, 1) == 2);
	check(code && run(code, 77) == 601);
	check((uint8_t *)emit_address(e, cold) >= code + e->hot_size);
	check(e->size > e->hot_size);
	codemem_release(memory, code);
}

static void test_cold_block(struct emit *e)
{
	int out;
	void *code;

	begin(e);
	out = emit_label(e);
	emit_stencil(e, STENCIL_COLD_WORK, &(struct emit_holes){.exit = out});
	emit_bind(e, out);
	code = finish(e);
	check(stencil_table[STENCIL_COLD_WORK].cold_size > 0);
	check(e->hot_size == sizeof(prologue) + sizeof(epilogue) +
				     stencil_table[STENCIL_COLD_WORK].drop_size);
	check(code && run(code, 10) == 11);
	check(code && run(code, 2000) == 20007);
	codemem_release(memory, code);
}

static void test_calls(struct emit *e)
{
	void *code, *callee;

	begin(e);
	emit_stencil(e, STENCIL_HELPER, &(struct emit_holes){.a = 4});
	code = finish(e);
	check(code && run(code, 3) == 36);
	codemem_release(memory, code);
	begin(e);
	emit_stencil(e, STENCIL_SPILL, NULL);
	code = finish(e);
	check(code && run(code, 3) == (uintptr_t)(31 - 32));
	codemem_release(memory, code);
	begin(e);
	emit_stencil(e, STENCIL_FLOAT, NULL);
	code = finish(e);
	check(code && run(code, (uintptr_t)-4) == 1034);
	codemem_release(memory, code);
	emit_begin(e, memory);
	emit_bytes(e, "\x49\x83\xc7\x09\xc3", 5); /* add $9, %r15; ret */
	callee = emit_commit(e);
	begin(e);
	emit_stencil(e, STENCIL_CALL,
		&(struct emit_holes){.callee = emit_label_at(e, callee)});
	code = finish(e);
	check(code && run(code, 1) == 10);
	codemem_release(memory, code);
	codemem_release(memory, callee);
}

/* A label's address as data: the code loads its own first bytes. */
static void test_label_data(struct emit *e)
{
	int start;
	void *code;
	uint64_t first;

	emit_begin(e, memory);
	start = emit_label(e);
	emit_bind(e, start);
	emit_bytes(e, prologue, sizeof(prologue));
	emit_stencil(e, STENCIL_LOAD,
		&(struct emit_holes){.a = (uint64_t)start, .labels = 1 << HOLES_HOLE_A});
	code = finish(e);
	memcpy(&first, prologue, 8);
	check(code && run(code, 0) == first);
	codemem_release(memory, code);
}

static void test_patch(struct emit *e)
{
	struct emit_patch *points;
	void *code;
	int other;

	begin(e);
	other = emit_label(e);
	emit_bytes(e, "\x90", 1);
	emit_stencil(e, STENCIL_SET64,
		&(struct emit_holes){.a = 1, .patches = 1 << HOLES_HOLE_A, .tag = 9});
	emit_stencil(e, STENCIL_SET,
		&(struct emit_holes){.a = 2,
			.patches = 1 << HOLES_HOLE_A | 1 << HOLES_CONT,
			.tag = 10});
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 1});
	emit_bind(e, other);
	code = finish(e);
	check(code && run(code, 0) == 3);
	check(e->patch_count == 3);
	points = e->patchpoints;
	check(points[0].tag == 9 && points[1].tag == 10 && points[2].hole == HOLES_CONT);
	for (size_t i = 0; i < e->patch_count; i++) {
		uintptr_t at = (uintptr_t)points[i].point.address;

		check(at / 8 == (at + (i == 0 ? 7 : 3)) / 8);
	}
	check(patchpoint_get(&points[0].point) == 1);
	check(patchpoint_set(&points[1].point, 40, memory, NULL, "test") == 0);
	check(logged.address == points[1].point.address && logged.size == 4);
	check(strcmp(logged.why, "test") == 0 && logged.count == 1);
	check(patchpoint_get(&points[1].point) == 40);
	check(run(code, 0) == 41);
	check(patchpoint_set(&points[2].point, (uintptr_t)emit_address(e, other), memory,
		      NULL, "jump") == 0);
	check(patchpoint_get(&points[2].point) == (uintptr_t)emit_address(e, other));
	check(run(code, 0) == 40);
	check(patchpoint_set(&points[1].point, 1ULL << 32, memory, NULL, "big") == -1);
	check(errno == ERANGE && run(code, 0) == 40);
	codemem_fail(memory, 1);
	check(patchpoint_set(&points[1].point, 50, memory, NULL, "fails") == -1);
	check(run(code, 0) == 40);
	codemem_release(memory, code);
}

static void test_lines(struct emit *e)
{
	void *code;
	int out;

	begin(e);
	out = emit_label(e);
	emit_line(e, 10, 0, 1);
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 1});
	emit_line(e, 11, 2, 1);
	emit_line(e, 12, 3, 2);
	emit_stencil(e, STENCIL_COLD_WORK, &(struct emit_holes){.exit = out});
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 1});
	emit_line(e, 13, 4, 2);
	emit_bind(e, out);
	code = finish(e);
	check(e->line_count == 5);
	check(e->lines[0].offset == 0 && e->lines[0].line == 0);
	check(e->lines[1].offset == sizeof(prologue) && e->lines[1].line == 10);
	check(e->lines[2].line == 12 && e->lines[2].offset == sizeof(prologue) + 7);
	check(e->lines[3].line == 13);
	check(e->lines[4].line == 12 && e->lines[4].offset >= e->hot_size);
	codemem_release(memory, code);
}

/* Every failure leaves code memory as it was. */
static void test_failures(struct emit *e)
{
	size_t used = codemem_used(memory);
	int label, reached = 0;

	begin(e);
	label = emit_label(e);
	emit_stencil(e, STENCIL_LOOP, &(struct emit_holes){.target = label});
	check(!finish(e) && e->failure == EMIT_UNBOUND);
	check(strcmp(e->failed_at, "LOOP") == 0);
	begin(e);
	emit_stencil(e, STENCIL_GUARD, &(struct emit_holes){.a = 1});
	check(!finish(e) && e->failure == EMIT_UNBOUND);
	begin(e);
	emit_stencil(e, STENCIL_SET, &(struct emit_holes){.a = 1ULL << 32});
	check(!finish(e) && e->failure == EMIT_RANGE);
	begin(e);
	emit_stencil(e, STENCIL_ADD, &(struct emit_holes){.a = 1ULL << 31});
	check(!finish(e) && e->failure == EMIT_RANGE);
	begin(e);
	emit_stencil(e, STENCIL_CALL,
		&(struct emit_holes){.callee = emit_label_at(e, (void *)(1UL << 40))});
	check(!finish(e) && e->failure == EMIT_RANGE);
	for (unsigned i = 1; i <= 2; i++) {
		begin(e);
		codemem_fail(memory, i);
		check(!finish(e) && e->failure == EMIT_NO_CODE);
		codemem_fail(memory, 0);
	}
	for (unsigned i = 1; reached < 1; i++) {
		struct emit fresh = {0};
		void *code;
		int out;

		begin(&fresh);
		emit_fail(&fresh, i);
		out = emit_label(&fresh);
		for (int k = 0; k < 200; k++) {
			emit_line(&fresh, k + 1, 0, 0);
			emit_stencil(&fresh, STENCIL_COLD_WORK,
				&(struct emit_holes){
					.exit = out, .patches = 1 << HOLES_EXIT});
			if (out)
				emit_label(&fresh);
		}
		if (out)
			emit_bind(&fresh, out);
		code = finish(&fresh);
		check(!code == (fresh.failure != EMIT_OK));
		if (code) {
			codemem_release(memory, code);
			reached++;
			check(i > 5);
		}
		emit_release(&fresh);
	}
	check(codemem_used(memory) == used);
}

int main(void)
{
	struct emit e = {0};

	memory = codemem_new(CODEMEM_AUTO);
	test_straight(&e);
	test_loop(&e);
	test_forward(&e);
	test_cold_block(&e);
	test_calls(&e);
	test_label_data(&e);
	test_patch(&e);
	test_lines(&e);
	test_failures(&e);
	check(codemem_used(memory) == 0);
	emit_release(&e);
	codemem_free(memory);
	return failures ? 1 : 0;
}
