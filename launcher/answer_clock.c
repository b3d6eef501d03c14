/* Answers about waiting until a time, in a program whose clock is held.
 *
 * The kernel's clock runs on: a time that a program worked out by its own is long past, and
 * the wait ends at once. HotSpot, whose threads wait with time limits in loops, would spin,
 * and compile what it spins in. So such times are moved into the kernel's time. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "launcher/answer.h"
#include "launcher/base.h"
#include "launcher/supervisor.h"

enum { SECOND = 1000000000 };

/* What is before the clock's hold began and not before what it shows was worked out by it;
 * moved once, it is neither. The bytes are the caller's own, mostly on its stack. */
static void shift_time(struct process *process, uint64_t address)
{
	struct timespec time;

	if (!process->clock_began ||
		process_read(process, address, &time, sizeof(time)) != sizeof(time) ||
		time.tv_sec < IMAGE_FROZEN / SECOND ||
		(uint64_t)time.tv_sec >= process->clock_began / SECOND)
		return;
	uint64_t shift = image_monotonic_now() - IMAGE_FROZEN;
	uint64_t nanoseconds = (uint64_t)time.tv_nsec + shift % SECOND;
	time.tv_sec += (time_t)(shift / SECOND + nanoseconds / SECOND);
	time.tv_nsec = (long)(nanoseconds % SECOND);
	/* Where that cannot be done the wait is as short as it would have been. */
	process_write(process, address, &time, sizeof(time));
}

/* Only asked about with a time, and by the monotonic clock. */
void answer_futex(const struct question *question)
{
	shift_time(question->task->process, question->arguments[3]);
}

/* Only asked about with TIMER_ABSTIME. */
void answer_clock_nanosleep(const struct question *question)
{
	if (question->arguments[0] == CLOCK_MONOTONIC)
		shift_time(question->task->process, question->arguments[2]);
}

void answer_unsupervised(
	pid_t caller, uint64_t clock_began, const struct seccomp_data *call)
{
	struct process process = {.alive = caller, .clock_began = clock_began};
	struct task task = {.process = &process};
	uint64_t arguments[ARRAY_SIZE(call->args)];
	struct question question = {.task = &task, .arguments = arguments};

	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
		arguments[i] = call->args[i];
	if (call->nr == SYS_futex)
		answer_futex(&question);
	else if (call->nr == SYS_clock_nanosleep)
		answer_clock_nanosleep(&question);
}
