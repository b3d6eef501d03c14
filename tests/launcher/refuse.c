/* Runs a command with system calls that fail: refuse NUMBER ERRNO COMMAND ARG...
 *
 * NUMBER is the system call's; for personality (135) only setting is refused, as Docker's
 * default profile does, and reading it is not. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	unsigned number = (unsigned)atoi(argv[1]), error = (unsigned)atoi(argv[2]);
	/* Of the arguments only personality's is looked at; no other value is 0xffffffff.
	 */
	unsigned spared = number == SYS_personality ? 0xffffffff : 0xfffffffe;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, spared, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, number == SYS_personality, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("refuse");
		return 2;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 2;
}
