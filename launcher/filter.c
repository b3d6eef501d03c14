/* The seccomp filter, from a table: a row for each system call, or each use of one. */
#include "launcher/filter.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "launcher/base.h"

/* Missing in older headers; include/uapi/linux/mman.h, asm-generic/mman-common.h. */
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* When a call is asked about: always, or by the low half of one argument; in some rows only
 * if another argument, a pointer, is not NULL. */
enum condition { ALWAYS, EQUAL, ANY_BIT, NO_BIT };

enum { ALL = FILTER_SEED | FILTER_CODE | FILTER_CLOCK };

static const struct row {
	uint32_t number;
	uint8_t wants;
	uint8_t condition;
	uint8_t argument;
	uint32_t value;
	uint8_t pointer; /* its number; 0: none has to be there */
} rows[] = {
	/* Who is who: each new thread, process and image, before it is there. */
	{SYS_clone, ALL, ALWAYS, 0, 0, 0},
	{SYS_clone3, ALL, ALWAYS, 0, 0, 0},
	{SYS_fork, ALL, ALWAYS, 0, 0, 0},
	{SYS_vfork, ALL, ALWAYS, 0, 0, 0},
	{SYS_execve, ALL, ALWAYS, 0, 0, 0},
	{SYS_execveat, ALL, ALWAYS, 0, 0, 0},
	{SYS_exit, ALL, ALWAYS, 0, 0, 0},
	{SYS_exit_group, ALL, ALWAYS, 0, 0, 0},
	/* A new image: setting FS comes before the canary and the pointer guard are made;
	 * brk(0), before clocks are looked up, is the first call of glibc's ld.so and of its
	 * static programs. */
	{SYS_brk, FILTER_CLOCK, EQUAL, 0, 0, 0},
	{SYS_arch_prctl, ALL, EQUAL, 0, ARCH_SET_FS, 0},
	/* Waits until a time, see answer_clock.c. */
	{SYS_futex, FILTER_CLOCK, EQUAL, 1, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 3},
	{SYS_futex, FILTER_CLOCK, EQUAL, 1, FUTEX_WAIT_BITSET, 3},
	{SYS_clock_nanosleep, FILTER_CLOCK, EQUAL, 1, TIMER_ABSTIME, 0},
	/* Randomness. */
	{SYS_getrandom, FILTER_SEED, ALWAYS, 0, 0, 0},
	{SYS_open, FILTER_SEED, ALWAYS, 0, 0, 0},
	{SYS_openat, FILTER_SEED, ALWAYS, 0, 0, 0},
	{SYS_openat2, FILTER_SEED, ALWAYS, 0, 0, 0},
	/* Every way in which code goes away. */
	{SYS_munmap, FILTER_CODE, ALWAYS, 0, 0, 0},
	{SYS_mremap, FILTER_CODE, ALWAYS, 0, 0, 0},
	{SYS_shmdt, FILTER_CODE, ALWAYS, 0, 0, 0},
	{SYS_mprotect, FILTER_CODE, NO_BIT, 2, PROT_EXEC, 0},
	{SYS_pkey_mprotect, FILTER_CODE, NO_BIT, 2, PROT_EXEC, 0},
	{SYS_mmap, FILTER_CODE, ANY_BIT, 3, MAP_FIXED, 0},
	{SYS_shmat, FILTER_CODE, ANY_BIT, 2, 040000 /* SHM_REMAP */, 0},
	{SYS_madvise, FILTER_CODE, EQUAL, 2, MADV_DONTNEED, 0},
	{SYS_madvise, FILTER_CODE, EQUAL, 2, MADV_FREE, 0},
	{SYS_madvise, FILTER_CODE, EQUAL, 2, MADV_REMOVE, 0},
	{SYS_madvise, FILTER_CODE, EQUAL, 2, MADV_DONTNEED_LOCKED, 0},
	{SYS_madvise, FILTER_CODE, EQUAL, 2, MADV_GUARD_INSTALL, 0},
};

static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
static const struct sock_filter notify =
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);

static struct sock_filter load(uint32_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

static struct sock_filter load_argument(unsigned argument, bool high)
{
	/* Little endian: the low half comes first. */
	return load((uint32_t)(offsetof(struct seccomp_data, args) +
			       argument * sizeof(uint64_t) + high * sizeof(uint32_t)));
}

/* The test of a row's argument: true falls through, false skips `skipped` instructions. */
static struct sock_filter test(const struct row *row, uint8_t skipped)
{
	switch (row->condition) {
	case ANY_BIT:
		return (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JSET | BPF_K, row->value, 0, skipped);
	case NO_BIT:
		return (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JSET | BPF_K, row->value, skipped, 0);
	default:
		return (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, row->value, 0, skipped);
	}
}

/* Skips the notification that follows where the pointer is NULL. */
static struct sock_filter *build_pointer(struct sock_filter *at, unsigned argument)
{
	*at++ = load_argument(argument, false);
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2);
	*at++ = load_argument(argument, true);
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	return at;
}

static bool is_loaders(const struct row *row)
{
	switch (row->number) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_openat: return true;
	default: return false;
	}
}

/* Lets the dynamic linker's own call pass. A range that crosses 4 GiB is none. */
static struct sock_filter *build_loader(
	struct sock_filter *at, const struct filter_loader *loader)
{
	uint32_t offset = offsetof(struct seccomp_data, instruction_pointer);

	if (loader->begin == loader->end || loader->begin >> 32 != loader->end >> 32)
		return at;
	*at++ = load(offset + sizeof(uint32_t));
	*at++ = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(loader->begin >> 32), 0, 4);
	*at++ = load(offset);
	*at++ = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGE | BPF_K, (uint32_t)loader->begin, 0, 2);
	*at++ = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGE | BPF_K, (uint32_t)loader->end, 1, 0);
	*at++ = allow;
	return at;
}

/* A row's part: it is entered with the number in A and leaves it there.
 *
 *	if number != row.number goto next
 *	if (the dynamic linker's) allow
 *	A = argument; if (test) notify; A = number        (or only: notify)
 *
 * Calls without a row reach the end without an argument being read: the kernel finds out
 * and lets them pass by a bitmap (kernel/seccomp.c, seccomp_is_const_allow). */
static unsigned short build_row(
	struct sock_filter *at, const struct row *row, const struct filter_loader *loader)
{
	struct sock_filter *begin = at++;

	if (is_loaders(row))
		at = build_loader(at, loader);
	if (row->condition != ALWAYS) {
		*at++ = load_argument(row->argument, false);
		*at++ = test(row, row->pointer ? 5 : 1);
	}
	if (row->pointer)
		at = build_pointer(at, row->pointer);
	*at++ = notify;
	if (row->condition != ALWAYS)
		*at++ = load(offsetof(struct seccomp_data, nr));
	*begin = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, row->number, 0, (uint8_t)(at - begin - 1));
	return (unsigned short)(at - begin);
}

unsigned short filter_build(struct sock_filter program[FILTER_LENGTH], unsigned wants,
	const struct filter_loader *loader)
{
	unsigned short length = 0;

	/* 32-bit programs are not supervised. x32's numbers match no row. */
	program[length++] = load(offsetof(struct seccomp_data, arch));
	program[length++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	program[length++] = allow;
	program[length++] = load(offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].wants & wants)
			length += build_row(program + length, &rows[i], loader);
	program[length++] = allow;
	return length;
}

int filter_install(unsigned wants, const struct filter_loader *loader)
{
	/* SPEC_ALLOW: without it kernels before 5.16 turn speculation off, and the
	 * program is slower. WAIT_KILLABLE_RECV: without it a signal makes a call that
	 * was answered already happen again. */
	unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			 SECCOMP_FILTER_FLAG_SPEC_ALLOW |
			 SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	struct sock_filter program[FILTER_LENGTH];
	struct sock_fprog filter = {filter_build(program, wants, loader), program};
	int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);

	/* Root may do without, and then set-user-ID programs below work as ever. */
	if (listener < 0 && errno == EACCES && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		listener = (int)syscall(
			SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
	return listener;
}
