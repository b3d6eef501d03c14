/* What the supervisor answers: a row for each system call, and a function. */
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/answer.h"
#include "launcher/base.h"
#include "launcher/filter.h"
#include "launcher/place.h"
#include "launcher/place_calls.h"
#include "launcher/supervisor.h"

/* ---- threads, processes, images ---- */

static void on_clone(const struct question *question)
{
	tasks_expect(&question->supervisor->tasks, question->task, question->arguments[0],
		question->arguments[2]);
}

static void on_clone3(const struct question *question)
{
	struct clone_args arguments;

	if (question->arguments[1] < CLONE_ARGS_SIZE_VER0 ||
		process_read(question->task->process, question->arguments[0], &arguments,
			CLONE_ARGS_SIZE_VER0) != CLONE_ARGS_SIZE_VER0)
		return;
	tasks_expect(&question->supervisor->tasks, question->task, arguments.flags,
		arguments.parent_tid);
}

static void on_fork(const struct question *question)
{
	tasks_expect(&question->supervisor->tasks, question->task, 0, 0);
}

static void on_vfork(const struct question *question)
{
	tasks_expect(&question->supervisor->tasks, question->task, CLONE_VM, 0);
}

/* include/linux/errno.h: never seen by programs, the kernel makes the call once more where
 * something has interrupted it. */
enum { ERESTARTNOINTR = 513 };

static void on_exec(const struct question *question)
{
	struct process *process = question->task->process;
	struct supervisor *supervisor = question->supervisor;
	bool program = process->pid == supervisor->job->program;
	/* The program's first execve has its helper already. */
	bool follow = supervisor->job->place && (process->started || !program);

	/* Who moves it must trace it, as we do ourselves for its end's sake. */
	if (follow && program && question->task->tid == process->pid &&
		crash_let_go(&supervisor->crash, process)) {
		answer_value(question, -ERESTARTNOINTR);
		return;
	}
	/* It may fail; whether it did shows in image_check(). */
	process->executing = true;
	process->executing_key = question->task->key;
	process->executing_tid = question->task->tid;
	/* Code that a child has as a copy is its parent's. */
	if (process->images)
		kept_going(question->supervisor, process, 0, UINT64_MAX, CODE_EXECUTED);
	/* Where that cannot be (somebody debugs it, say) it is simply let through. */
	if (follow)
		place_follow(question->task->tid);
}

static void on_start(const struct question *question)
{
	if (question->task->process->executing)
		image_check(question->supervisor, question->task->process);
}

static void on_brk(const struct question *question)
{
	if (question->arguments[0] == 0)
		on_start(question);
}

/* Dynamic programs have their libraries by now. */
static void on_set_fs(const struct question *question)
{
	struct process *process = question->task->process;

	on_start(question);
	if (process->started && !process->linked) {
		process->linked = true;
		kept_image(question->supervisor, process);
	}
}

static void on_exit_group(const struct question *question)
{
	struct process *process = question->task->process;
	int status = (int)question->arguments[0] & 0xff;

	tasks_end_process(&question->supervisor->tasks, process);
	kept_ending(question->supervisor, process, W_EXITCODE(status, 0));
}

static bool is_last_thread(pid_t pid)
{
	char path[64];
	struct stat status;

	/* A link for the directory, one for its parent, and one for each thread
	 * (fs/proc/base.c, proc_task_getattr). */
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return !stat(path, &status) && status.st_nlink == 3;
}

static void on_exit(const struct question *question)
{
	if (is_last_thread(question->task->tid))
		on_exit_group(question);
	else if (question->task->tid == question->task->process->pid)
		question->task->process->first_ended = true;
	else
		tasks_end_thread(&question->supervisor->tasks, question->task);
}

/* ---- the table ---- */

static const struct row {
	int number;
	void (*answer)(const struct question *question);
} rows[] = {
	{SYS_clone, on_clone},
	{SYS_clone3, on_clone3},
	{SYS_fork, on_fork},
	{SYS_vfork, on_vfork},
	{SYS_execve, on_exec},
	{SYS_execveat, on_exec},
	{SYS_exit, on_exit},
	{SYS_exit_group, on_exit_group},
	{SYS_brk, on_brk},
	{SYS_arch_prctl, on_set_fs},
	{SYS_getrandom, answer_getrandom},
	{SYS_open, answer_open},
	{SYS_openat, answer_openat},
	{SYS_openat2, answer_openat2},
	{SYS_futex, answer_futex},
	{SYS_clock_nanosleep, answer_clock_nanosleep},
	{SYS_munmap, answer_munmap},
	{SYS_mremap, answer_mremap},
	{SYS_shmdt, answer_shmdt},
	{SYS_mprotect, answer_mprotect},
	{SYS_pkey_mprotect, answer_mprotect},
	{SYS_mmap, answer_mmap},
	{SYS_shmat, answer_shmat},
	{SYS_madvise, answer_madvise},
};

void answer_value(const struct question *question, int64_t value)
{
	question->answer->kind = ANSWER_VALUE;
	question->answer->value = value;
}

bool answer_awaited(const struct supervisor *supervisor, uint64_t id)
{
	return !ioctl(supervisor->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id);
}

void answer_find(struct supervisor *supervisor, struct task *task, uint64_t id,
	const struct seccomp_data *call, struct answer *answer)
{
	uint64_t arguments[ARRAY_SIZE(call->args)];
	struct question question = {supervisor, task, id, arguments, answer};

	*answer = (struct answer){.kind = ANSWER_CONTINUE};
	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
		arguments[i] = call->args[i];
	/* What a program is made to call while it is moved is none of its own. */
	if (supervisor->job->place && place_calls_own(arguments))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].number == call->nr) {
			rows[i].answer(&question);
			return;
		}
}
