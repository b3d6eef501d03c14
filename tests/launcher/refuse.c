/* Runs a command under a seccomp filter as containers have it: personality() answers
 * EPERM to everything but 0 and 0xffffffff (reading). Needs no privileges.
 *
 *     refuse [--only] [CALL...] [--] COMMAND [ARG...]
 *
 * CALL adds refusals: `ptrace`, `pwrite` (as on /proc/PID/mem of kernels with
 * proc_mem.force_override=never), `prctl-mm` (PR_SET_MM), `mremap` (all of it),
 * `mremap-to=ADDRESS` (moving something there), `mmap-wx` (memory that is writable and
 * executable), `mprotect-x` (making memory executable), and `NUMBER:ERRNO` (that system
 * call fails so; of personality, 135, setting only; with 0 it does nothing and succeeds).
 * --only: personality is let through but where a CALL says otherwise.
 *
 * The status is 2 where the command does not run; stablerun's own are from 125 up. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROOM = 128 };

static struct sock_filter filter[ROOM];
static unsigned short length;

static void add(unsigned short code, unsigned value, unsigned char yes, unsigned char no)
{
	filter[length++] = (struct sock_filter)BPF_JUMP(code, value, yes, no);
}

static void load(size_t offset)
{
	add(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0);
}

static void answer(unsigned value)
{
	add(BPF_RET | BPF_K, value, 0, 0);
}

static unsigned refusal(unsigned error)
{
	return SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA);
}

/* Skips `steps` unless the call has this number. */
static void only_call(unsigned number, unsigned char steps)
{
	load(offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, number, 0, steps);
}

static size_t argument(int index)
{
	return offsetof(struct seccomp_data, args) + sizeof(__u64) * (size_t)index;
}

static void refuse_call(unsigned number, unsigned error)
{
	only_call(number, 1);
	answer(refusal(error));
}

/* Where the lower half of an argument has this value. */
static void refuse_argument(unsigned number, int index, unsigned value)
{
	only_call(number, 3);
	load(argument(index));
	add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	answer(refusal(EPERM));
}

/* Where an argument has all of these bits. */
static void refuse_bits(unsigned number, int index, unsigned bits)
{
	only_call(number, 4);
	load(argument(index));
	add(BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
	add(BPF_JMP | BPF_JEQ | BPF_K, bits, 0, 1);
	answer(refusal(EPERM));
}

static void refuse_personality(unsigned error)
{
	only_call(SYS_personality, 4);
	load(argument(0));
	add(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
	add(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 1, 0);
	answer(refusal(error));
}

/* NUMBER:ERRNO. */
static bool refuse_numbered(const char *call)
{
	char *colon, *end;
	unsigned number = (unsigned)strtoul(call, &colon, 10);
	unsigned error = *colon == ':' ? (unsigned)strtoul(colon + 1, &end, 10) : 0;

	if (colon == call || *colon != ':' || end == colon + 1 || *end)
		return false;
	if (number == SYS_personality)
		refuse_personality(error);
	else
		refuse_call(number, error);
	return true;
}

static bool refuse_more(const char *call)
{
	if (!strcmp(call, "ptrace"))
		refuse_call(SYS_ptrace, EPERM);
	else if (!strcmp(call, "pwrite"))
		refuse_call(SYS_pwrite64, EPERM);
	else if (!strcmp(call, "mremap"))
		refuse_call(SYS_mremap, EPERM);
	else if (!strncmp(call, "mremap-to=", strlen("mremap-to=")))
		refuse_argument(SYS_mremap, 4,
			(unsigned)strtoull(strchr(call, '=') + 1, NULL, 16));
	else if (!strcmp(call, "prctl-mm"))
		refuse_argument(SYS_prctl, 0, PR_SET_MM);
	else if (!strcmp(call, "mmap-wx"))
		refuse_bits(SYS_mmap, 2, PROT_WRITE | PROT_EXEC);
	else if (!strcmp(call, "mprotect-x"))
		refuse_bits(SYS_mprotect, 2, PROT_EXEC);
	else
		return refuse_numbered(call);
	return true;
}

int main(int argc, char **argv)
{
	int word = 1;

	load(offsetof(struct seccomp_data, arch));
	add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	answer(SECCOMP_RET_ALLOW);
	if (word < argc && !strcmp(argv[word], "--only"))
		word++;
	else
		refuse_personality(EPERM);
	while (word < argc && refuse_more(argv[word]))
		word++;
	if (word < argc && !strcmp(argv[word], "--"))
		word++;
	answer(SECCOMP_RET_ALLOW);
	if (word >= argc) {
		fprintf(stderr,
			"usage: refuse [--only] [CALL...] [--] COMMAND [ARG...]\n");
		return 2;
	}
	struct sock_fprog program = {length, filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("refuse: cannot install the filter");
		return 2;
	}
	execvp(argv[word], argv + word);
	fprintf(stderr, "refuse: cannot execute '%s': %s\n", argv[word], strerror(errno));
	return 2;
}
